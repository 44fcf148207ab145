"""Cases of beams with their references: solutions computed apart from the package, and published ones."""

from collections.abc import Callable
from dataclasses import dataclass

import beam_models as models
import numpy as np
from scipy.optimize import curve_fit

import varint as vi
from varint.derivatives.linear.rest import at_rest
from varint.model.rotation_vectors import rotation_matrix


@dataclass(frozen=True)
class Case:
    """What a beam does, by the number of its elements, and what it should do.

    name : str
    values : function of the number of elements, and of cases in motion ``finer``, to (k,) array
        ``finer``: by what number the steps are divided.
    reference : (k,) of that array
    scale : what errors are divided by
    most : largest error with 16 elements
    order : of the error in the length of an element
    published : results in print, in the units of ``reference``
    halved : numbers ``finer`` that show the order in time, of cases in motion, with ``few`` elements
    """

    name: str
    values: Callable[..., np.ndarray]
    reference: tuple[float, ...]
    scale: float
    most: float
    order: float = 2.0
    published: str = ""
    halved: tuple[int, ...] = ()
    few: int = 8

    def error(self, found: np.ndarray) -> float:
        return float(np.abs(found - np.array(self.reference)).max() / self.scale)


CASES: list[Case] = []


def case(name, reference, most, scale=None, **how):
    """Add the decorated function as the values of a case; errors are over the largest number, or over ``scale``."""

    def add(values):
        CASES.append(Case(name, values, reference, scale or float(np.abs(reference).max()), most, **how))
        return values

    return add


# --- at rest under a load


def tip(make, elements, steps):
    """(3,) place, m, and (3, 3) rotation of the tip of a cantilever under the whole load."""
    mechanism, state = models.settled(make, steps)
    k = mechanism.body_index[f"beam {elements}"]
    turn = rotation_matrix(state.quat_wxyz[k]) @ rotation_matrix(mechanism.bodies[k].quat_wxyz).T
    return state.position[k], turn


def slope(turn):
    """Angle about z, rad, of a rotation in the plane."""
    return np.arctan2(turn[1, 0], turn[0, 0])


def elastica(load, steps, reference, published, most):
    @case(f"elastica, P L^2 / EI = {load}: u, w / L, angle", reference, most, scale=1.0, published=published)
    def values(n):
        x, turn = tip(lambda share: models.thin_cantilever(n, force=(0, share * load, 0)), n, steps)
        return np.array([1.0 - x[0], x[1], slope(turn)])


elastica(1, 2, (0.0564332362834, 0.3017207738, 0.461351949712), "0.05643, 0.30172", 6e-5)
elastica(2, 3, (0.160641720825, 0.493457480397, 0.781749831557), "0.16064, 0.49346", 2.2e-4)
elastica(5, 6, (0.387628360724, 0.713791523612, 1.21536811761), "0.38763, 0.71379", 6e-4)
elastica(10, 10, (0.554995597754, 0.81060902488, 1.4302855388), "0.55500, 0.81061", 8e-4)


@case("a large load, F L^2 / EI = 2, with shear: w / L", (0.493823807755,), 1.6e-4, scale=1.0)
def large_load(n):
    return tip(lambda share: models.cantilever(n, force=(0, 20 * share, 0)), n, 4)[0][1:2]


@case(
    "Timoshenko, 62.5 MN: u, w, angle", (0.150971144239, 0.710568597854, 0.520173166012), 2e-4, scale=0.710568597854,
    published="0.15097103, 0.71056837",
)  # fmt: skip
def deep(n):
    x, turn = tip(lambda share: models.deep_cantilever(n, 62.5e6 * share), n, 4)
    return np.array([2.0 - x[0], x[1], slope(turn)])


@case("Timoshenko, 62.5 kN: u, w", (1.88849163418e-7, 8.0990325398e-4), 3e-7)
def deep_lightly(n):
    x, _ = tip(lambda share: models.deep_cantilever(n, 62.5e3 * share), n, 1)
    return np.array([2.0 - x[0], x[1]])


@case("roll-up by 2 pi EI / L: tip / L", (0.0, 0.0, 0.0), 1e-9, scale=1.0)
def roll_up(n):
    return tip(lambda share: models.thin_cantilever(n, torque=(0, 0, 2 * np.pi * share)), n, 10)[0]


def bent(force, reference, published):
    @case(f"45 degree bend, {force} N: tip", reference, 3.3e-4, scale=reference[2], published=published)
    def values(n):
        return tip(lambda share: models.bend(n, share * force), n, 10)[0]


bent(300, (58.778897, 22.244679, 40.192392), "")
bent(600, (47.150096, 15.684689, 53.475478), "moved by -13.4, -23.5, 53.4")


def princeton(force, degrees, reference, published=""):
    """Displacements across, and along with the roll (3-2-1), degrees, where the reference has them."""

    @case(
        f"Princeton, {force} N at {degrees} degrees: {'u, v, w / m' if len(reference) > 1 else 'deflection / m'}",
        reference, 1.6e-4, published=published,
    )  # fmt: skip
    def values(n):
        x, turn = tip(lambda share: models.princeton(n, share * force, degrees), n, 10 if degrees > 30 else 3)
        moved = x - (0.508, 0, 0)
        roll = 0.1 * np.arctan2(turn[2, 1], turn[2, 2])
        return moved[{0: [1], 90: [2]}[degrees]] if len(reference) == 1 else np.array([*moved, roll])


def with_roll(u, v, w, degrees):
    """Displacements, m, and a tenth of a roll in radians: of the size of the others."""
    return u, v, w, 0.1 * np.deg2rad(degrees)


princeton(4.448, 0, (-5.35821941e-3,))
princeton(4.448, 45, with_roll(-0.00374821, -0.00397643, 0.0560635, 0.465557))
princeton(4.448, 90, (0.0780772691,))
princeton(8.896, 0, (-0.0107127648,))
princeton(8.896, 30, with_roll(-0.00768097, -0.01020761, 0.07954738, 1.638987), "v 0.010112, w 0.079395")
princeton(8.896, 60, with_roll(-0.02048672, -0.00674204, 0.12995786, 1.569899), "v 0.006605, w 0.129888")
princeton(8.896, 90, (0.146252357,), "0.146246")


def guided(force, reference):
    @case(f"guided beam, {force} N: shift, shortening", reference, 4e-4)
    def values(n):
        mechanism, state = models.settled(lambda share: models.guided(n, share * force), 4)
        moved = models.place_of(mechanism, state, "stage") - (1.0, 0.0, 0.0)
        return np.array([moved[1], -moved[0]])


guided(5, (0.0417171985, 0.00104168584))
guided(20, (0.162625212517, 0.0159648196686))


def hanging(span, *reference):
    @case(f"catenary, span {span}: sag, H / W{', end slope' if len(reference) > 2 else ''}", reference, 5e-3)
    def values(n):
        return np.array(catenary(n, span)[: len(reference)])


def catenary(n, span):
    """Sag, m, horizontal pull over the weight, and slope at the walls, rad, of a cable."""
    mechanism, state = models.hanging_rope(n, span)
    run = vi.simulate(mechanism, 1e-3, 1e-3, state=state)
    first = state.position[0]  # the far end of "rope 0"
    pull = abs(run.force["rope 0"][0]) * first[0] / np.linalg.norm(first) / 9.81
    return -state.position[:, 2].min(), pull, np.arctan(0.5 / pull)


hanging(0.8, 0.2654375091398, 0.3382018790853, np.deg2rad(55.92543175))
hanging(0.5, 0.3981941779, 0.1148201075)


# --- small motions and stability


@case(
    "cantilever: roots of three frequencies",
    (1.8751040687119611, 4.694091132974175, 7.854757438237613),
    1.6e-4,
    order=4,
)
def cantilever_frequencies(n):
    mechanism = models.thin_cantilever(n)
    return np.sqrt(vi.modes(mechanism, mechanism.state()).omega[[0, 2, 4]])


@case("free beam: roots of two frequencies", (4.730040744862704, 7.853204624095838), 1e-4, order=4)
def floating_frequencies(n):
    mechanism = models.floating(n)
    return np.sqrt(vi.modes(mechanism, mechanism.state()).omega[[6, 8]])


@case(
    "Timoshenko cantilever: three frequencies, rad/s",
    (11.109586541839, 69.287474198659, 192.525357567),
    1.5e-4,
    order=4,
)
def timoshenko_frequencies(n):
    mechanism = models.cantilever(n)
    return vi.modes(mechanism, mechanism.state()).omega[[0, 2, 4]]


FLAP = {0: 3.516015, 2: 4.137320, 4: 5.585001, 6: 7.360373, 8: 9.256838, 10: 11.202328}


FLAP = {0: 3.516015, 2: 4.137320, 4: 5.585001, 6: 7.360373, 8: 9.256838, 10: 11.202328}


@case(
    "beam on a hub that turns at 0 to 10: flap, rad/s", tuple(FLAP.values()), 1.4e-3, published="the same to 4 digits"
)  # fmt: skip
def flap_frequencies(n):
    found = []
    for rate in FLAP:
        roots = vi.linearize(*models.propeller(n, float(rate)), chart=True).eigenvalues
        found.append(roots.imag[roots.imag > 1e-3].min())
    return np.array(found)


@case("beam on a hub that turns at 10: chord, rad/s", (5.048975,), 6e-3, halved=(2, 4, 8))
def chord_frequency(n, finer=1):
    """Of the swing after a small blow in the plane."""
    mechanism, state = models.propeller(n, 10.0, 1e6)
    blow = np.zeros_like(state.velocity)
    blow[1:, 1] = 1e-3 * np.linspace(0.0, 1.0, n + 1) ** 2
    spin = state.angular_velocity.copy()
    spin[1:, 2] += 2e-3 * np.linspace(0.0, 1.0, n + 1)
    start = vi.State(state.position, state.quat_wxyz, state.velocity + blow, spin)
    run = vi.simulate(mechanism, 2.5, 1e-3 / finer, state=start, order=4, every=10 * finer)
    place = run.position[:, mechanism.body_index[f"beam {n}"]]
    across = np.cos(10.0 * run.t) * place[:, 1] - np.sin(10.0 * run.t) * place[:, 0]

    def waves(t, first, second, *sizes):
        return sizes @ np.array([f(w * t) for w in (first, second) for f in (np.cos, np.sin)])

    return curve_fit(waves, run.t, 1e4 * across, [5.0, 32.0, 0.1, 1.0, 0.1, 0.1])[0][:1]


def buckles(what, make, reference):
    """The load at which the least stiffness is zero, by secants from 3 % on either side of the reference."""

    @case(f"buckling, {what}", (reference,), 4.2e-3)
    def values(n):
        def stiffness(load):
            rest = at_rest(*models.settled(lambda _: make(n, load)))
            along = rest.along(rest.stiffness)
            return np.linalg.eigvalsh(0.5 * (along + along.T))[0]

        loads = [0.97 * reference, 1.03 * reference]
        found = [stiffness(load) for load in loads]
        for _ in range(2):
            (a, b), (fa, fb) = loads[-2:], found[-2:]
            loads.append(b - fb * (b - a) / (fb - fa))
            found.append(stiffness(loads[-1]))
        return np.array(loads[-1:])


buckles("clamped at the foot: P L^2 / EI", lambda n, load: models.thin_cantilever(n, (-load, 0, 0)), np.pi**2 / 4)
buckles("between hinges: P L^2 / EI", models.column, np.pi**2)
buckles(
    "by its own weight (Greenhill)", lambda n, load: models.thin_cantilever(n, gravity=(-load, 0, 0)), 7.837347438943
)
buckles("sideways (Prandtl): P L^2 / sqrt(EI GJ)", models.strip, 4.012599343579)


# --- in motion


def at_times(run, times):
    """Nodes of a run at ``times``."""
    return [int(np.argmin(np.abs(run.t - time))) for time in times]


@case(
    "spin-up: across at 2.5, 7.5, 12.5, 15 s, 100 times axial, swing",
    (-0.1512836, -0.5590834, -0.1126962, 0.0013036, 5.13957e-2, 0.003649), 2e-2, published="axial 5.14e-4",
    halved=(1, 2, 4),
)  # fmt: skip
def spin_up(n, finer=1):
    mechanism = models.spin_up(n)
    run = vi.simulate(mechanism, 21.0, 1.25e-3 / finer, order=4, every=20 * finer)
    place, angle = run.position[:, mechanism.body_index[f"beam {n}"]], models.spin_angle(run.t)
    along = np.cos(angle) * place[:, 0] + np.sin(angle) * place[:, 1] - 10.0
    across = -np.sin(angle) * place[:, 0] + np.cos(angle) * place[:, 1]
    late = run.t > 15.5
    swing = 0.5 * np.ptp(across[late])
    return np.array([*across[at_times(run, (2.5, 7.5, 12.5, 15.0))], 100.0 * along[late].mean(), swing])


TIMES = (0.25, 0.5, 0.75, 1.0)
FALLS = ((0.88894, -0.28673), (-0.20733, -0.94393), (-0.86260, -0.43636), (-0.92864, 0.09975))


@case("bar of rubber that falls about a pin: tip to 1 s", tuple(np.ravel(FALLS)), 6e-3, scale=1.0, halved=(1, 2, 4))
def pendulum_tip(n, finer=1, times=TIMES):
    run = vi.simulate(models.pendulum(n), times[-1], 1e-3 / finer)
    return run.path(f"bar {n}", (1.0, 0.0, 0.0)).position[at_times(run, times)][:, [0, 2]].ravel()


@case(
    "slider-crank, middle of the rod at 0.02, 0.04, 0.06 s", (-7.79e-5, -9.626e-4, -1.716e-4), 1.5e-3, scale=1.87e-3,
    halved=(16, 32, 64), few=4,  # steps that resolve how the rod rings along itself: the start has no tension
)  # fmt: skip
def rod_deflection(n, finer=1, times=(0.02, 0.04, 0.06)):
    mechanism = models.slider_crank(n)
    state = mechanism.state(rates={"main": 150.0})
    run = vi.simulate(mechanism, times[-1], 2e-5 / finer, state=state, every=100 * finer)
    a, middle, b = (
        run.path(f"rod {k}", (x, 0.0, 0.0)).position[at_times(run, times)]
        for k, x in ((0, 0.15), (n // 2, 0.3), (n, 0.45))
    )
    along = (b - a) / np.linalg.norm(b - a, axis=1)[:, None]
    off = middle - 0.5 * (a + b)
    return along[:, 0] * off[:, 1] - along[:, 1] * off[:, 0]
