"""Compositions of orders 4 to 8 refuse dissipative forces that they may amplify.

A stage of size g h multiplies the momentum along a damper by (1 - g z / 2) / (1 + g z / 2), z = c h / m. A negative
stage has a pole at z = -2 / g, about which the product over the stages is above one: a band of z where any velocity
grows without bound. Slopes of dry friction go from zero to their largest, so that they are in a band for some speed if
that one is beyond its lower end. Below, dry friction comes to rest too. With a spring k beside the damper a motion that
does not swing has z above k h / c, whatever the inertia: beyond the bands where that is.
"""

import numpy as np

from varint.mechanism.mechanism import Mechanism
from varint.methods.variational.schemes import Scheme
from varint.model.state import State
from varint.results.dissipation import AmplifiedError, Ranges, ranges_of

SLACK = 1.5  # times less than at the poses that are looked at, or more, inertias of a run may be
LESS = 0.9  # times the step that would be at the lower end of a band: the one that is proposed
NEAR = 0.02  # relative: a z that is the same in all poses and as near to a band as that is in it


def refuse_amplified(mechanism: Mechanism, scheme: Scheme, dt: float, state: State, adaptive: bool = False) -> None:
    """Raise AmplifiedError for a dissipative force that steps of ``dt``, s, of a composition may amplify.

    z is bounded for the whole run, see `ranges_of`, with SLACK. Where slopes are constant, and steps not ``adaptive``,
    all z may lie beyond a band.
    """
    bands = scheme.amplified
    if not len(bands):
        return
    ranges = ranges_of(mechanism, state, dt, float(bands[0, 0]), held=SLACK * float(bands[-1, 1]))
    if ranges is None:
        return
    slack = 1.0 + NEAR if ranges.fixed else SLACK
    if _reach(ranges, bands, slack, bool(ranges.damping.constant.all()) and not adaptive):
        raise AmplifiedError(
            f"{ranges.described(mechanism, dt)}. Scheme '{scheme.name}' of order {scheme.order} amplifies such motion"
            f" at values from {bands[0, 0]:.4g} to {bands[0, 1]:.4g}. Take order=2, which damps at any step, or dt"
            f" below {LESS * dt * bands[0, 0] / (slack * ranges.largest):.2g} s"
        )


def _reach(ranges: Ranges, bands: np.ndarray, slack: float, constant: bool) -> bool:
    """Return whether a motion may be in a band, or through it where slopes are not ``constant``."""
    if not constant:
        return bool(slack * ranges.largest >= bands[0, 0])
    least, most = ranges.least[:, None] / slack, ranges.most[:, None] * slack
    return bool(((most >= bands[:, 0]) & (least <= bands[:, 1])).any())
