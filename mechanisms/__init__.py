"""The catalogue: one file a mechanism, found by its name.

``varint.mechanisms.NAME(...)`` is ``build`` of ``NAME.py``. Files whose names start with ``_`` are no mechanisms. A
file has

* a docstring, whose first line ``varint info`` prints;
* ``build(**parameters)``, which returns the `varint.Mechanism`;
* ``EXPECTED``, a dictionary of facts that tests, benchmarks and ``docs/catalogue.md`` read.

Every mechanism states ``bodies``, ``rows``, ``mobility`` (degrees of freedom at a generic pose), ``redundant`` (rows),
``loops`` and ``dt`` (s, the documented step). Where they apply:

* ``duration``: of the run in the table of the catalogue, s;
* ``variants``: parameters with which it runs as well, a list of dictionaries;
* ``impossible``: parameters that ``build`` refuses, a list of dictionaries;
* ``order``: cases for ``tests/test_order.py``, a list of dictionaries; their keys and defaults stand there;
* ``period``, ``precession``: values in closed form, for tests of that one mechanism.
"""

import importlib
import pkgutil

NAMES = tuple(sorted(found.name for found in pkgutil.iter_modules(__path__) if not found.name.startswith("_")))


def module(name: str):
    """The module of a mechanism: ``build`` and ``EXPECTED``."""
    if name not in NAMES:
        raise AttributeError(f"no mechanism '{name}' in the catalogue: there are {', '.join(NAMES)}")
    found = importlib.import_module(f"{__name__}.{name}")
    globals()[name] = found.build  # importing a submodule would leave the module itself under its name
    return found


def __getattr__(name):
    if name in NAMES:
        return module(name).build
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__():
    return [*NAMES, "NAMES", "module"]
