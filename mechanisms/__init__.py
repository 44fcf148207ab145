"""The catalogue: one file a mechanism, each with ``build(**parameters)`` and the facts its test checks.

``varint.mechanisms.NAME(...)`` is ``build`` of ``NAME.py``.
"""

import importlib
import pkgutil

NAMES = tuple(sorted(module.name for module in pkgutil.iter_modules(__path__)))


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
