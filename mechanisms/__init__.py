"""The catalogue: one file a mechanism, each with ``build(**parameters)`` and the facts its test checks.

``varint.mechanisms.NAME(...)`` is ``build`` of ``NAME.py``. Files whose names start with ``_`` are no mechanisms.
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
