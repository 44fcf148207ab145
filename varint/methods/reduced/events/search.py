"""Location of events: the instant in a step at which a hard limit or contact closes or opens, and steps that end there.

``stops``: events of the run, of `Stops` or `ContactEvents`; margins and limits (nl,) stand for either's margins.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.optimize import brentq

from varint.base.errors import UnresolvedWarning
from varint.kinematics.start_at_stops import cannot_come_back
from varint.methods.reduced.contacts import Blocked
from varint.methods.reduced.events.law import SLOW
from varint.methods.reduced.events.stops import SOON, TOUCHING
from varint.model.rotation_vectors import quat_from_matrix
from varint.results.contact_forces import penetrations
from varint.step.limits.impact_rows import rebounds_again

if TYPE_CHECKING:
    from varint.methods.reduced.events.contacts import ContactEvents
    from varint.methods.reduced.events.stops import Stops
    from varint.methods.reduced.integrators.error_controlled import Adaptive
    from varint.methods.reduced.integrators.fixed_steps import FixedSteps

    AnyEvents = Stops | ContactEvents

SAMPLES = 8  # of a step in which a limit may have been passed
HALVINGS = 45  # bisections of a step in search of a positive margin
MOST_EVENTS = 50  # per limit and step, or at one instant
MOST_SHORTER, SHORTER = 10, 0.25  # how often, and to what share, a step is shortened that met unforeseen features
TRIALS = 4  # trial steps that correct the instant of an impact
STALLED = 1e-3  # rate over that at which an exceeded limit returns: a slower one that slows down closes
EXACT = 1e-13  # of `Stops.unit`: the instant is not corrected if the gap is smaller
SHARE = 4.0 * np.finfo(float).eps  # tolerance of an event's instant, relative to the step


class Event(NamedTuple):
    """Limit ``number`` is reached or opens after ``share`` of the step; 0 if it is violated from the start."""

    share: float
    number: int


class Ends(NamedTuple):
    """Step size, s, and at both ends (margins, rates of the gaps) of all limits, each (nl,), see `Stops.margins`."""

    size: float
    before: tuple[np.ndarray, np.ndarray]
    after: tuple[np.ndarray, np.ndarray]


def suspects(stops: AnyEvents, ends: Ends, within: Sequence[np.ndarray] = ()) -> np.ndarray:
    """Return the numbers (k,) of limits that may have been passed in a step, or have opened.

    A limit passed and left again within the step is detected if the Hermite cubic of its gap falls below zero, or one
    of its margins ``within``, each (nl,), at instants between the ends.
    """
    held, (floor, least) = stops.held, _bounds(stops, ends)
    passed = (ends.after[0] - floor < least) | (~held & (_lowest(ends) - floor < least))
    for margins in within:
        passed |= margins - floor < least
    return np.flatnonzero(passed | _stalled(stops, ends))


def first_event(
    stops: AnyEvents, ends: Ends, limits: np.ndarray, at: Callable[[float], np.ndarray], met: set[int]
) -> Event | None:
    """Return the first event of a step at ``limits`` (k,), or None.

    ``at``: function of the share of the step that returns the margins (nl,). ``met``: limits already met in this step,
    which do not close again for being stalled.
    """
    (floor, least), stalled = _bounds(stops, ends), _stalled(stops, ends)
    shares = np.arange(SAMPLES + 1) / SAMPLES
    margins = np.array([ends.before[0], *(at(share) for share in shares[1:-1]), ends.after[0]]) - floor
    events = []
    for n in limits.tolist():
        passed = np.flatnonzero(margins[1:, n] < least[n])
        if stalled[n] and n not in met:
            events.append(Event(0.0, n))
        elif passed.size:
            k = int(passed[0])
            low = float(shares[k]), float(margins[k, n])
            margin = partial(_margin, at, n, float(floor[n]))
            noise = TOUCHING * float(np.abs(margins[:, n]).max() if stops.held[n] else stops.unit[n])
            events.append(Event(_crossing(margin, low, float(shares[k + 1]), noise), n))
    return min(events, default=None)


def _margin(at: Callable[[float], np.ndarray], limit: int, floor: float, share: float) -> float:
    """Return the margin of ``limit`` above ``floor`` at a ``share`` of the step; ``at``: see `first_event`."""
    return float(at(share)[limit] - floor)


def _bounds(stops: AnyEvents, ends: Ends) -> tuple[np.ndarray, np.ndarray]:
    """Return reference and lower bound (nl,) of the margins; an open limit violated at the start may stay so."""
    held, first, least = stops.held, ends.before[0], -TOUCHING * stops.unit
    return np.where(held | (first >= least), 0.0, first), np.where(held, 0.0, least)


def _stalled(stops: AnyEvents, ends: Ends) -> np.ndarray:
    """Return which open limits (nl,) are exceeded and come to rest there, so that no force returns them."""
    (gap, rate), least = ends.before, -STALLED * stops.equations.baumgarte * ends.before[0]
    return ~stops.held & (gap < -TOUCHING * stops.unit) & (least > 0.0) & (rate < least) & (ends.after[1] < rate)


def _rebounds(stops: AnyEvents, before: tuple[np.ndarray, np.ndarray], number: int) -> bool:
    """Return whether an open limit is reached at the start of a step, at which the last one ended to round-off.

    ``before``: margins and rates of the gaps (nl,) there. Then it has its impact as within a step.
    """
    (gap, rate), unit = (values[number] for values in before), stops.unit[number]
    return bool(not stops.held[number] and abs(gap) <= TOUCHING * unit and rate < -SLOW * unit)


def _lowest(ends: Ends) -> np.ndarray:
    """Return the least (nl,) of the Hermite cubics between the ends, at the samples and their middles."""
    (a, p), (b, q) = ends.before, ends.after
    s = (np.arange(2 * SAMPLES - 1) + 1.0)[:, None] / (2 * SAMPLES)
    p, q = ends.size * p, ends.size * q
    return (a + s * (p + s * (3.0 * (b - a) - 2.0 * p - q + s * (p + q - 2.0 * (b - a))))).min(axis=0)


def _crossing(margin: Callable[[float], float], low: tuple[float, float], high: float, noise: float) -> float:
    """Return the share below ``high`` at which ``margin`` falls through zero; 0 if no positive margin is found.

    ``low``: a share below ``high`` and the margin there. ``noise``: the margin that counts as none.
    """
    share, value = low
    trial = high
    for _ in range(HALVINGS):
        if value > 0.0:
            if margin(high) > 0.0:
                return high
            return brentq(partial(_known_at, share, value, margin), share, high, xtol=SHARE, rtol=SHARE)
        share = trial = 0.5 * trial
        value = margin(share)
        if value < -noise:
            high = share
    return 0.0


def _known_at(known: float, value: float, margin: Callable[[float], float], share: float) -> float:
    """Return ``margin`` at ``share``, or ``value`` if that is ``known``, since a step of zero size is impossible."""
    return value if share == known else margin(share)


# ------------------------------------------------------------------------------------------ with error control


def step_with_error_control(i: Adaptive, stops: AnyEvents) -> None:
    """Take a step of ``i`` that ends at the first event, if there is one, and store the event in ``i.event``."""
    start, i.event = i.present(), None
    met: set[int] = set()
    turning: list[int] = []  # slots whose features cease to face each other at the start of the step
    shorter, natural = 0, 0.0
    for _ in range(MOST_EVENTS * len(stops)):
        i.solver.h_abs = min(i.solver.h_abs, stops.begin(i.t, *i.motion(i.y), i.solver.h_abs))
        before = stops.margins(i.t, *i.motion(i.y))
        i.take_step()
        if i.failure:
            return
        within = _within(i) if stops.watches_within else []
        if any(stops.overlooks(t, *i.motion(y)) for t, y in within) or stops.overlooks(i.t, *i.motion(i.y)):
            if shorter < MOST_SHORTER:
                size, shorter = i.size, shorter + 1
                i.go_back(start)
                i.restart(SHORTER * size)
                continue
            _warn_of_overlooked(i)
        ends = Ends(i.size, before, stops.margins(i.t, *i.motion(i.y)))
        limits = suspects(stops, ends, [stops.margins(t, *i.motion(y))[0] for t, y in within])
        limits = np.setdiff1d(limits, turning)
        event = first_event(stops, ends, limits, _along(i, stops), met) if limits.size else None
        if event is None:
            if turning:  # other features face each other at the end of the short step
                i.event, i.natural = Event(1.0, turning[0]), natural
            return
        natural, size = i.solver.h_abs, i.size
        i.go_back(start)
        if stops.is_facing(event.number) and i.t + event.share * size == i.t:
            turning.append(event.number)
            i.restart(min(SOON, size), until=i.t + min(SOON, size))
            continue
        opens = not stops.held[event.number] and before[1][event.number] > 0.0
        if opens and event.share > 0.0 and i.t + event.share * size == i.t:
            i.restart(SHORTER * size)  # its gap grows: a step that was too long made it seem closed
            continue
        if event.share > 0.0:
            leaves = _step_to(i, stops, event, start, event.share * size)
            if not i.failure and shorter < MOST_SHORTER and stops.overlooks(i.t, *i.motion(i.y)):
                i.event, shorter = None, shorter + 1
                i.go_back(start)
                i.restart(SHORTER * event.share * size)
                continue
            i.natural = i.size if leaves else natural
            return
        i.meet(event.number, closing=event.number in met or not _rebounds(stops, before, event.number))
        i.restart(stops.next_step(size, event.number in met))
        met.add(event.number)
        start = i.present()
    raise _endless(stops, met)


def _endless(stops: AnyEvents, met: set[int]) -> Blocked:
    """Return the error for limits and contacts that were ``met`` again and again at one instant."""
    if stops.exceeded:
        return Blocked(cannot_come_back([stops.named(met | stops.exceeded)]))
    return Blocked(f"{stops.named(met)} close and open again without end")


def _warn_of_overlooked(i: Adaptive) -> None:
    """Warn, once a run, that shapes met by features that no step foresaw; name the contact that overlaps most."""
    if i.overlooked:
        return
    i.overlooked = True
    e = i.equations
    position, R = (array[e.compiled.slot][None] for array in (e.position, e.rotation))
    depths = penetrations(e.mechanism, position, quat_from_matrix(R))
    name = max(depths, key=lambda each: float(depths[each][0]))
    warnings.warn(
        f"shapes of contact '{name}' met at t = {i.t:g} s in a way that no step down to {i.size:.3g} s foresaw, and"
        f" overlap by {depths[name][0]:.3g} m there: the motion is right up to there at best. Try a smaller rtol, or"
        " varint.Variational",
        UnresolvedWarning,
        stacklevel=2,
    )


def _along(i: Adaptive, stops: AnyEvents) -> Callable[[float], np.ndarray]:
    """Return the function that gives the margins (nl,) by the share of the last step of ``i``."""
    start, size, solution = i.t - i.size, i.size, i.solver.dense_output()

    def at(share: float) -> np.ndarray:
        t = start + share * size
        return stops.margins(t, *i.motion(solution(t)))[0]

    return at


def _within(i: Adaptive) -> list[tuple[float, np.ndarray]]:
    """Return time, s, and y at the samples between the ends of the last step."""
    times, solution = i.t - i.size + i.size * np.arange(1, SAMPLES) / SAMPLES, i.solver.dense_output()
    return [(float(t), solution(t)) for t in times]


def _step_to(i: Adaptive, stops: AnyEvents, event: Event, start: tuple, size: float) -> bool:
    """Step from ``start`` (`present`) to ``event``, ``size`` s later; return whether the gap grows there.

    The instant is corrected by Newton's method on the gap at the end of each trial. A gap that grows seemed closed by
    the error of too long a step.
    """
    rate = 0.0
    held = stops.held[event.number]
    for trial in range(TRIALS):
        end = start[0] + size
        i.restart(size, until=end)
        i.take_step()
        i.solver.t_bound = i.task.end
        if i.failure or i.t < end:  # error control has cut the step: the next one locates the event
            return False
        gap, rate = (values[event.number] for values in stops.look(i.t, *i.motion(i.y)))
        exact = held or abs(gap) <= EXACT * stops.unit[event.number]
        exact = exact or rate >= 0.0 or not 0.0 < size - gap / rate < 2.0 * size
        if exact or trial == TRIALS - 1:
            break
        size -= gap / rate
        i.go_back(start)
    i.event = event
    return rate > 0.0 and not held


# ------------------------------------------------------------------------------------------ in steps of one size


def step_of_one_size(i: FixedSteps, stops: AnyEvents) -> None:
    """Take a step of `FixedSteps.h` that is cut at the events in it."""
    end, impacts = i.h * (i.steps + 1), np.zeros(len(stops), dtype=np.int64)
    whole = True
    met: set[int] = set()
    for _ in range(MOST_EVENTS * len(stops)):
        size = i.h if whole else end - i.t
        before = stops.margins(i.t, *i.motion())
        if size <= SHARE * end:
            i.t = end
            return
        after = i.attempt(size)
        ends = Ends(size, before, stops.margins(i.t + size, *after))
        limits = suspects(stops, ends)
        if limits.size and i.forget():
            continue  # repeat the step with the start-up formula, of which cut steps are parts
        event = first_event(stops, ends, limits, _trials(i, stops, size), met) if limits.size else None
        if event is None:
            i.arrive(i.attempt(size) if limits.size else after, size, end)
            if not whole:
                i.forget()
            return
        n = event.number
        if event.share > 0.0:
            cut = event.share * size
            i.arrive(i.attempt(cut), cut, i.t + cut)
        closing = event.share == 0.0 and (n in met or not _rebounds(stops, before, n))
        impacts[n] += not closing
        met.add(n)
        i.forget()
        restitution = stops.restitution[n] if n < stops.restitution.size else 0.0  # else of no gap
        i.meet(n, closing=closing or not rebounds_again(restitution, impacts[n] - 1, len(impacts)))
        whole = whole and event.share == 0.0
    raise _endless(stops, met)


def _trials(i: FixedSteps, stops: AnyEvents, size: float) -> Callable[[float], np.ndarray]:
    """Return the function that gives the margins (nl,) by the share of a step of ``size``, s, by a separate step."""
    return lambda share: stops.margins(i.t + share * size, *i.attempt(share * size))[0]
