"""Formats of mechanism files, one file each. Importing the package fills the registry with every module here."""

import importlib
import pkgutil

from varint.files.formats.base import FORMATS, Format

for _module in pkgutil.iter_modules(__path__):
    importlib.import_module(f"{__name__}.{_module.name}")

__all__ = ["FORMATS", "Format"]
