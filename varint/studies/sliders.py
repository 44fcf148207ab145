"""`controls`: a mechanism with a slider for each parameter, which runs it again and redraws the picture of the run."""

from __future__ import annotations

import base64
import html
import inspect
import io
import re
import sys
import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

from varint.base.checks import (
    arguments_of,
    choice,
    finite,
    is_alone,
    is_whole,
    known_name,
    of_type,
    positive,
    sequence_of,
    shown,
    whole_number,
)
from varint.base.display import Shown, described, value_text
from varint.base.errors import ArgumentError, ConvergenceError
from varint.drawing.style import DPI
from varint.files.runs.tables import optional
from varint.methods.simulation import simulate
from varint.model.motion import coordinate_units
from varint.results.trajectory_display import text as text_of
from varint.runs.method import Method, method_class
from varint.runs.parts import of_class
from varint.runs.problem import Problem, Recording
from varint.runs.trajectory import Trajectory
from varint.studies.ensembles.figures import MESSAGE, error_row
from varint.studies.ensembles.member_checks import ON_UNRESOLVED, check_start_names, checked_common, parts_of_method
from varint.studies.ensembles.member_parameters import TIMES, check_names, name_of, parts_of, plain
from varint.studies.ensembles.source import Source, built, opened, source_of
from varint.views.panels import check_drawn

VIEW = "view"
STEPS = 100  # of a slider whose step is not given
SLIDER_FORMAT = ".4g"
PIXELS = 130  # of a figure, an inch
PRE = '<pre style="white-space:pre-wrap;margin:0.5em 0">'
WIDTH = {"width": "480px"}  # of a slider with its name
Show = str | Callable[[Trajectory], Any]


def controls(
    build: Callable | str | Path,
    parameters: Mapping[str, Any],
    duration: float | None = None,
    dt: float | Method | None = None,
    *,
    formulation: str = "maximal",
    show: Show | Iterable[Show] = VIEW,
    on_unresolved: str = "warn",
    **options: Any,
) -> Controls:
    """Run a mechanism by parameters that are set by sliders in a notebook, and by code anywhere.

    At the end of a cell, the result shows a slider for each parameter above the picture of the run. Releasing a slider
    runs the mechanism again and redraws the picture. If a run fails, its error is shown in place of the picture.

    Parameters
    ----------
    build : function, str or path
        A function of parameters that returns a `Mechanism`, or a `Mechanism` and the `State` to start from; the name of
        a mechanism of the catalogue; or a file of a mechanism, as for `ensemble`.
    parameters : dict
        Name to ``(low, high)`` or ``(low, high, step)``, a slider, of whole numbers if all three are whole; or to a
        list of values to choose from. The initial value is the default in ``build`` if the control allows it, else the
        middle of the range or the first of the list. Names as in `ensemble`: ``rates.JOINT`` and its like belong to the
        start, ``duration``, ``dt`` and the ``options`` to the run, all others are arguments of ``build``.
    duration : float, optional
        s
    dt : float, or Method, optional
        Step, s; or a method, as ``varint.Reduced("dop853", rtol=1e-10)``, in place of its arguments, formulation and
        ``on_unresolved``.
    formulation : {"maximal", "reduced"}, or str
        As for `ensemble`.
    show : "view", name of a panel, function, or a list of these
        The page of `Trajectory.view`; panels of `Trajectory.plot`, as "energy", drawn together beneath the rest; a
        function of the trajectory that returns a page, a figure or a text.
    on_unresolved : {"warn", "raise", "ignore"}
        If steps in maximal coordinates do not resolve the motion: a warning beneath the picture, an error in its place,
        or neither.
    options
        Arguments of all runs, as for `ensemble`: every, force, torque, order, ...

    Raises
    ------
    ArgumentError, FileError
        Before the first run. `Controls.error` holds the errors of runs.
    """
    if isinstance(dt, Method):
        method = parts_of_method(dt, formulation, on_unresolved, options, "controls")
        formulation, on_unresolved, dt, options = method
    common = checked_common(formulation, duration, dt, options)
    choice(on_unresolved, ON_UNRESOLVED, "on_unresolved", ArgumentError)
    of_type(parameters, Mapping, "parameters", ArgumentError)
    ranges = {name_of(name): _range_of(name, value) for name, value in parameters.items()}
    source = source_of(build)
    initial = _initial_values(source, formulation, ranges, common)
    runs = _Runs(source, formulation, {**common, "on_unresolved": on_unresolved})
    with opened(source) as made_by:
        units = _units(made_by, ranges)
    return Controls(runs, ranges, initial, _checked_show(show), units)


class Controls(Shown):
    """Parameters of a mechanism, the run with their present values, and its picture; `controls` makes it.

    A notebook shows it with a slider for each parameter, which needs the package ipywidgets (the extra ``notebook``).

    Attributes
    ----------
    trajectory : Trajectory or None
        The last run: up to the step that could not be solved if there was one, None if there was no run.
    error : Exception or None
        The error of the last run or its picture.
    warnings : list of str
        Warnings of the last run and its picture.
    html : str
        The picture, or the error in its place, in HTML.
    """

    def __init__(
        self,
        runs: _Runs,
        ranges: Mapping[str, Range | Choices],
        initial: Mapping[str, Any],
        show: list[Show],
        units: Mapping[str, str],
    ) -> None:
        self.trajectory: Trajectory | None = None
        self.error: Exception | None = None
        self.warnings: list[str] = []
        self.html = ""
        self._runs, self._ranges, self._values, self._show = runs, ranges, dict(initial), show
        self._units = dict(units)
        self._run(4)

    @property
    def values(self) -> dict[str, Any]:
        """The present values of the parameters, by name."""
        return dict(self._values)

    def set(self, values: Mapping[str, Any] | None = None, /, **named: Any) -> None:
        """Set values by name, run the mechanism and redraw the picture if one of them changes; sliders follow.

        ``values``: a mapping, for names with a dot, as ``{"rates.hinge": 2.0}``. Raises ArgumentError for unknown names
        and values outside their range, before anything changes; `error` holds the error of the run.
        """
        values = {} if values is None else dict(of_type(values, Mapping, "values", ArgumentError))
        new = {}
        for name, value in {**values, **named}.items():
            known_name(name, self._ranges, "no control", ArgumentError)
            new[name] = self._ranges[name].checked(value, name)
        if all(self._values[name] == value for name, value in new.items()):
            return
        self._values.update(new)
        self._run(3)

    @cached_property
    def widget(self) -> Any:
        """The ``ipywidgets.VBox`` that a notebook shows: one child a parameter, in order, then the picture.

        Raises ArgumentError if ipywidgets is missing (the extra ``notebook``).
        """
        widgets = optional("ipywidgets", "notebook")
        children = []
        labels = {name: self._label(name) for name in self._ranges}
        style = {"description_width": f"{max(map(len, labels.values()), default=0) + 1}ch"}  # sliders stand in a column
        for name, range_ in self._ranges.items():
            child = range_.widget(widgets, self._values[name], description=labels[name], style=style, layout=WIDTH)
            child.observe(partial(self._moved, name), range_.trait)
            children.append(child)
        return widgets.VBox([*children, widgets.HTML(self.html, layout={"width": "100%"})])

    def _label(self, name: str) -> str:
        """Return the name of a parameter, with its unit if it is known: of coordinates and rates by their joint."""
        unit, (key, _, joint) = self._units.get(name, ""), name.partition(".")
        if key in ("coordinates", "rates") and self.trajectory is not None:
            known = self.trajectory.mechanism.joint_index
            units = set(coordinate_units(self.trajectory.mechanism.joint(joint))) if joint in known else set()
            unit = f"{units.pop() or 1}{'/s' * (key == 'rates')}" if len(units) == 1 else ""
        return f"{name} ({unit})" if unit else name

    def _still(self) -> str:
        """Return the values and a picture without scripts, in HTML, for a saved notebook: the page as its last pose."""
        values = ", ".join(f"{self._label(name)}: {value_text(value)}" for name, value in self._values.items())
        if self.trajectory is None or self.error is not None:
            return _in_pre(values) + self.html
        last = self.trajectory.mechanism.plot(self.trajectory[-1]) if VIEW in self._show else None
        return "".join(
            [
                _in_pre(values),
                *([_in_html(last)] if last is not None else []),
                *_pictures(self.trajectory, [each for each in self._show if each != VIEW]),
                *map(_in_pre, self.warnings),
            ]
        )

    def _moved(self, name: str, change: Mapping[str, Any]) -> None:
        self.set({name: self._ranges[name].value_of(change["new"])})

    def _update_widget(self) -> None:
        # each assignment calls `set` again, which returns at once, as the values are the present ones
        *children, picture = self.widget.children
        for child, (name, range_) in zip(children, self._ranges.items(), strict=True):
            setattr(child, range_.trait, range_.position_of(self._values[name]))
        picture.value = self.html

    def _run(self, stacklevel: int) -> None:
        """Run with the present values and draw; errors and warnings are kept, since a slider has no caller.

        ``stacklevel``: of the user's line above this function, for warnings.
        """
        self.trajectory, self.error, pieces = None, None, []
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                self.trajectory = self._runs.run(self._values)
                pieces = _pictures(self.trajectory, self._show)
            except Exception as problem:  # of the functions of the user as well
                self.error = problem
                if isinstance(problem, ConvergenceError):
                    self.trajectory = problem.trajectory
                pieces = [_in_pre(error_row(problem)[MESSAGE])]
        self.warnings = list(dict.fromkeys(str(each.message) for each in caught))
        self.html = "".join([*pieces, *map(_in_pre, self.warnings)])
        if "widget" in vars(self):
            self._update_widget()
        for each in caught:
            warnings.warn(each.message, each.category, stacklevel=stacklevel)

    def _facts(self) -> Iterable[str]:
        yield from (f"{name}={value_text(value)}" for name, value in self._values.items())
        if self.error is not None:
            yield error_row(self.error)[MESSAGE]
        elif self.trajectory is not None:
            yield text_of(self.trajectory)

    def __repr__(self) -> str:
        return described(self, self._facts(), self._runs.source.label)

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        try:
            widget = self.widget
        except ArgumentError as missing:
            return {"text/plain": repr(self), "text/html": _in_pre(f"no sliders: {missing}") + self.html}
        shown = widget._repr_mimebundle_(include=include, exclude=exclude)
        return {**shown, "text/html": self._still()}  # the sliders themselves are not in a saved notebook


@dataclass(frozen=True)
class _Runs:
    """Runs of a mechanism by parameters; ``common``: the arguments that all runs share."""

    source: Source
    formulation: str
    common: Mapping[str, Any]

    def run(self, values: Mapping[str, Any]) -> Trajectory:
        """Run with the parameters ``values``; return the trajectory. Raises errors of `simulate` and ``build``."""
        parts = parts_of(values, self.formulation)
        with opened(self.source) as build:
            mechanism, state = built(build, parts.build, parts.start)
        arguments = {**self.common, **parts.run}
        kind = method_class(self.formulation)
        problem = Problem(mechanism, state=state, **of_class(Problem, arguments))
        return simulate(problem, kind(**of_class(kind, arguments)), Recording(**of_class(Recording, arguments)))


# ------------------------------------------------------------------------------------------------------- parameters


@dataclass(frozen=True)
class Range:
    """Numbers from ``low`` to ``high``; a slider moves by ``step``. ``whole``: whole numbers only."""

    low: float
    high: float
    step: float
    whole: bool

    trait = "value"  # of the widget, which changes when a user moves it

    def initial(self, default: object) -> float:
        """Return the default of ``build`` if it is in the range, else the middle, on a step of the slider."""
        kinds = (int,) if self.whole else (int, float)
        if isinstance(default, kinds) and not isinstance(default, bool) and self.low <= default <= self.high:
            return default
        middle = self.low + self.step * round((self.high - self.low) / 2 / self.step)
        return middle if self.whole else float(f"{middle:.12g}")  # 0.9, not 0.8999999999999999

    def checked(self, value: Any, name: str) -> float:
        """Return ``value`` as a number in the range. Raises ArgumentError."""
        number = whole_number(value, name, None, ArgumentError) if self.whole else finite(value, name, ArgumentError)
        if not self.low <= number <= self.high:
            raise ArgumentError(f"{name} must be from {self.low:g} to {self.high:g}, got {number:g}")
        return number

    def widget(self, widgets: Any, value: float, **look: Any) -> Any:
        """Return a slider of ipywidgets, whose value changes when it is released."""
        kind = widgets.IntSlider if self.whole else widgets.FloatSlider
        span = {"min": self.low, "max": self.high, "step": self.step}
        digits = {} if self.whole else {"readout_format": SLIDER_FORMAT}
        return kind(value, continuous_update=False, **span, **digits, **look)

    def value_of(self, position: float) -> float:
        """Return the value at a position of the widget."""
        return position

    def position_of(self, value: float) -> float:
        """Return the position of the widget at a value."""
        return value


@dataclass(frozen=True)
class Choices:
    """A list of values, of which one is chosen."""

    values: list[Any]

    trait = "index"  # values may be None, which for the widget is no choice

    def initial(self, default: object) -> Any:
        """Return the default of ``build`` if it is in the list, else the first value."""
        alike = (value for value in self.values if type(value) is type(default) and value == default)
        return next(alike, self.values[0])

    def checked(self, value: Any, name: str) -> Any:
        """Return ``value`` as it is in the list. Raises ArgumentError."""
        value = plain(value, name)
        if value not in self.values:
            raise ArgumentError(f"{name} must be one of {', '.join(map(value_text, self.values))}, got {shown(value)}")
        return self.values[self.values.index(value)]

    def widget(self, widgets: Any, value: Any, **look: Any) -> Any:
        """Return a drop-down list of ipywidgets."""
        labels = [value if isinstance(value, str) else value_text(value) for value in self.values]
        return widgets.Dropdown(options=labels, index=self.position_of(value), **look)

    def value_of(self, position: int) -> Any:
        """Return the value at a position of the list."""
        return self.values[position]

    def position_of(self, value: Any) -> int:
        """Return the position of a value in the list."""
        return self.values.index(value)


def _range_of(name: str, span: object) -> Range | Choices:
    """Return the range of a parameter, as the user gave it. Raises ArgumentError."""
    key = f"parameters[{name!r}]"
    if isinstance(span, list) and span:
        return Choices([plain(value, key) for value in span])
    if not isinstance(span, tuple) or len(span) not in (2, 3):
        raise ArgumentError(f"{key} must be (low, high), (low, high, step) or a list of values, got {shown(span)}")
    low, high = (finite(value, key, ArgumentError) for value in span[:2])
    if not low < high:
        raise ArgumentError(f"{key} must be a lower and a higher number, got {low:g} and {high:g}")
    step = positive(span[2], f"the step of {key}", ArgumentError) if len(span) == 3 else (high - low) / STEPS
    if step > high - low:
        raise ArgumentError(f"the step of {key} must be at most {high - low:g}, the length of its range, got {step:g}")
    if len(span) == 3 and all(is_whole(value) for value in span):
        return Range(int(low), int(high), int(step), True)
    return Range(low, high, step, False)


def _units(build: Callable, names: Iterable[str]) -> dict[str, str]:
    """Return the units of parameters by name: of times, and as the docstring says, "NAME : kind, unit"."""
    text, units = inspect.getdoc(build) or "", dict.fromkeys(TIMES, "s")
    for name in names:
        match = re.search(rf"^\s*{re.escape(name)} : [^,\n]+, ([^,\n]+)$", text, re.MULTILINE)
        if match and match[1] != "1":
            units[name] = match[1]
    return units


def _initial_values(
    source: Source, formulation: str, ranges: Mapping[str, Range | Choices], common: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the values of the first run, by name. Raises ArgumentError for unknown and missing parameters."""
    for name in ranges:
        if name in common:
            raise ArgumentError(f"{name!r} is an argument and a control: leave one out")
    for name in TIMES if method_class(formulation).needs_step() else TIMES[:1]:
        if name not in common and name not in ranges:
            raise ArgumentError(f"{name} is missing: give {name}=, or a control of this name")
    with opened(source) as build:
        takes = arguments_of(build)
        check_names([ranges], formulation, takes, ())
        known = {} if takes is None else inspect.signature(build).parameters
        defaults = {name: parameter.default for name, parameter in known.items()}
        values = {name: range_.initial(defaults.get(name)) for name, range_ in ranges.items()}
        check_start_names(values, formulation, build)
    return values


# --------------------------------------------------------------------------------------------------------- pictures


def _checked_show(show: object) -> list[Show]:
    """Return the list of pictures that ``show`` asks for. Raises ArgumentError."""
    several = [show] if is_alone(show) or callable(show) else show
    pictures = list(sequence_of(several, "show", "'view', names of panels and functions", ArgumentError))
    if not pictures:
        raise ArgumentError("show must name a picture at least: 'view', a panel, or a function of the trajectory")
    check_drawn(picture for picture in pictures if picture != VIEW and not callable(picture))
    return pictures


def _pictures(trajectory: Trajectory, show: Iterable[Show]) -> list[str]:
    """Return the pictures of a run in HTML: pages and results of functions in order, then all panels in one figure."""
    pieces, panels = [], []
    for each in show:
        if callable(each):
            pieces.append(_in_html(each(trajectory)))
        elif each == VIEW:
            pieces.append(_in_html(trajectory.view()))
        else:
            panels.append(each)
    return [*pieces, _in_html(trajectory.plot(*panels))] if panels else pieces


def _in_html(thing: Any) -> str:
    if isinstance(thing, Figure):
        data = io.BytesIO()
        thing.savefig(data, dpi=DPI, format="png")
        if pyplot := sys.modules.get("matplotlib.pyplot"):
            pyplot.close(thing)  # a notebook shows the figures that pyplot has open once more
        encoded = base64.b64encode(data.getvalue()).decode()
        width = PIXELS * thing.get_figwidth()
        return f'<img style="width:{width:.0f}px;max-width:100%" src="data:image/png;base64,{encoded}">'
    return thing._repr_html_() if hasattr(thing, "_repr_html_") else _in_pre(str(thing))


def _in_pre(text: str) -> str:
    return f"{PRE}{html.escape(text)}</pre>"
