"""What lengths and masses must be besides numbers: annotations, with the check that the catalogue makes."""

from typing import Annotated

import varint as vi

Positive = Annotated[float, vi.base.checks.positive]
NotNegative = Annotated[float, vi.base.checks.not_negative]
