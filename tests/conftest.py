"""Shared fixtures."""

import zlib

import numpy as np
import pytest


@pytest.fixture
def rng(request):
    """A generator of its own for each test, the same at every run."""
    return np.random.default_rng(zlib.crc32(request.node.name.encode()))
