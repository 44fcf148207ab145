"""Names with control characters are written as in Python wherever a terminal or a picture shows them."""

import ast
import contextlib
import csv
import io
import json
import re
from pathlib import Path

import numpy as np
import pytest
from matplotlib.text import Text

import varint as vi
from varint.cli import main
from varint.studies.ensembles.table import MemberTable

ESC = "\x1b[31mred\u009b\u202e"
SHOWN = r"\x1b[31mred\x9b\u202e"


@pytest.fixture
def mechanism():
    body = vi.Body(ESC, mass=1.0, inertia=0.1 * np.eye(3), position=(0.5, 0, 0))
    hinge = vi.Revolute(f"h {ESC}", "world", ESC, point=(0, 0, 0), axis=(0, 1, 0))
    motor = vi.Motor(f"f {ESC}", joint=hinge.name, effort=0.1)
    return vi.Mechanism(f"m {ESC}", [body], [hinge], forces=[motor])


def is_clean(text):
    return not any(mark in text for mark in ("\x1b", "\u009b", "\u202e"))


def test_messages_and_displays(mechanism):
    for text in (repr(mechanism), repr(mechanism.bodies[0]), mechanism._repr_html_()):
        assert is_clean(text)
    with pytest.raises(vi.StateError) as error:
        mechanism.state(coordinates={f"x {ESC}": 1.0})
    assert is_clean(str(error.value))
    message = str(vi.ArgumentError(f"body {ESC}"))
    assert message == f"body {SHOWN}"
    assert is_clean(str(vi.LockedWarning(ESC)))


@pytest.mark.parametrize("form", ["toml", "json"])
def test_info(mechanism, form, tmp_path, capsys):
    path = tmp_path / f"a.{form}"
    vi.save_mechanism(mechanism, path)
    for argv in (["info", str(path)], ["info", str(path), "--json"], ["plot", str(path), ESC]):
        with contextlib.suppress(SystemExit):
            main(argv)
        out, err = capsys.readouterr()
        assert is_clean(out + err)
        assert "x1b" in out + err or r"\u001b" in out


def test_tables(mechanism, tmp_path):
    run = vi.simulate(mechanism, 0.01, 0.001)
    run.to_csv(tmp_path / "a.csv", "coordinates", "position", "force", "reactions")
    assert all(map(is_clean, next(csv.reader((tmp_path / "a.csv").read_text("utf-8").splitlines()))))


def test_tables_of_ensembles_come_back(tmp_path):
    members = [{f"p {ESC}": 1.0, "kind": ESC}]
    table = MemberTable(members, tmp_path / "results.csv", lambda parameters: "mark")
    table.write()
    table.add(0, {"status": "error", "message": f"no {ESC}"})
    assert is_clean((tmp_path / "results.csv").read_text("utf-8"))
    again = MemberTable(members, tmp_path / "results.csv", lambda parameters: "mark")
    again.read()
    assert again.values(0) == table.values(0) | {"message": f"no {SHOWN}"}
    assert not again.changed


def test_pictures(mechanism):
    run, hinge = vi.simulate(mechanism, 0.02, 0.01), mechanism.joints[0].name
    figures = [run.plot("energy", "drift", "coordinates")]
    figures += [run.plot("phase"), mechanism.plot(labels=True), mechanism.sweep(hinge, [0.0, 0.1]).plot(of=hinge)]
    shown = ""
    for figure in figures:
        content = io.StringIO()
        figure.savefig(content, format="svg")
        texts = [text.get_text() for text in figure.findobj(Text)]
        assert is_clean(content.getvalue())
        assert all(map(is_clean, texts))
        shown += "".join(texts)
    for name in (mechanism.name, hinge):
        assert name.replace(ESC, SHOWN) in shown


def test_texts_that_are_set_later_are_drawn_printable():
    from varint.drawing.picture import Picture

    figure = Picture()
    axes = figure.add_subplot()
    axes.set(title=ESC, xlabel=ESC, ylabel=ESC)
    axes.annotate(ESC, (0, 0))
    figure.savefig(io.BytesIO(), format="png")
    assert [text.get_text() for text in figure.findobj(Text)].count(SHOWN) == 4


def test_comparisons_and_reports(mechanism, tmp_path):
    found = vi.compare(mechanism, 0.02, (0.01, 0.005))
    found.save(tmp_path / "found.md")
    assert is_clean((tmp_path / "found.md").read_text("utf-8"))
    assert is_clean(found._repr_html_() + repr(found))
    path = tmp_path / f"{ESC}.urdf"
    path.write_text(
        '<robot name="r"><link name="a"/><link name="b\u202e"><inertial><mass value="1"/>'
        '<inertia ixx="1" iyy="1" izz="1"/></inertial><colour/></link><joint name="j\u009b" type="continuous">'
        '<parent link="a"/><child link="b\u202e"/><limit effort="1"/></joint></robot>',
        "utf-8",
    )
    report = vi.load_mechanism(path).import_report
    assert len(report.not_understood) > 0
    for text in (str(report), repr(report), str(mechanism.diagnose())):
        assert is_clean(text)


def test_pages(mechanism):
    run = vi.simulate(mechanism, 0.02, 0.01)
    for page in (vi.show(run), vi.show(run, run, names=[f"x {ESC}", "y"])):
        text = page.html + repr(page)
        assert is_clean(text)
        data = re.search(r'id="data"[^>]*>(.*?)</script>', text, re.DOTALL)[1]
        names = json.dumps(json.loads(data), ensure_ascii=False)
        assert is_clean(names)
        assert json.dumps(SHOWN)[1:-1] in names


def test_sliders_of_a_page_set_what_has_the_name(mechanism):
    live = vi.live(mechanism)
    try:
        answer = live._session.answer
        assert r"\u001b" not in live._session.page
        for name in (f"f {SHOWN}", f"f {ESC}"):
            assert answer({"inputs": {name: 2.0}})["inputs"] == [2.0]
            assert answer({"inputs": {name: 0.0}})["message"] == ""
        assert answer({"coordinates": {f"h {SHOWN}": [0.2]}})["coordinates"] == pytest.approx([0.2])
    finally:
        live.close()


def test_commands_with_names_of_files(mechanism, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    described, ran = f"m{ESC}.toml", f"r{ESC}.h5"
    vi.save_mechanism(mechanism, described)
    run = ["run", described, "--duration", "0.02", "--dt", "0.01", "-o", ran]
    shown = [["info", ran], ["view", ran, "--html", f"v{ESC}.html"], ["info", ESC]]
    for argv in (run, [*run, "--resume"], run, *shown, [ESC]):
        with contextlib.suppress(SystemExit):
            main(argv)
        out, err = capsys.readouterr()
        assert is_clean(out + err)
        assert SHOWN in out + err


FIXED = {"cli/compile_command.py", "cli/warming.py", "cli/view_command.py", "base/numba/cache.py"}


def test_all_prints_of_the_package_are_printable():
    """What is printed goes through `printable`, but for fixed texts and folders of the user's settings."""
    package = Path(vi.__file__).parent
    for path in package.rglob("*.py"):
        text = path.read_text("utf-8")
        for node in ast.walk(ast.parse(text)) if "print(" in text else ():
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "print":
                place = path.relative_to(package).as_posix()
                assert place in FIXED or "printable(" in ast.unparse(node), f"{place}, line {node.lineno}"
