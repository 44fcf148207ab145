"""``python -m varint``: the same as the command ``varint``."""

import sys

from varint.cli import main

sys.exit(main())
