"""The variational integrator in maximal coordinates and REDMAX in reduced ones, side by side."""

from varint.studies.comparison.all_mechanisms import CatalogueComparison, compare_catalogue
from varint.studies.comparison.comparison_result import Comparison
from varint.studies.comparison.comparison_run import compare
from varint.studies.comparison.series import Series

__all__ = ["CatalogueComparison", "Comparison", "Series", "compare", "compare_catalogue"]
