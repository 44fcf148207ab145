"""Runs the examples of pictures.md and analysis.md, which write the pictures that these show: ``make docs``."""

import contextlib
import re
import tempfile
from pathlib import Path

from PIL import Image

PAGES = [Path(__file__).with_name(name) for name in ("pictures.md", "analysis.md")]
IMAGES = Path(__file__).with_name("images")
COLOURS = 96  # of a picture, so that it is small


def write(folder: Path) -> None:
    """Run all examples in ``folder``."""
    with contextlib.chdir(folder):
        for page in PAGES:
            for example in re.findall(r"```python\n(.*?)```", page.read_text(), re.S):
                exec(example, {})


def shown() -> list[str]:
    """The names of the pictures in the pages."""
    return [name for page in PAGES for name in re.findall(r"\]\(images/(.+?)\)", page.read_text())]


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        write(Path(folder))
        for name in shown():
            with Image.open(Path(folder, name)) as picture:
                picture.convert("RGB").quantize(COLOURS).save(IMAGES / name, optimize=True)
