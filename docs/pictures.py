"""Makes the pictures of the pages in PAGES and of gallery.md: ``make docs``.

The examples in the pages write them; those of the gallery are drawn by the scripts in examples/ it links to.
"""

import contextlib
import re
import runpy
import shutil
import tempfile
from pathlib import Path

from PIL import Image

PAGES = [Path(__file__).with_name(name) for name in ("index.md", "quickstart.md", "pictures.md", "analysis.md")]
GALLERY = Path(__file__).with_name("gallery.md")
IMAGES = Path(__file__).with_name("images")
COLOURS = 200  # of a picture, so that it is small


def write(folder: Path) -> None:
    """Run all examples in ``folder``."""
    with contextlib.chdir(folder):
        for page in PAGES:
            names = {}
            for example in re.findall(r"```python\n(.*?)```", page.read_text(), re.S):
                exec(example, names)


def write_gallery(folder: Path) -> None:
    """Run the scripts of the gallery, each with the picture of its name in ``folder``."""
    for script in re.findall(r"\]\((\.\./examples/\w+\.py)\)", GALLERY.read_text()):
        path = GALLERY.parent / script
        runpy.run_path(str(path))["main"](folder / f"{path.stem}.png")


def shown(pages: list[Path]) -> list[str]:
    """The names of the pictures in the pages."""
    return [name for page in pages for name in re.findall(r"\]\(images/(.+?)\)", page.read_text())]


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        write(Path(folder))
        write_gallery(Path(folder))
        for name in shown([*PAGES, GALLERY]):
            if name.endswith(".gif"):
                shutil.copy(Path(folder, name), IMAGES)
                continue
            with Image.open(Path(folder, name)) as picture:
                picture.convert("RGB").quantize(COLOURS).save(IMAGES / name, optimize=True)
