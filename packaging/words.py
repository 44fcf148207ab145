"""Check the wording of pages, docstrings and messages: exit with an error that lists file, line and phrase.

python packaging/words.py                  check everything: phrases everywhere, `RULES` in the places of `CLEAN`
python packaging/words.py --count          print how often each room breaks each of the rules
python packaging/words.py --list PATH ...  list where these files or folders break them, whether clean or not
"""

import ast
import re
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
# Rooms, folders and files of varint/ that keep the rules for functions: the list grows, and nothing leaves it.
CLEAN = (
    "varint/__init__.py",
    "varint/__main__.py",
    "varint/base/atomic_writes.py",
    "varint/base/callers.py",
    "varint/base/checks.py",
    "varint/base/display.py",
    "varint/base/errors.py",
    "varint/bridges.py",
    "varint/cli",
    "varint/derivatives",
    "varint/drawing",
    "varint/extras",
    "varint/files",
    "varint/formulations.py",
    "varint/geometry",
    "varint/gym.py",
    "varint/kinematics",
    "varint/mathematics",
    "varint/measures",
    "varint/mechanism",
    "varint/meshes",
    "varint/methods",
    "varint/model",
    "varint/plan",
    "varint/plot.py",
    "varint/redmax",
    "varint/results",
    "varint/runs",
    "varint/step/__init__.py",
    "varint/step/ball_pairs.py",
    "varint/step/border.py",
    "varint/step/closure_nodes.py",
    "varint/step/compliant",
    "varint/step/configuration.py",
    "varint/step/constraints.py",
    "varint/step/contacts",
    "varint/step/coordinates.py",
    "varint/step/damping",
    "varint/step/dense.py",
    "varint/step/derivatives",
    "varint/step/double",
    "varint/step/efforts.py",
    "varint/step/energy",
    "varint/step/events.py",
    "varint/step/formulas.py",
    "varint/step/inputs.py",
    "varint/step/intervals.py",
    "varint/step/kept_arrays.py",
    "varint/step/lane_picks.py",
    "varint/step/laws.py",
    "varint/step/ldu.py",
    "varint/step/limits",
    "varint/step/loads.py",
    "varint/step/lower_pairs.py",
    "varint/step/march",
    "varint/step/measures.py",
    "varint/step/meshes",
    "varint/step/momentum.py",
    "varint/step/newton.py",
    "varint/step/nodes",
    "varint/step/one_sided.py",
    "varint/step/pace.py",
    "varint/step/pair_impulses.py",
    "varint/step/pairs.py",
    "varint/step/paths",
    "varint/step/plan.py",
    "varint/step/projection.py",
    "varint/step/rates.py",
    "varint/step/restart.py",
    "varint/step/role.py",
    "varint/step/roles.py",
    "varint/step/rows.py",
    "varint/step/solver_records.py",
    "varint/step/stage_starts.py",
    "varint/step/step.py",
    "varint/step/step_in_numpy.py",
    "varint/step/velocity_steps.py",
    "varint/step/whole_state.py",
    "varint/step/workspace.py",
    "varint/studies",
    "varint/views",
)
EXCEPT = (  # files of these places with public arguments that are called `what` or `found`
    "varint/runs/trajectory.py",
    "varint/studies/spectrum.py",
)
RULES = {  # name: what `broken_rules` reports
    "verb": "a docstring of a function that does not begin with a verb; properties are named by nouns",
    "word": "one of `VAGUE` in the first line of a docstring of a function",
    "name": "a variable or an argument with one of the names `EMPTY`; fields of classes may have them",
    "array": "a compiled function whose docstring does not give an array argument with its shape",
    "write": "a compiled function whose docstring does not say that it writes to an array, or not to which",
}
VERBS = set(
    re.findall(
        r"[\w-]+",
        """
    account accumulate act add adjust adopt advance align allocate allow announce answer append apply arrange ask
    assemble assert assign attach average back-substitute balance begin bind bound bracket break bring build call carry
    change check choose clamp clear clip close collect combine compare compile complete compose compress compute
    condense consider continue convert copy correct count couple create cut declare decide decode define delete derive
    describe detect determine differentiate discard distribute divide do drain draw drive drop eliminate embed emit
    encode end enforce ensure enter estimate evaluate exchange exclude exit expand export extend extrapolate factor
    fetch fill filter find finish fit fix flip flush fold follow forget form format forward free generate get give go
    group guess halve hand handle hash hide hold impose import improve include increase initialise insert integrate
    interpolate interrupt intersect introduce invert iterate join judge keep label leave let limit linearise list load
    locate lock log look make map mark march mask match measure merge minimise mirror mix move multiply name narrow
    negate normalise note notify number observe omit open order orthogonalise overwrite pack pad paint parse pass pick
    place play plot point predict prepare prescribe print produce project propagate propose prune pull push put query
    quote raise read rebuild receive record reduce refine refuse register reject release remember remove rename repeat
    replace report request require rescale reserve reset resize resolve restart restore resume retry return reuse
    reverse rotate round run sample save scale scan search see select send separate serve set shade share sharpen shift
    shorten show shrink simulate sketch skip slice smooth solve sort split spread start state step stop store strip
    substitute subtract sum switch take test time trace track transform translate transpose traverse treat trim try
    turn undo unlock unpack unwrap update use validate verify view visit wait walk warm warn weigh wrap write yield
    """,
    )
)
VAGUE = re.compile(r"\b([Ww]hat|[Tt]hose|none|[Ss]o many)\b")
EMPTY = ("found", "own", "given", "what")
WRITING = re.compile(  # words of a docstring by which a function says that it changes an array
    r"\b(accumulat|add|advanc|appl|chang|clear|cop(y|ies)|divid|eliminat|factor|fill|in place|initialis|invert|keep"
    r"|mark|mov|multipl|overwrit|put|record|remov|replac|reset|restor|revers|rotat|sav|scal|set|shift|solv|sort|start"
    r"|stor|substitut|subtract|swap|turn|updat|writ|zero)",
    re.IGNORECASE,
)
COMPILED = ("njit", "indirect")
PROPERTIES = ("property", "cached_property", "setter")
ARRAY = re.compile(r"^(ReadOnly\[)?(Float|Int|Bool|Byte|Uint|Complex)[1-9]\b")  # annotations

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


def broken_rules(source: str) -> Iterator[tuple[int, str, str]]:
    """Yield line, name of the rule and message for each place of a module's ``source`` that breaks one of `RULES`."""
    tree = ast.parse(source)
    fields = {id(name) for each in ast.walk(tree) if isinstance(each, ast.ClassDef) for name in _field_names(each)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node.id in EMPTY:
            if id(node) in fields:  # of an interface, as the `what` of registered classes
                continue
            yield node.lineno, "name", f"variable {node.id!r}: name what it holds"
        elif isinstance(node, ast.arg) and node.arg in EMPTY:
            yield node.lineno, "name", f"argument {node.arg!r}: name what it holds"
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            decorators = {_last_name(each) for each in node.decorator_list}
            doc = ast.get_docstring(node) or ""
            if doc:
                yield from _first_line(node, doc.split("\n", 1)[0], named=bool(decorators & set(PROPERTIES)))
            if decorators & set(COMPILED):
                yield from _arrays(node, doc)


def _field_names(defined) -> list[ast.expr]:
    """Return the names that the body of a class assigns to."""
    assigned = [each for each in defined.body if isinstance(each, ast.Assign | ast.AnnAssign)]
    return [name for each in assigned for name in (each.targets if isinstance(each, ast.Assign) else [each.target])]


def _first_line(function, line, named) -> Iterator[tuple[int, str, str]]:
    """Yield where the first ``line`` of a docstring breaks the rules "verb" and "word"; ``named``: of a property."""
    number, word = function.body[0].lineno, re.match(r"[\w-]*", line)[0]
    if not named and not (word.lower() in VERBS and word[0].isupper()):
        yield number, "verb", f"{function.name}: docstring begins with {line.split()[0]!r}: begin with a verb (`VERBS`)"
    if vague := VAGUE.search(re.sub(r"`[^`]*`", "", line)):
        yield number, "word", f"{function.name}: {vague[0]!r} in the first line of the docstring: name the thing"


def _arrays(function, doc) -> Iterator[tuple[int, str, str]]:
    """Yield the arrays of a compiled function whose shape, or whose change, its docstring ``doc`` does not give."""
    read, written = _uses(function)
    for name in sorted(read | {each for each in written if "." not in each}):
        if not re.search(
            rf"\b{name}(``)?(,? (and )?``\w+``)*,? \([^()]*,[^()]*\)", doc
        ):  # also ``name``, ``other`` (n, 3)
            yield function.lineno, "array", f"{function.name}: docstring gives no shape: write ``{name}`` (n, 3)"
    for name in sorted(each for each in written if "." in each):
        parts = name.split(".")  # the array, or a record that holds it: ws.ldu.D, ldu.D, D, or ws.ldu
        names = {".".join(parts[k:]) for k in range(len(parts))} | {".".join(parts[:k]) for k in range(2, len(parts))}
        if not any(re.search(rf"``{each}\b", doc) for each in names):
            yield function.lineno, "write", f"{function.name}: docstring does not name what it writes: ``{name}``"
    if written and not WRITING.search(doc):
        yield function.lineno, "write", f"{function.name}: docstring does not say that it writes to {min(written)!r}"


def _uses(function) -> tuple[set[str], set[str]]:
    """Return the arguments that are arrays, and the arrays that a function writes to: ``a``, or ``ws.a`` of a record.

    An argument is an array if its annotation says so, if its shape or size is read, or if an element is read by a
    number that is not written out: tuples are unpacked or read by constants.
    """
    arguments = [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]
    origin = {each.arg: each.arg for each in arguments}
    read = {each.arg for each in arguments if each.annotation and ARRAY.match(ast.unparse(each.annotation))}
    written = set()
    nodes = sorted((node for node in ast.walk(function) if hasattr(node, "lineno")), key=lambda node: node.lineno)
    for node in nodes:
        if isinstance(node, ast.Assign):
            _follow(node.targets[0], node.value, origin)
        elif isinstance(node, ast.Attribute) and node.attr in ("shape", "size"):
            read |= {_path(node.value, origin)}
        elif isinstance(node, ast.Subscript):
            constant = isinstance(node.slice, ast.Constant | ast.UnaryOp)
            if path := _path(node.value, origin):
                read |= set() if constant else {path}
                written |= {path} if isinstance(node.ctx, ast.Store) else set()
    return {path for path in read if path and "." not in path}, written


def _follow(target, value, origin) -> None:
    """Note in ``origin`` the local names that an assignment gives to arguments, or to parts of them."""
    pairs = (
        zip(target.elts, value.elts, strict=False)
        if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple)
        else [(target, value)]
    )
    for name, part in pairs:
        if isinstance(name, ast.Name):
            path = _path(part, origin)
            origin.pop(name.id, None)
            if path:
                origin[name.id] = path


def _path(node, origin) -> str:
    """Return the argument, or the field of one, that an expression is part of; empty if it is something else."""
    if isinstance(node, ast.Name):
        return origin.get(node.id, "")
    if isinstance(node, ast.Attribute):
        return f"{path}.{node.attr}" if (path := _path(node.value, origin)) else ""
    if isinstance(node, ast.Subscript):
        return _path(node.value, origin)
    if (
        isinstance(node, ast.Call)
        and len(node.args) == 1
        and isinstance(node.func, ast.Name)
        and node.func.id.isupper()
    ):
        return _path(node.args[0], origin)  # hints on sizes, as in VECTORS(position)
    return ""


def _last_name(node) -> str:
    """Return the last name of a decorator, called or not."""
    node = node.func if isinstance(node, ast.Call) else node
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")


def rule_complaints(path: Path) -> Iterator[tuple[str, str]]:
    """Yield the name of the rule and a line of text for each of `RULES` that a file breaks."""
    for number, rule, message in sorted(broken_rules(path.read_text(encoding="utf-8"))):
        yield rule, f"{path.relative_to(ROOT)}:{number}: {message}"


def files_of(places) -> list[Path]:
    """Return the Python files of files and folders, named from the root of the repository; exit if one is missing."""
    paths = [ROOT / place for place in places]
    if missing := [str(path) for path in paths if not path.exists()]:
        sys.exit(f"there is no {missing[0]}")
    return sorted({file for path in paths for file in ([path] if path.is_file() else path.rglob("*.py"))})


def print_counts() -> None:
    """Print a table: for each room the places that break each of `RULES`."""
    counts = {}
    for file in files_of(["varint"]):
        room = file.relative_to(ROOT / "varint").with_suffix("").parts[0]
        counts.setdefault(room, Counter()).update(rule for rule, _ in rule_complaints(file))
    counts["all"] = sum(counts.values(), Counter())
    print(f"{'room':14}" + "".join(f"{name:>7}" for name in (*RULES, "all")))
    for room, count in counts.items():
        print(f"{room:14}" + "".join(f"{number:7}" for number in (*(count[name] for name in RULES), count.total())))


if __name__ == "__main__":
    if sys.argv[1:2] == ["--count"]:
        print_counts()
    elif sys.argv[1:2] == ["--list"]:
        print("\n".join(line for file in files_of(sys.argv[2:]) for _, line in rule_complaints(file)))
    else:
        files = [ROOT / "README.md", *(ROOT / "docs").glob("*.md"), *(ROOT / "varint").rglob("*.py")]
        wrong = [line for file in sorted(files) for line in complaints(file)]
        clean = [file for file in files_of(CLEAN) if file not in files_of(EXCEPT)]
        wrong += [line for file in clean for _, line in rule_complaints(file)]
        if wrong:
            sys.exit("\n".join(wrong))
