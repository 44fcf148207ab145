"""The site is built without a warning, and its links lead somewhere."""

import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

import pytest

import varint as vi

ROOT = Path(__file__).parent.parent


class Page(HTMLParser):
    """Links and anchors of a page."""

    def __init__(self, text):
        super().__init__()
        self.links, self.anchors = [], set()
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        self.links += [given[key] for key in ("href", "src") if given.get(key)]
        self.anchors |= {given["id"]} if given.get("id") else set()


@pytest.mark.slow
def test_site_has_no_warnings_and_no_broken_links(tmp_path):
    for package in ("sphinx", "myst_parser", "numpydoc", "furo"):
        pytest.importorskip(package)
    command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-b", "html", ROOT / "docs", tmp_path]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    pages = {path.resolve(): Page(path.read_text()) for path in tmp_path.rglob("*.html")}
    assert len(pages) > 50
    for path, page in pages.items():
        for link in page.links:
            place, _, anchor = link.partition("#")
            if re.match(r"[a-z]+:", link):
                continue
            target = (path.parent / unquote(place.partition("?")[0])).resolve() if place else path
            assert target.exists(), f"{path.name}: {link}"
            if anchor and target in pages and path.name != "genindex.html":
                assert unquote(anchor) in pages[target].anchors, f"{path.name}: {link}"


def test_interface_has_everything_public():
    page = (ROOT / "docs" / "api.md").read_text()
    tables = (ROOT / "docs" / "reference.md").read_text()
    for name in set(vi.__all__) - {"mechanisms"}:
        assert re.search(rf"auto\w+:: (varint\.)?{name}$", page, re.M) or f"| `{name}` |" in tables, name


def test_every_page_is_in_the_site():
    listed = re.findall(r"^[a-z_]+$", (ROOT / "docs" / "index.md").read_text(), re.M)
    assert sorted([*listed, "index"]) == sorted(path.stem for path in (ROOT / "docs").glob("*.md"))
