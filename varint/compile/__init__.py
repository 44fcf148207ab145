"""Compilation of a description and its topology to the arrays of a `Plan`, one file for each part of it."""

from varint.compile.structure import Compiled, compile_structure

__all__ = ["Compiled", "compile_structure"]
