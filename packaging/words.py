"""Check the wording of pages, docstrings and messages: exit with an error that lists file, line and phrase."""

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
WORDS = {  # phrase: wording of the field
    r"(?<!`)\b([Tt]ells?|told|telling)\b(?! :)": "report, show, give",
    r"\b[Aa]s of `": "as in, see",
    r"\bmended\b": "corrected",
    r"\bstrangers\b": "untrusted",
    r"\bno say\b": "without effect",
    r"\bin silence\b|\bwithout a word\b": "silently",
    r"\b32 digits\b|\bextended numbers?\b": "double-double",
    r"\bways of points\b|\bway of (a|the|its) (point|foot|centre)\b|\bon the way\b|\bthe way back\b": "path",
    r"\bgives? way\b": "is replaced, yields",
    r"\bways? to move\b": "degrees of freedom",
    r"\bas exact\b": "as accurate",
    r"\btakes? energy out\b": "dissipate energy",
    r"\bturned over\b": "flipped branch",
    r"\bof which a file\b": "not imported",
    r"\bcall(ed)? (it |that [a-z ]*)?otherwise\b": "rename",
    r"\bthat there (is|are) none of\b": "unknown",
    r"\b[Ww]hat is said\b": "message",
    r"\bof one's own\b": "user-defined",
    r"\bmet without speed\b": "reached with zero speed",
}
ANY = re.compile("|".join(WORDS))
OPENINGS = re.compile(  # of docstrings
    r"(Of|What|By|At|As|How|Where|When|From|For|In|To|That|Those|Through|Until|After|Before|Between|None|Nothing"
    r"|Whether there is none)\b"
)


def texts(path: Path) -> Iterator[tuple[int, str, bool]]:
    """Number and text of each line of prose or of a string; whether it is the first line of a docstring."""
    source = path.read_text(encoding="utf-8")
    if path.suffix == ".md":
        prose = re.sub(r"```.*?```", lambda code: "\n" * code[0].count("\n"), source, flags=re.DOTALL)
        yield from ((number, line, False) for number, line in enumerate(prose.split("\n"), 1))
        return
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef | ast.ClassDef | ast.Module) and (doc := ast.get_docstring(node)):
            yield node.body[0].lineno, doc.split("\n", 1)[0], True
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield from ((node.lineno + k, line, False) for k, line in enumerate(node.value.split("\n")))


def complaints(path: Path) -> Iterator[str]:
    """One line for each phrase of the file that `WORDS` or `OPENINGS` name."""
    for number, text, first in texts(path):
        if first and (opening := OPENINGS.match(text)):
            yield f"{path.relative_to(ROOT)}:{number}: docstring opens with {opening[0]!r}: begin with a noun or a verb"
        for phrase, better in WORDS.items() if not first and ANY.search(text) else ():
            if used := re.search(phrase, text):
                yield f"{path.relative_to(ROOT)}:{number}: {used[0]!r}: write {better}"


if __name__ == "__main__":
    files = [ROOT / "README.md", *(ROOT / "docs").glob("*.md"), *(ROOT / "varint").rglob("*.py")]
    if wrong := [line for file in sorted(files) for line in complaints(file)]:
        sys.exit("\n".join(wrong))
