"""Ensembles without worker processes."""

import json

import cloudpickle
import pytest

from varint.studies.ensembles.source import opened
from varint.studies.ensembles.work import run_member


class Here:
    """In place of worker processes: the same work in this process, which saves the start of others."""

    def __init__(self, count):
        self.count = count

    def rows(self, task, members):
        task = cloudpickle.loads(task)
        with opened(task.source) as build:
            for number, parameters in members:
                yield number, json.loads(json.dumps(run_member(task, build, number, parameters)))


@pytest.fixture
def here(monkeypatch):
    """Ensembles have no worker processes."""
    monkeypatch.setattr("varint.studies.ensembles.ensemble_run.Processes", Here)
