"""Makes the pages and pictures of the gallery from examples/gallery: ``make docs``, or ``python docs/gallery.py NAME``.

The docstring of a script is its question, by its first line, and the text of its page; ``main(picture)`` prints the
answer and draws; ``film(path)``, where there is one, writes a moving picture.
"""

import ast
import contextlib
import io
import runpy
import sys
import tempfile
from pathlib import Path

from PIL import Image

DOCS = Path(__file__).parent
SCRIPTS = sorted((DOCS.parent / "examples" / "gallery").glob("*.py"))
PAGES, IMAGES, INDEX = DOCS / "gallery", DOCS / "images" / "gallery", DOCS / "gallery.md"
BEGIN, END = "<!-- examples -->\n", "<!-- end of examples -->\n"
COLUMNS, WIDTH = 3, 230  # of the table of thumbnails; pixels
COLOURS = 32  # of a picture, so that it is small


def told(script: Path) -> tuple[str, str]:
    """The question of a script, and the text below it."""
    title, _, text = ast.get_docstring(ast.parse(script.read_text())).partition("\n")
    return title, text.strip()


def moves(script: Path) -> bool:
    """Whether a script has a film."""
    return "def film(path)" in script.read_text()


def page(script: Path, answer: str) -> str:
    """The page of a script that prints ``answer``."""
    title, text = told(script)
    film = f"![It moves](../images/gallery/{script.stem}.gif)\n\n" * moves(script)
    where = f"../../examples/gallery/{script.name}"
    return f"""# {title}

{text}

![{title}](../images/gallery/{script.stem}.png)

{film}```text
{answer.strip()}
```

[{script.name}]({where}) prints this, and `python {script.name} picture.png` draws it:

```{{literalinclude}} {where}
:language: python
:start-at: import
```
"""


def index() -> str:
    """The text of docs/gallery.md with its table of thumbnails as of today."""
    cells = [
        f'<img src="images/gallery/{path.stem}.png" alt="" width="{WIDTH}"> [{told(path)[0]}](gallery/{path.stem}.md)'
        for path in SCRIPTS
    ]
    cells += [""] * (-len(cells) % COLUMNS)
    rows = [f"| {' | '.join(cells[k : k + COLUMNS])} |" for k in range(0, len(cells), COLUMNS)]
    head = [f"|{'   |' * COLUMNS}", f"|{'---|' * COLUMNS}"]
    before, _, rest = INDEX.read_text().partition(BEGIN)
    return before + BEGIN + "\n".join([*head, *rows]) + "\n" + END + rest.partition(END)[2]


def make(script: Path) -> None:
    """Run a script; write its picture and its page."""
    printed = io.StringIO()
    with tempfile.TemporaryDirectory() as folder:
        picture = Path(folder, "picture.png")
        with contextlib.redirect_stdout(printed):
            names = runpy.run_path(str(script))
            names["main"](picture)
        with Image.open(picture) as drawn:
            drawn.convert("RGB").quantize(COLOURS).save(IMAGES / f"{script.stem}.png", optimize=True)
    if moves(script):
        names["film"](IMAGES / f"{script.stem}.gif")
    (PAGES / f"{script.stem}.md").write_text(page(script, printed.getvalue()))


if __name__ == "__main__":
    PAGES.mkdir(exist_ok=True)
    IMAGES.mkdir(exist_ok=True)
    for path in SCRIPTS:
        if not sys.argv[1:] or path.stem in sys.argv[1:]:
            make(path)
    INDEX.write_text(index())
