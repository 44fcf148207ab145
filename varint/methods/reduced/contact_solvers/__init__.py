"""Contact solvers of a reduced step, one file each: the exact cones, and the methods of the literature beside them.

Importing the package fills the registry with all of them.
"""

import importlib
import pkgutil

from varint.methods.reduced.contact_solvers.base import CONES, REGISTRY, Rival
from varint.methods.reduced.contacts import Contacts

for _module in pkgutil.iter_modules(__path__):
    importlib.import_module(f"{__name__}.{_module.name}")

CONTACT_SOLVERS: dict[str, type[Contacts]] = {CONES: Contacts, **dict(sorted(REGISTRY.items()))}

__all__ = ["CONES", "CONTACT_SOLVERS", "REGISTRY", "Rival"]
