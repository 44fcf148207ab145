"""Integrators in reduced coordinates, one file each. Importing the package fills the registry with all of them."""

import importlib
import pkgutil

from varint.base.checks import choice
from varint.base.errors import ArgumentError
from varint.methods.reduced.integrators.base import REGISTRY, Integrator, Task

for _module in pkgutil.iter_modules(__path__):
    importlib.import_module(f"{__name__}.{_module.name}")

# with error control first, then by order
INTEGRATORS: dict[str, type[Integrator]] = dict(
    sorted(REGISTRY.items(), key=lambda item: (item[1].fixed, item[1].stiff, item[1].order, item[0]))
)
DEFAULT = next(name for name, kind in INTEGRATORS.items() if kind.default)

__all__ = ["DEFAULT", "INTEGRATORS", "Integrator", "Task", "integrator_named", "with_contacts"]


def integrator_named(name: object, label: str = "integrator") -> type[Integrator]:
    """Return the integrator of that name; raises ArgumentError, which starts with ``label``, for unknown names."""
    return INTEGRATORS[choice(name, INTEGRATORS, label, ArgumentError)]


def with_contacts() -> list[str]:
    """Return the names of the integrators that know joint friction and hard contacts."""
    return [name for name, kind in INTEGRATORS.items() if kind.contacts]
