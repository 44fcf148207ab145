"""Arrays in descriptions as types, with their shapes: None for any number, several where any of them will do."""

from typing import Annotated

import numpy as np

Vector = Annotated[np.ndarray, (3,)]
Quaternion = Annotated[np.ndarray, (4,)]
Matrix = Annotated[np.ndarray, (3, 3)]
Values = Annotated[np.ndarray, (None,)]
Points = Annotated[np.ndarray, (None, 3)]
Quaternions = Annotated[np.ndarray, (None, 4)]
Grid = Annotated[np.ndarray, (None, None)]
Corners = Annotated[np.ndarray, (None, 4)]
Pairs = Annotated[np.ndarray, (None, 2)]
