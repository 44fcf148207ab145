"""The joints, one file each. Importing the package fills the registry with every module in this folder."""

import importlib
import pkgutil

from varint.model.joints.base import NAMES, REGISTRY, Joint

for _module in pkgutil.iter_modules(__path__):
    importlib.import_module(f"{__name__}.{_module.name}")
globals().update(NAMES)

__all__ = ["NAMES", "REGISTRY", "Joint", *NAMES]
