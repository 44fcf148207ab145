"""Starts beyond hard stops are refused; those within the tolerance of closed joints are on the limit."""

import pytest

import varint as vi


def disc(torque=0.0, restitution=0.0):
    """Return a disc, 0.005 kg m^2, on a hinge with stops at -1 and 1 rad."""
    hinge = vi.Revolute("h", "world", "disc", point=(0, 0, 0), axis=(0, 0, 1))
    stop = vi.JointStop("s", joint="h", lower=-1.0, upper=1.0, restitution=restitution)
    forces = [stop, vi.Motor("t", joint="h", effort=torque)]
    return vi.Mechanism("m", [vi.Body.cylinder("disc", 0.1, 0.02, 1.0)], [hinge], gravity=(0, 0, 0), forces=forces)


RUNS = {
    "maximal": lambda mechanism, state, duration=1.0: vi.simulate(mechanism, duration, 1e-3, state=state),
    "reduced": lambda mechanism, state, duration=1.0: vi.redmax.simulate(mechanism, duration, 1e-2, state=state),
}


@pytest.mark.parametrize(("angle", "side"), [(1.0 + 1e-6, "upper"), (1.2, "upper"), (-1.2, "lower")])
def test_starts_beyond_a_stop_are_refused(angle, side):
    """The error names the stop, the value and the limit."""
    mechanism = disc()
    with pytest.raises(vi.StateError, match=f"'s'.*at {angle:.9g} rad.*{side} limit.*varint.redmax"):
        vi.simulate(mechanism, 1.0, 1e-3, state=mechanism.state(coordinates={"h": angle}))


def test_starts_beyond_a_length_are_refused():
    """A tether of 0.25 m whose end starts at 0.3 m."""
    body = vi.Body.sphere("b", 0.05, 1.0, position=(0.3, 0, 0))
    tether = vi.LengthStop("l", "world", "b", point_a=(0, 0, 0), point_b=(0.3, 0, 0), upper=0.25)
    mechanism = vi.Mechanism("m", [body], [vi.Free("f", "world", "b")], gravity=(0, 0, 0), forces=[tether])
    with pytest.raises(vi.StateError, match=r"'l'.*at 0\.3 m.*upper limit 0\.25 m"):
        vi.simulate(mechanism, 1.0, 1e-3)


@pytest.mark.parametrize("beyond", [1e-9, 1e-8])
@pytest.mark.parametrize("run", RUNS)
def test_a_start_within_the_tolerance_is_on_the_limit(run, beyond):
    """A torque away lets the disc go, one onto the stop holds it."""
    for torque, angle in ((-0.01, 0.0), (0.01, 1.0)):
        mechanism = disc(torque)
        trajectory = RUNS[run](mechanism, mechanism.state(coordinates={"h": 1.0 + beyond}))
        assert float(trajectory.coordinates["h"][-1]) == pytest.approx(angle, abs=1e-4)
