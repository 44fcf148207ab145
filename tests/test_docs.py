"""The examples of the README and of the tour run, and what they say of the package is so."""

import importlib
import inspect
import json
import re
import runpy
from pathlib import Path

import numpy as np
import pytest

import varint as vi
from varint.model.forces import FORCES
from varint.model.joints import NAMES, REGISTRY
from varint.results.table_columns import GROUPS

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text()
TOUR = (ROOT / "docs" / "tour.md").read_text()


def test_the_readme_says_what_a_stranger_asks_first():
    """Where it runs, what the commands take, what a table compares; a method is explained before it is named."""
    head, *rest = re.split(r"\n\| ", README, maxsplit=1)
    assert re.search(r"Linux.*macOS", README)
    commands = dict(re.findall(r"^(make \w+) +# (.*)$", README, re.M))
    assert {"make demo", "make test"} <= commands.keys()
    assert "minute" in commands["make test"]
    assert README.index("collocation, long ones that solve for several instants") < README.index("vi.Lobatto")
    assert re.search(r"loop|linkage", head)
    assert "its trend" in rest[0]
    assert "energy" in rest[0].split("\n\n")[0]


@pytest.mark.slow
def test_python_examples_run(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)  # they write files
    blocks = re.findall(r"```python\n(.*?)```", README + TOUR, re.S)
    assert len(blocks) > 3
    for block in blocks:
        names = {}
        exec(block, names)
        traj = names["traj"]
        assert traj.success
        assert abs(traj.energy_balance).max() < 1e-2 * traj.kinetic.max()
        assert traj.orientation.shape == (len(traj), len(traj.mechanism.bodies))
        for attribute in re.findall(r"`(\w+)`", TOUR.split("A `Trajectory` has")[1].split("\n\n")[0]):
            assert hasattr(traj, attribute), attribute


def test_reference_is_of_today(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "docs")
    import generate

    assert generate.page() == generate.PAGE.read_text(), "run make docs"
    for name in (*REGISTRY, *FORCES):
        assert f"| `{name}` |" in generate.page()


def test_the_tour_names_what_there_is():
    for section, registry in (("Joints", NAMES), ("Forces", FORCES)):
        listed = TOUR.split(f"**{section}:**")[1].split("\n* **")[0]
        named = set(re.findall(r"`([A-Z]\w+)`", listed))
        assert len(named) > 10
        assert named <= set(registry), section


@pytest.mark.slow
def test_citations_are_in_the_bibliography():
    """Whatever is cited by equation, section or algorithm, and each entry is cited somewhere."""
    page = (ROOT / "docs" / "bibliography.md").read_text()
    entries = set(re.findall(r"^\* \*\*(.+?)\*\*:", page, re.M))
    folders = ("varint", "mechanisms", "tests", "benchmarks", "examples")
    sources = [path for folder in folders for path in (ROOT / folder).rglob("*.py")]
    pages = [ROOT / "README.md", *(p for p in (ROOT / "docs").glob("*.md") if p.name != "bibliography.md")]
    text = "\n".join(path.read_text() for path in (*sources, *pages))
    cited = set(re.findall(r"\b([A-Z]{2,}) (?:eqs?\.|sections?|Alg|Fig|supplement)", text))
    assert len(cited) >= 2
    assert cited <= entries
    for entry in entries:
        assert all(re.search(rf"\b{re.escape(word)}", text) for word in entry.split()), f"{entry} is cited nowhere"


def test_figures_of_the_readme_are_those_of_the_report():
    loops, hour = (
        json.loads((ROOT / "docs" / "report" / f"peers_{name}.json").read_text())["measured"]
        for name in ("loops", "hour")
    )
    lines = [line for line in README.splitlines() if line.startswith("| ")]
    rows = [[cell.replace("*", "").strip() for cell in line.split("|")[2:-1]] for line in lines]
    gaps, four_bar = next(row for row in rows if row[0].startswith("11")), next(row for row in rows if "µs" in row[0])
    ours = [name for name in loops["four-bar"] if name.startswith("variational")]
    columns = [ours, *([name] for name in loops["four-bar"] if name not in ours)]
    for names, gap, figures in zip(columns, gaps, four_bar, strict=True):
        ran = [[of[name] for of in loops.values() if isinstance(of[name], list)] for name in names]
        assert gap == f"{len(ran[0])}, {written(max(one[1] for all_of in ran for one in all_of))} m"
        of_each = [loops["four-bar"][name] for name in names]
        assert figures == "; ".join(f"{written(one[0])}, {float(f'{1e6 * one[2]:.2g}'):g} µs" for one in of_each)
    names = [*ours, "mujoco:rk4", "pinocchio:rk4"]
    largest = [written(max(hour[name]["largest"])) for name in names]
    tenths = [np.reshape(hour[name]["mean"], (10, -1)).mean(axis=1) for name in names]
    trend = [written(each[-1] - each[0]) for each in tenths]
    labels = [line.split("|")[1] for line in lines]
    for which, values in (("an hour", largest), ("trend", trend)):
        shown = next(row for label, row in zip(labels, rows, strict=True) if which in label)
        assert shown[:3] == [f"{values[0]} J; {values[1]} J", f"{values[2]} J", f"{values[3]} J"]


def written(value):
    """One digit and its power of ten, as 2e-3."""
    digits, power = f"{value:.0e}".split("e")
    return f"{digits}e{int(power)}"


def test_nothing_is_left_to_fill_in():
    for page in [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]:
        assert not re.search(r"@[A-Z]+@|TODO|FIXME", page.read_text()), page.name


def test_links_lead_somewhere():
    for page in [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]:
        for target in re.findall(r"\]\(([^)#]+)\)", page.read_text()):
            assert (page.parent / target).exists(), f"{page.name}: {target}"


@pytest.mark.long
@pytest.mark.slow
def test_examples_of_pictures_write_the_pictures_that_are_shown(tmp_path):
    """``make docs`` takes the pictures from them."""
    page = runpy.run_path(str(ROOT / "docs" / "pictures.py"))
    page["write"](tmp_path)
    names = page["shown"](page["PAGES"])
    assert len(names) >= 3
    for name in names:
        moves = name.endswith(".gif")
        assert (tmp_path / name).read_bytes().startswith(b"GIF" if moves else b"\x89PNG")
        assert (ROOT / "docs" / "images" / name).stat().st_size < (1_000_000 if moves else 120_000)


def test_every_public_name_is_documented():
    for name in vi.__all__:
        assert getattr(vi, name).__doc__, name


def test_tables_of_runs_are_those_of_the_registries():
    """``make docs`` writes them."""
    tables = runpy.run_path(str(ROOT / "docs" / "tables.py"))
    pages = [path.read_text() for path in tables["PAGES"]]
    assert [tables["filled"](page) for page in pages] == pages, "run make docs"
    for name in tables["tables"]():
        assert sum(f"<!-- {name} -->" in page for page in pages) == 1, name
    for name in GROUPS:
        assert f'\n| `"{name}"` |' in pages[1]


def test_table_of_the_catalogue_is_of_today():
    """Each mechanism and the facts in its file; the figures are those of the run of `make docs`."""
    table = [line for line in (ROOT / "docs" / "catalogue.md").read_text().splitlines() if line.startswith("| ")][1:]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in table]
    assert [row[0] for row in rows] == list(vi.mechanisms.NAMES), "run make docs"
    for name, *figures in rows:
        facts = vi.mechanisms.module(name).EXPECTED
        fixed = [facts[key] for key in ("bodies", "loops", "rows", "mobility", "redundant")] + [1e3 * facts["dt"]]
        assert [float(cell) for cell in figures[:6]] == pytest.approx(fixed), f"{name}: run make docs"


def test_table_of_the_scenes_is_of_today():
    """What its rows have from the files of the scenes; the figures are those of the run of `make docs`."""
    known = runpy.run_path(str(ROOT / "benchmarks" / "redmax_scenes.py"))["known"]
    page = (ROOT / "docs" / "redmax.md").read_text().splitlines()
    rows = [line for line in page if line.startswith("| `redmax_")]
    assert len(rows) == len(vi.mechanisms.SCENES)
    for line, name in zip(rows, vi.mechanisms.SCENES, strict=True):
        first, last = known(name)
        assert line.startswith(first), "run make docs"
        assert line.endswith(last), "run make docs"


@pytest.mark.parametrize("name", ["Revolute", "Helical"])
def test_joints_in_the_contributing_guide_are_those_of_the_package(name):
    """Each line of the example stands in the source, in the same order."""
    page = (ROOT / "docs" / "contributing.md").read_text()
    (block,) = [block for block in re.findall(r"```python\n(.*?)```", page, re.S) if f"class {name}(" in block]
    source = iter(Path(inspect.getsourcefile(REGISTRY[name])).read_text().splitlines())
    code = [line for line in block.splitlines() if line and '"""' not in line]
    assert len(code) > 5
    for line in code:
        assert line in source, line


@pytest.mark.parametrize(
    "name",
    [
        "README.md",
        "docs/theory.md",
        "docs/redmax.md",
        "docs/compare.md",
        "docs/architecture.md",
        "docs/security.md",
        "docs/reliability.md",
        "docs/contributing.md",
        "docs/mechanism_files.md",
    ],
)
def test_files_that_pages_name_exist(name):
    files = {path.relative_to(ROOT).as_posix() for path in ROOT.glob("[a-z]*/**/*.py")}
    for named in re.findall(r"`([\w/]+\.py)`", (ROOT / name).read_text()):
        assert any(f"/{path}".endswith(f"/{named}") for path in files), named


def test_every_promise_names_the_tests_that_hold_it():
    page = (ROOT / "docs" / "reliability.md").read_text()
    tables = [block for block in page.split("\n\n") if block.startswith("| promise | held by |")]
    promises = [line.strip("| ").split(" | ") for table in tables for line in table.splitlines()[2:]]
    assert len(promises) > 30
    for promise, held in promises:
        named = re.findall(r"`(tests/[\w/]+\.py)`", held)
        assert named, promise
        for name in named:
            assert (ROOT / name).is_file(), name


def test_glossary_agrees_with_the_definitions():
    """Each word of the glossary stands in the docstring of what defines it, and has one line."""
    page = (ROOT / "docs" / "architecture.md").read_text().split("## Glossary")[1].split("\n## ")[0]
    rows = re.findall(r"^\| ([\w -]+) \| .+? \| `([\w.]+)` \|$", page, re.M)
    assert len(rows) > 20
    assert len(rows) == page.count("\n| ") - 1  # all but the heading
    words = [word for word, _ in rows]
    assert len(set(words)) == len(words)
    for word, place in rows:
        module, name = place.rsplit(".", 1)
        defined = getattr(importlib.import_module(module), name)
        text = f"{name} {inspect.getdoc(getattr(defined, 'py_func', defined))}".lower()
        text += inspect.getsource(defined).lower() if inspect.isclass(defined) else ""
        assert word[:-1] in text, f"{word}: not in {place}"


REPLACED = r"\b(gauges?|hung|felt|held rows?|known words)\b"


def test_words_that_were_replaced_do_not_come_back():
    for path in (ROOT / "varint").rglob("*.py"):
        found = re.findall(REPLACED, path.read_text(), re.I)
        assert not found, f"{path}: {found}"


def test_signs_are_as_the_readme_says():
    """Angles and efforts by the right hand about the axis, on body b; reactions are what the joint exerts on body b."""
    body = vi.Body.box("b", (0.1, 0.1, 1.0), 1.0, position=(0, 0, -0.5))
    joint = vi.Revolute("j", "world", "b", point=(0, 0, 0), axis=(0, 1, 0))
    hanging = vi.simulate(vi.Mechanism("hanging", [body], [joint]), 0.01, 0.01)
    assert hanging.reactions["j"].force[0] == pytest.approx([0, 0, 9.81], abs=1e-9)
    motor = vi.Motor("m", joint="j", effort=20.0)
    driven = vi.simulate(vi.Mechanism("driven", [body], [joint], forces=[motor]), 0.1, 0.001)
    assert driven.coordinates["j"][-1] > 0.1
    assert driven.position[-1, 0, 0] == pytest.approx(-0.5 * np.sin(driven.coordinates["j"][-1]))
    assert driven.power["m"][-1] > 0
