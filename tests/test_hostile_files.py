"""Files that would take time or memory without end: each is refused, or read, in time that grows with its length."""

import contextlib
import itertools
import re
import signal
from pathlib import Path

import pytest

import varint as vi
from varint.files.formats import data, mjcf
from varint.files.mjcf import source
from varint.files.own import toml_places
from varint.files.robots.xml_defects import defects_of, mended
from varint.model import mesh_file

MANY = 100_000  # characters
LONGEST_WAIT = 5  # s of a processor, where quadratic time takes minutes


@contextlib.contextmanager
def ends():
    """Raises TimeoutError where what is inside does not end."""

    def too_long(*_):
        raise TimeoutError(f"no end within {LONGEST_WAIT} s")

    before = signal.signal(signal.SIGPROF, too_long)
    signal.setitimer(signal.ITIMER_PROF, LONGEST_WAIT)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


URDF = (
    '<robot name="r"><link name="a"/><!-- has -- inside --><link name="b"><inertial><mass value="1"/>'
    '<inertia ixx="1" iyy="1" izz="1"/></inertial></link><joint name="j" type="revolute">'
    '<parent link="a"/><child link="b"/></joint></robot>'
)
REPEATED = {
    "comments": "<!-- remark -->\n",
    "instructions": "<?remark ?>\n",
    "blanks": " \n",
    "comments with hyphens": "<!-- a--b -->",
}


@pytest.mark.parametrize("piece", REPEATED.values(), ids=REPEATED.keys())
def test_repeated_markup_before_a_defect(piece, written):
    text = piece * (MANY // len(piece)) + URDF
    with ends():
        mech = vi.load_mechanism(written(text, "r.urdf"), repair=True)
    assert mech.joint("j").dof == 1
    assert "'--'" in mech.import_report.repaired[-1].what


OPEN = {
    "zero bytes": "\0" * MANY + "x",
    "zero bytes in a tag": "<robot " + "\0" * MANY + "/>",
    "tags": "<a" * (MANY // 2),
    "angles": "<" * MANY,
    "quotes": "<a b='" + '"' * MANY,
    "joined attributes": "<a " + "b=''" * (MANY // 4),
    "comments": "<!--" * (MANY // 4),
    "sections": "<![CDATA[" * (MANY // 9),
    "instructions": "<?a" * (MANY // 3),
    "namespaces": "<" + "a:" * (MANY // 2) + "/>",
    "entities": '<!DOCTYPE r [<!ENTITY a "x">' + '<!ENTITY b "&a;&a;">' * (MANY // 20) + "]><r/>",
    "a number": f'<robot name="r"><link name="a"><inertial><mass value="{"1" * MANY}"/></inertial></link></robot>',
}


@pytest.mark.parametrize("text", OPEN.values(), ids=OPEN.keys())
def test_markup_without_end_is_refused(text, written):
    for repair in (False, True):
        with ends(), pytest.raises(vi.VarintError) as problem:
            vi.load_mechanism(written(text, "r.urdf"), repair=repair)
        assert len(str(problem.value)) < 1000
    with ends():
        content = text.encode()
        mended(content, defects_of(content))


PIECES = ('"', "'", '"""', "'''", '\\"', "\\", '"\\"', "[", "a", "a.", "a = 1\n", " ", "\n", "-", "inf", "nan", "1e",
          ",", ":", '":', '"a', "# a", "Element name ", "line ", ", ", "\0", "f ", "0", "00 ", "f 0x ")  # fmt: skip
PATTERNS = {
    "TOML": toml_places.TOKENS,
    "JSON": data.TOKENS,
    "numbers of MJCF": source.NO_NUMBER,
    "lines of the compiler": mjcf.LINE,
    "faces of OBJ": mesh_file.OBJ_ZERO,
}


@pytest.mark.parametrize("pattern", PATTERNS.values(), ids=PATTERNS.keys())
def test_patterns_do_not_backtrack(pattern):
    for first, piece in itertools.product(("", '"', "'''"), PIECES):
        text = first + piece * (MANY // 4 // len(piece))  # quadratic time: half a minute a piece
        text = text.encode() if isinstance(pattern.pattern, bytes) else text
        with ends():
            assert sum(len(match.group()) for match in pattern.finditer(text)) <= len(text)


def test_colon_is_looked_for_at_one_place():
    with ends():
        assert data.COLON.match(" " * MANY + "x") is None


def test_all_patterns_of_the_readers_are_looked_at():
    """A new pattern has to be put into `PATTERNS`, or be one of those that are matched against short texts."""
    short = {"BARE", "OF_A_FRESH", "OF_TAGS", "BEGINS_NAME"}  # or have no repetition
    names = set()
    package = Path(vi.__file__).parent
    for path in [*package.joinpath("files").rglob("*.py"), package / "model" / "mesh_file.py"]:
        names |= set(re.findall(r"^(\w+) = re\.compile", path.read_text("utf-8"), re.MULTILINE))
    assert names - short == {"TOKENS", "COLON", "NO_NUMBER", "LINE", "OBJ_ZERO"}


def test_places_in_messages_of_the_compiler_are_left_out():
    cut = mjcf._without_place
    assert cut("XML Error: no body 'b', Element name 'x', id 3, line 12") == "XML Error: no body 'b'"
    assert cut("Error: too long, line 4 and more") == "Error: too long"
    assert cut("a line without a number") == "a line without a number"
    with ends():
        assert cut("Element name " * MANY + "line 3") == ""
        assert cut("Element name " * MANY).startswith("Element name ")


@pytest.mark.slow
def test_many_mistakes_are_told_in_linear_time(written):
    count = 3000
    tables = "".join(f"[bodies.b{k}]\nmas = 1.0\n" for k in range(count))
    entries = ",\n".join('{"name": "b", "mas": 1}' for _ in range(count))
    for name, text in {"m.toml": tables, "m.json": f'{{"name": "m", "bodies": [{entries}], "joints": []}}'}.items():
        with ends(), pytest.raises(vi.VarintError, match="and 5980 more"):
            vi.load_mechanism(written(text, name))


@pytest.mark.parametrize("line", ["a{} = 1", "[a{}]", "[[a{}]]", "x = {{ a{} = 1 }}"])
def test_a_key_of_many_parts_is_refused(line, written):
    with ends(), pytest.raises(vi.FileError, match=r"line 2.*a key of more than 64 parts"):
        vi.load_mechanism(written("# first\n" + line.format(".a" * (MANY // 2)), "m.toml"))


def test_dots_in_texts_and_comments_are_no_keys():
    dots = "." * MANY
    text = f'# {dots}\na = \'{dots}\'\nb = """\n{dots}"""\nc = [{"1.5, " * MANY}]\n'
    assert toml_places.too_long_key(text) is None
    assert toml_places.too_long_key("a" + ".a" * 63 + " = 1") is None
    assert toml_places.too_long_key("a" + ".a" * 64 + " = 1") is not None
