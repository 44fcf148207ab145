"""The catalogue: one file a mechanism, found by its name.

``varint.mechanisms.NAME(...)`` is ``build`` of ``NAME.py``. Files whose names start with ``_`` are no mechanisms. A
file has

* a docstring, whose first line ``varint info`` prints;
* ``build(**parameters)``, which returns the `varint.Mechanism`; its docstring says what is built, where the coordinates
  of the joints are zero ("Zero of the coordinates: ..."), and in a section "Parameters" what each of them is, under a
  header ``name : kind, unit``; ``varint info NAME`` and ``docs/catalogue.md`` show it; lengths and masses are annotated
  as in ``_sizes.py``;
* ``EXPECTED``, a dictionary of facts that tests, benchmarks and ``docs/catalogue.md`` read.

Every mechanism states ``bodies``, ``rows``, ``mobility`` (degrees of freedom at a generic pose), ``redundant`` (rows),
``loops`` and ``dt`` (s, the documented step). Where they apply:

* ``duration``: of the run in the table of the catalogue, s;
* ``variants``: parameters with which it runs as well, a list of dictionaries;
* ``impossible``: parameters that ``build`` refuses, a list of dictionaries;
* ``order``: cases for ``tests/test_order.py``, a list of dictionaries; their keys and defaults stand there;
* ``period``, ``precession``: values in closed form, for tests of that one mechanism.

`NAMES` lists them. `SCENES` lists, apart from them, the 36 preset scenes of the reference implementation of REDMAX,
with names ``redmax_NUMBER``. They have no parameters, and their ``EXPECTED`` states one run, by linearly implicit Euler
in reduced coordinates:

* ``dt`` and ``duration``, s; ``baumgarte``, 1/s, where it is not 5;
* ``energy``: published, of the end: kinetic, and potential above that of the start; erg;
* ``differs``: why ours is another, where it is by more than a millionth.

`ALL` is both.
"""

import functools
import importlib
import inspect
import operator
import pkgutil
import sys
from types import ModuleType, UnionType
from typing import Annotated, Union, get_args, get_origin

ALL = tuple(sorted(found.name for found in pkgutil.iter_modules(__path__) if not found.name.startswith("_")))
SCENES = tuple(name for name in ALL if name.startswith("redmax_"))
NAMES = tuple(name for name in ALL if name not in SCENES)


def module(name: str):
    """The module of a mechanism: ``build`` and ``EXPECTED``. Raises ArgumentError where there is none of that name."""
    import varint as vi

    vi.base.checks.known_name(name, ALL, "the catalogue has no mechanism", vi.ArgumentError)
    return importlib.import_module(f"{__name__}.{name}")


class _Catalogue(ModuleType):
    """The package itself, in which an imported mechanism is its ``build``.

    Python leaves the module there, whoever imports it; cloudpickle does so where a function that it takes elsewhere
    names one.
    """

    def __setattr__(self, name, value):
        is_mechanism = name in ALL and isinstance(value, ModuleType)
        super().__setattr__(name, _entrance(name, value.build) if is_mechanism else value)

    def __reduce__(self):
        """By its name, as other modules."""
        return importlib.import_module, (self.__name__,)


sys.modules[__name__].__class__ = _Catalogue


def _entrance(name: str, build):
    """``build`` with its arguments checked, by their annotations and by the shapes of their defaults.

    Raises MechanismError for parameters that there are none of, for arguments of the wrong kind, and for those with
    which nothing can be built.
    """
    import varint as vi

    signature = inspect.signature(build)

    @functools.wraps(build)
    def entrance(*arguments, **options):
        given = _bound(name, signature, arguments, options)
        for key, value in given.items():
            given[key] = vi.base.checks.as_annotated(value, signature.parameters[key], f"{key} of {name}")
        try:
            return build(**given)
        except vi.VarintError:
            raise
        except (ValueError, ArithmeticError) as problem:
            with_ = ", ".join(f"{key}={vi.base.checks.shown(value)}" for key, value in given.items())
            raise vi.MechanismError(f"{name} cannot be built with {with_}: {problem}") from problem

    plain = [each.replace(annotation=_plain(each.annotation)) for each in signature.parameters.values()]
    entrance.__signature__ = signature.replace(parameters=plain)  # what help() shows
    return entrance


def _plain(annotation):
    """An annotation without the checks that it carries."""
    if get_origin(annotation) is Annotated:
        return get_args(annotation)[0]
    if get_origin(annotation) in (Union, UnionType):
        return functools.reduce(operator.or_, map(_plain, get_args(annotation)))
    return annotation


def _bound(name: str, signature: inspect.Signature, arguments: tuple, options: dict) -> dict:
    """Parameter to argument; raises MechanismError for arguments that fit no parameter, or one twice."""
    import varint as vi

    known = list(signature.parameters)
    takes = f"it takes {', '.join(known)}" if known else "it takes none"
    for key in options:
        if key not in known:
            near = vi.base.checks.suggestion(key, known) or ":"
            raise vi.MechanismError(f"mechanism '{name}' has no parameter '{key}'{near} {takes}")
    try:
        return signature.bind(*arguments, **options).arguments
    except TypeError as problem:  # too many, or one by its place and by its name
        raise vi.MechanismError(f"parameters of mechanism '{name}': {problem}; {takes}") from None


def __getattr__(name):
    import varint as vi

    if name in ALL:
        module(name)
        return globals()[name]
    near = vi.base.checks.suggestion(name, ALL) or ":"
    raise AttributeError(f"the catalogue has no mechanism {name!r}{near} there are {', '.join(NAMES)}")


def __dir__():
    return [*ALL, "ALL", "NAMES", "SCENES", "module"]
