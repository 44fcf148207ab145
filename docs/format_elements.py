"""Write the table of elements of the formats of robots into formats.md: python docs/format_elements.py"""

import sys
import tempfile
from pathlib import Path

DOCS = Path(__file__).parent
sys.path.insert(0, str(DOCS.parent / "tests"))

from format_documents import FORMATS, answers, row, tags  # noqa: E402

PAGE = DOCS / "formats.md"
BEGIN, END = "<!-- elements of formats -->\n", "<!-- end of elements -->\n"
HEAD = "| format | element | read | reported | refused |\n|---|---|---|---|---|\n"

if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        rows = [row(name, tag, answers(name, tag, Path(folder))) for name in FORMATS for tag in tags(name)]
    before, _, rest = PAGE.read_text().partition(BEGIN)
    PAGE.write_text(before + BEGIN + HEAD + "".join(rows) + END + rest.partition(END)[2])
