"""Ensembles: many runs of one mechanism with other parameters, on all cores or on a cluster."""

from varint.studies.ensembles.draws import random_draws
from varint.studies.ensembles.ensemble_result import Ensemble, Member
from varint.studies.ensembles.ensemble_run import ensemble, load_ensemble

__all__ = ["Ensemble", "Member", "ensemble", "load_ensemble", "random_draws"]
