"""Runs the examples of pictures.md, which write the pictures that it shows: ``make docs``."""

import contextlib
import re
import tempfile
from pathlib import Path

from PIL import Image

PAGE = Path(__file__).with_name("pictures.md")
IMAGES = PAGE.with_name("images")
COLOURS = 96  # of a picture, so that it is small


def write(folder: Path) -> None:
    """Run all examples in ``folder``."""
    with contextlib.chdir(folder):
        for example in re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.S):
            exec(example, {})


def shown() -> list[str]:
    """The names of the pictures in the page."""
    return re.findall(r"\]\(images/(.+?)\)", PAGE.read_text())


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        write(Path(folder))
        for name in shown():
            with Image.open(Path(folder, name)) as picture:
                picture.convert("RGB").quantize(COLOURS).save(IMAGES / name, optimize=True)
