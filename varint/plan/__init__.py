"""Compilation of a description and its topology to the arrays of a `Plan`, one file for each part of it."""

from varint.plan.compiled import Compiled, CompiledStructure, compile_structure, recompile

__all__ = ["Compiled", "CompiledStructure", "compile_structure", "recompile"]
