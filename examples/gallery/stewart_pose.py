"""Where is the platform of my hexapod, given its legs?

Six sensors tell the lengths of the legs of a Stewart platform. Where is its platform? There is no closed form: up to
forty poses share the six lengths.

`mech.state(coordinates=...)` moves the platform from where it is known to be to the lengths that were read, on its
branch. The other way is simple geometry: it gives the lengths along a motion, whose poses are found again.

Source: Dietmaier, The Stewart-Gough platform of general geometry can have 40 real postures, 1998.
"""

import sys

import numpy as np
from matplotlib.figure import Figure

import varint as vi
from varint.model.rotation_vectors import matrix_from_vector, rotation_matrix

HEIGHT = 1.2  # m
STEPS = np.linspace(0, 1, 13)


def pose(step):
    """Position (3,), m, and rotation vector (3,) of the platform along a motion, ``step`` from 0 to 1."""
    angle = 2 * np.pi * step
    place = np.array([0.2 * np.sin(angle), 0.1 * np.sin(2 * angle), HEIGHT + 0.1 * (1 - np.cos(angle))])
    return place, np.array([0.15 * np.sin(angle), 0.0, 0.3 * np.sin(angle)])


def lengths(mech, place, turn):
    """(6,) m, of the legs."""
    feet = np.array([mech.joint(f"foot {i}").point for i in range(1, 7)])
    heads = np.array([mech.joint(f"head {i}").point for i in range(1, 7)]) - [0, 0, HEIGHT]
    return np.linalg.norm(place + heads @ matrix_from_vector(turn).T - feet, axis=1)


def answer() -> dict:
    mech = vi.mechanisms.stewart_platform(height=HEIGHT)
    platform, zero = mech.body_index["platform"], lengths(mech, *pose(0.0))
    legs = np.array([lengths(mech, *pose(step)) for step in STEPS])
    found = [mech.state(coordinates={f"leg {i}": row[i - 1] - zero[i - 1] for i in range(1, 7)}) for row in legs]
    places = np.array([state.position[platform] for state in found])
    turns = rotation_matrix(np.array([state.quat_wxyz[platform] for state in found]))
    wanted = [pose(step) for step in STEPS]
    return {
        "legs": legs,
        "places": places,
        "off": abs(places - [place for place, _ in wanted]).max(),
        "turned": abs(turns - [matrix_from_vector(turn) for _, turn in wanted]).max(),
    }


def main(picture=None):
    found = answer()
    print(
        f"{len(STEPS)} poses from six lengths each: off by {found['off']:.0e} m and {found['turned']:.0e} rad at most"
    )
    if picture:
        figure = Figure(figsize=(6, 4.4), layout="constrained")
        legs, places = figure.subplots(2, sharex=True)
        styles = [("k", "-"), ("k", "--"), ("k", ":"), ("0.6", "-"), ("0.6", "--"), ("0.6", ":")]
        for i, (colour, line) in enumerate(styles):
            legs.plot(STEPS, found["legs"][:, i], color=colour, linestyle=line, label=f"leg {i + 1}")
        fine = np.linspace(0, 1, 200)
        for k, (name, line) in enumerate(zip("xyz", ("k-", "k--", "k:"), strict=True)):
            places.plot(fine, [pose(step)[0][k] - HEIGHT * (k == 2) for step in fine], line, label=f"{name}, wanted")
            places.plot(STEPS, found["places"][:, k] - HEIGHT * (k == 2), "o", color="C1", markersize=4)
        legs.set_ylabel("length (m)")
        places.set(xlabel="part of the motion", ylabel="platform (m)", title="dots: from the lengths; z from 1.2 m")
        for axes in (legs, places):
            axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5))
        figure.savefig(picture, dpi=130)


if __name__ == "__main__":
    main(*sys.argv[1:])
