"""Muscles with rigid tendons along paths: activation, force by length and rate.

Fibres of length l at the pennation angle alpha have the constant thickness l0 sin(alpha0). With the length L of the
path and the slack length of the tendon, l cos(alpha) = L - slack, v = dl/dt / (max_velocity l0):

    tension    max_force (a fL(l / l0) fV(v) + fP(l / l0)) cos(alpha)

The curves "degroote" are those published by De Groote, Kinney, Rao and Fregly (2016), not normalised again: fL(1) is
0.99414 and fV(0) is 1.00232. Those called "mujoco", and the activation, are MuJoCo's:

    da/dt = (u - a) / tau,    tau = t1 (1/2 + 3/2 a) for u > a,    t2 / (1/2 + 3/2 a) else
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from varint.base.checks import array_of, choice, in_a_shape
from varint.base.errors import MechanismError
from varint.base.numba import njit
from varint.mathematics.wrapping import INSIDE
from varint.model.arrays import Values
from varint.model.forces.along_path import AlongPath
from varint.model.forces.base import Effort, Element, register
from varint.model.forces.commanded import Commanded
from varint.model.forces.law import Law
from varint.model.forces.path import At, checked_belly, checked_lumped, checked_path, path_inertia
from varint.model.forces.wrapped_path import Around, Pulley, path_wraps, pieces

if TYPE_CHECKING:
    from varint.model.structure import Structure

TINY = 1e-15
B1, B2, B3, B4 = (0.814, 0.433, 0.1), (1.06, 0.717, 1.0), (0.162, -0.0299, 0.354), (0.0633, 0.2, 0.0)
NEGLIGIBLE = 30.0  # widths from the middle of a bump: its share is below 1e-190
STRETCH, STEEP = 0.6, 4.0  # of the passive curve
RISE = 1.0 / (math.exp(STEEP) - 1.0)
SHAPE = (0.5, 1.6, 1.3, 1.2)  # lmin, lmax, fpmax, fvmax
GIVE_TO_BODIES = "lead it over vi.At points and around surfaces, or give its mass to the bodies"
FASTEST = {"degroote": 10.0, "mujoco": 1.5}  # optimal lengths per second


@njit
def degroote_curves(l, v):
    """Return fL, fV, fP at the fibre length l and rate v, each with its derivative: six numbers.

    ``l`` in optimal lengths, ``v`` in those a second over the fastest; without units, as what is returned.
    """
    active = active_slope = 0.0
    for k in range(3):
        width = B3[k] + (B4[k] * l if B4[k] != 0.0 else 0.0)
        if abs(l - B2[k]) > NEGLIGIBLE * abs(width):  # one of the widths is zero at l = 0.1495
            continue
        narrow = 1.0 / width
        x = (l - B2[k]) * narrow
        bump = B1[k] * math.exp(-0.5 * x * x)
        active += bump
        active_slope -= bump * x * (1.0 - x * B4[k]) * narrow
    x = -8.149 * v - 0.374
    root = math.sqrt(x * x + 1.0)
    speed = -0.318 * math.copysign(math.log(abs(x) + root), x) + 0.886  # asinh, as exact as its sum with 0.886
    grown = math.exp(STEEP / STRETCH * (l - 1.0))
    return active, active_slope, speed, 0.318 * 8.149 / root, (grown - 1.0) * RISE, STEEP / STRETCH * RISE * grown


@njit
def mujoco_curves(l, v, lmin, lmax, fpmax, fvmax):
    """Return the six numbers of `degroote_curves` by the curves of MuJoCo's muscle; all arguments are numbers.

    ``lmin``, ``lmax``: the lengths, over the optimal one, where the active force is zero; ``fpmax``: scale of the
    passive force, ``fvmax``: the largest force while lengthening, both over the strength.
    """
    low, high = 0.5 * (lmin + 1.0), 0.5 * (1.0 + lmax)
    active = active_slope = 0.0
    if lmin <= l <= lmax:
        size = max(
            TINY, low - lmin if l <= low else 1.0 - low if l <= 1.0 else high - 1.0 if l <= high else lmax - high
        )
        start = lmin if l <= low else lmax if l > high else 1.0
        x = (l - start) / size
        outer = l <= low or l > high
        active, active_slope = (0.5 * x * x, x / size) if outer else (1.0 - 0.5 * x * x, -x / size)
    y = fvmax - 1.0
    if v <= -1.0:
        speed, speed_slope = 0.0, 0.0
    elif v <= 0.0:
        speed, speed_slope = (v + 1.0) ** 2, 2.0 * (v + 1.0)
    elif v <= y:
        speed, speed_slope = fvmax - (y - v) ** 2 / max(TINY, y), 2.0 * (y - v) / max(TINY, y)
    else:
        speed, speed_slope = fvmax, 0.0
    size = max(TINY, high - 1.0)
    if l <= 1.0:
        passive, passive_slope = 0.0, 0.0
    elif l <= high:
        x = (l - 1.0) / size
        passive, passive_slope = fpmax * 0.5 * x * x, fpmax * x / size
    else:
        passive, passive_slope = fpmax * (0.5 + (l - high) / size), fpmax / size
    return active, active_slope, speed, speed_slope, passive, passive_slope


@njit
def _fibre(value, rate, optimal, slack, thickness, fastest):
    """Return seven numbers: fibre length and rate over their scales, cos(alpha), derivatives and scales.

    All arguments are numbers. The last four are the derivatives of the rate, over its scale, and of cos(alpha) by the
    ``value``, 1/m, and the inverse scales of length, 1/m, and rate, s/m. ``value``: length of the path, m; ``rate``
    m/s; ``optimal`` and ``slack`` length, m; ``thickness`` of the pennate muscle, m; ``fastest``: optimal lengths per
    second.
    """
    along, by_speed = value - slack, 1.0 / (optimal * fastest)
    by_length = fastest * by_speed
    if thickness == 0.0:
        return along * by_length, rate * by_speed, 1.0, 0.0, 0.0, by_length, by_speed
    length = math.sqrt(along * along + thickness * thickness)
    cosine = along / length
    bend = thickness * thickness / (length * length * length)
    rate *= by_speed
    return length * by_length, rate * cosine, cosine, rate * bend, bend, by_length, by_speed


@njit
def _tension(a, curves, fibre, strength):
    """Return the effort, N, and its derivatives by value, N/m, rate, N s/m, and activation, N.

    ``a``: activation, 0 to 1, a number; ``curves`` (6,), see `degroote_curves`; ``fibre`` (7,), see `_fibre`;
    ``strength``: N, a number.
    """
    active, active_slope, speed, speed_slope, passive, passive_slope = curves
    _, _, cosine, v_by_value, bend, by_length, by_speed = fibre
    whole = a * active * speed + passive
    by_value = (a * active_slope * speed + passive_slope) * cosine * by_length + a * active * speed_slope * v_by_value
    by_rate = a * active * speed_slope * cosine * by_speed
    return (
        -strength * whole * cosine,
        -strength * (by_value * cosine + whole * bend),
        -strength * by_rate * cosine,
        -strength * active * speed * cosine,
    )


@njit
def _degroote(value, rate, a, scales):
    """Return the numbers of `_tension` by the curves of 2016, without force up to the slack length.

    Numbers ``value`` m, ``rate`` m/s, ``a``: activation; ``scales`` (5,): strength, N, optimal and slack length, m,
    thickness, m, and fastest rate, optimal lengths per second.
    """
    strength, optimal, slack, thickness, fastest = scales
    if value <= slack:
        return 0.0, 0.0, 0.0, 0.0
    fibre = _fibre(value, rate, optimal, slack, thickness, fastest)
    return _tension(a, degroote_curves(fibre[0], fibre[1]), fibre, strength)


@njit
def _mujoco(value, rate, a, scales, shape):
    """Return the numbers of `_tension` by the curves of MuJoCo.

    ``shape`` (4,): lmin, lmax, fpmax, fvmax, see `mujoco_curves`; the others are those of `_degroote`.
    """
    strength, optimal, slack, thickness, fastest = scales
    if value <= slack and thickness > 0.0:
        return 0.0, 0.0, 0.0, 0.0
    fibre = _fibre(value, rate, optimal, slack, thickness, fastest)
    curves = mujoco_curves(fibre[0], fibre[1], shape[0], shape[1], shape[2], shape[3])
    return _tension(a, curves, fibre, strength)


@njit
def clipped(u):
    """Return an excitation within 0 to 1."""
    return min(1.0, max(0.0, u))


@njit
def activation_rate(u, a, rise, fall, blend):
    """Return da/dt, 1/s, and its derivative by a, 1/s.

    All arguments are numbers. ``u``: excitation, ``a``: activation, 0 to 1; ``rise`` and ``fall``: time constants, s;
    ``blend``: width of the passage between both, in excitation; zero for a jump.
    """
    s, slope = 0.5 + 1.5 * min(1.0, max(0.0, a)), 1.5 if 0.0 < a < 1.0 else 0.0
    gap = clipped(u) - a
    up, down = rise * s, fall / s
    share, share_slope = (1.0 if gap >= 0.0 else 0.0), 0.0  # an excitation at rest, 0, has the slope of the rise
    if blend >= TINY:
        x = min(1.0, max(0.0, gap / blend + 0.5))
        share, share_slope = x**3 * (x * (6.0 * x - 15.0) + 10.0), -30.0 * (x * (1.0 - x)) ** 2 / blend
    tau = down + (up - down) * share
    by_a = -down / s * slope * (1.0 - share) + rise * slope * share + (up - down) * share_slope
    return gap / tau, -1.0 / tau - gap * by_a / (tau * tau)


def _activation(input, state, times):
    return activation_rate(input, state, *times)


def _degroote_law(value, rate, state, scales):
    return _degroote(value, rate, state, scales)


def _degroote_at_once(value, rate, input, scales):
    effort, by_value, by_rate, _ = _degroote(value, rate, clipped(input), scales)
    return effort, by_value, by_rate


def _mujoco_law(value, rate, state, scales, shape):
    return _mujoco(value, rate, state, scales, shape)


def _mujoco_at_once(value, rate, input, scales, shape):
    effort, by_value, by_rate, _ = _mujoco(value, rate, clipped(input), scales, shape)
    return effort, by_value, by_rate


GROUPED = {
    "scales": ("strength", "optimal", "slack", "thickness", "fastest"),
    "shape": ("lmin", "lmax", "fpmax", "fvmax"),
    "times": ("rise", "fall", "blend"),
}

LAWS = {
    ("degroote", True): Law("muscle degroote", _degroote_law, flow=_activation, along_path=True, groups=GROUPED),
    ("degroote", False): Law("muscle degroote at once", _degroote_at_once, along_path=True, groups=GROUPED),
    ("mujoco", True): Law("muscle mujoco", _mujoco_law, flow=_activation, along_path=True, groups=GROUPED),
    ("mujoco", False): Law("muscle mujoco at once", _mujoco_at_once, along_path=True, groups=GROUPED),
}


@register
@dataclass(frozen=True, eq=False)
class Musculotendon(Commanded, AlongPath):
    """A muscle with a rigid tendon along a path over points, around surfaces and by pulleys.

    ``path``, ``smoothing``: see `Tendon`. ``max_force`` N; ``optimal_length`` of the fibres, ``slack_length`` of the
    tendon, m; ``pennation`` at the optimal length, rad. ``excitation``, clipped to 0 to 1: a number, one a node, or a
    function, see `Motor`. ``activation_times``: of rise and fall, s, or None, kept as (), where the excitation is the
    activation itself; ``activation_blend``: the range of excitation over which one passes to the other;
    ``activation``, 0 to 1: at the start; without times an excitation replaces it. It is in ``traj.law_state``.
    ``curves``: "degroote" as published in 2016, without force below the slack length, or "mujoco", with the ``shape``
    (lmin, lmax, fpmax, fvmax). ``max_velocity``: optimal lengths per second, by default 10, or 1.5 for "mujoco".
    ``mass``, kg, moves over the ``belly`` of a path without pulleys and rings; around surfaces it takes ``smoothing``,
    since a sharp path meets them in impacts. ``belly``, ``lumped``: see `PathMass`.
    """

    max_force: float = field(kw_only=True)
    optimal_length: float = field(kw_only=True)
    slack_length: float = field(kw_only=True)
    pennation: float = field(default=0.0, kw_only=True)
    excitation: float | Values | Callable = field(default=0.0, kw_only=True)
    activation_times: Sequence[float] | None = field(default=(0.01, 0.04), kw_only=True)
    activation_blend: float = field(default=0.0, kw_only=True)
    activation: float = field(default=0.0, kw_only=True)
    curves: str = field(default="degroote", kw_only=True)
    shape: Sequence[float] = field(default=SHAPE, kw_only=True)
    max_velocity: float | None = field(default=None, kw_only=True)
    mass: float = field(default=0.0, kw_only=True)
    belly: Sequence[float] = field(default=(0.0, 1.0), kw_only=True)
    lumped: int | bool | None = field(default=None, kw_only=True)

    command_name = "excitation"
    activated = True

    def __post_init__(self) -> None:
        super().__post_init__()
        choice(self.curves, FASTEST, f"curves of {self.label}")
        if self.max_velocity is None:
            self._set("max_velocity", FASTEST[self.curves])
        self._check(
            max_force="zero",
            optimal_length="positive",
            max_velocity="positive",
            activation_blend="zero",
            activation="zero",
        )
        self._check(slack_length="zero" if self.curves == "degroote" else "any", pennation="zero")
        if self.pennation >= 0.5 * math.pi:
            raise MechanismError(f"{self.label}: pennation must be less than pi / 2, got {self.pennation:g}")
        self._set("shape", tuple(map(float, array_of(self.shape, (4,), f"shape of {self.label}"))))
        if not 0.0 <= self.shape[0] < 1.0 < self.shape[1]:
            raise MechanismError(f"{self.label}: shape needs 0 <= lmin < 1 < lmax, got {self.shape}")
        if self.shape[2] < 0.0 or self.shape[3] < 1.0:
            raise MechanismError(f"{self.label}: shape needs fpmax >= 0 and fvmax >= 1, got {self.shape}")
        times: tuple[float, ...] = ()  # without them an empty tuple: files of TOML have no None
        if self.activation_times is not None:
            label, two = f"activation_times of {self.label}", "2 numbers, or None"
            times = tuple(map(float, in_a_shape(self.activation_times, ((2,), (0,)), label, wanted=two)))
        if min(times, default=1.0) <= 0.0:
            raise MechanismError(f"{self.label}: activation_times must be positive, got {list(times)}")
        self._set("activation_times", times)
        if self.activation > 1.0:
            raise MechanismError(f"{self.label}: activation must be at most 1, got {self.activation:g}")
        if self.activation and not times:
            if not self._is_excited():
                raise MechanismError(
                    f"{self.label}: activation must be left out where activation_times is None: it is the excitation,"
                    f" got {self.activation:g} and no excitation. Give excitation=, or activation=0"
                )
            self._set("activation", 0.0)
        self._set("belly", tuple(checked_belly(self.belly, self.label).tolist()))
        self._set("lumped", checked_lumped(self.lumped, self.label))
        self._check(mass="zero")
        if self.mass:
            self._check_mass()

    def _is_excited(self) -> bool:
        """Return whether an excitation is given: a function, or any number but zero."""
        return callable(self.excitation) or bool(np.any(self.excitation))

    def _check_mass(self) -> None:
        """Raise MechanismError where mass cannot move along the path."""
        for entry in self.path:
            if isinstance(entry, Pulley):
                raise MechanismError(f"{self.label} has mass, which no pulley divides: {GIVE_TO_BODIES}")
            if isinstance(entry, Around) and entry.surface.mode == INSIDE:
                raise MechanismError(
                    f"{self.label} has mass, which passes surfaces outside: the side on '{entry.body}' lies within its"
                    f" radius, {GIVE_TO_BODIES}"
                )
        points = [entry for entry in self.path if isinstance(entry, At)]
        surfaces = path_wraps(self.path, self.smoothing)
        if surfaces and self.lumped:
            raise MechanismError(f"{self.label} leads around a surface: leave out lumped, it is for paths of points")
        if not surfaces:
            checked_path(points, self.label)
        for number, piece in enumerate(pieces(self.path)):
            if piece.around is None and np.array_equal(piece.begin.point, piece.end.point):
                raise MechanismError(
                    f"path of {self.label}: points {number} and {number + 1} are equal: move them apart"
                )

    def elements(self, structure: "Structure") -> list[Element]:
        path = self.summed(structure)
        assert self.max_velocity is not None  # since it was made
        parameters = {
            "strength": self.max_force,
            "optimal": self.optimal_length,
            "slack": self.slack_length - path.fixed,
            "thickness": self.optimal_length * math.sin(self.pennation),
            "fastest": self.max_velocity,
        }
        if self.curves == "mujoco":
            parameters |= dict(zip(GROUPED["shape"], self.shape, strict=True))
        if self.activation_times:
            rise, fall = self.activation_times
            parameters |= {"rise": rise, "fall": fall, "blend": self.activation_blend}
        law = LAWS[self.curves, bool(self.activation_times)]
        effort = Effort(path.measures, law, parameters, weights=path.weights, start=self.activation)
        points = [entry for entry in self.path if isinstance(entry, At)]
        surfaces = path_wraps(self.path, self.smoothing) if self.mass else []
        return [effort, *path_inertia(points, self.mass, np.array(self.belly), self.lumped, surfaces)]
