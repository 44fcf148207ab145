"""The variational integrator in maximal coordinates and REDMAX in reduced ones, side by side."""

from varint.comparison.all_mechanisms import CatalogueComparison, compare_catalogue
from varint.comparison.comparison_result import Comparison
from varint.comparison.comparison_run import compare
from varint.comparison.series import Series

__all__ = ["CatalogueComparison", "Comparison", "Series", "compare", "compare_catalogue"]
