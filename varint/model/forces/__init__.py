"""The forces, one file each. Importing the package fills the registry with every module in this folder."""

import importlib
import pkgutil

from varint.model.forces.base import FORCES, Force
from varint.model.forces.law import LAWS

for _module in pkgutil.iter_modules(__path__):
    importlib.import_module(f"{__name__}.{_module.name}")
globals().update(FORCES)

__all__ = ["FORCES", "LAWS", "Force", *FORCES]
