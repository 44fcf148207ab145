"""How many files an extension touches: each joint, mechanism ... is known to one file of the package.

The rule. A *kind* is an entry of a registry. The *machinery* is every file of ``varint/``; it treats all kinds of a
registry alike. A file of it *touches* a kind that is a class where it defines the class, imports it or its module, or
has its name as a whole string (a key, an argument, a comparison). It touches a kind that is a key of text where it has
the key as a whole string. Comments and docstrings do not count, nor does a key as the default of a parameter: some kind
has to be the default.

Files that describe something with kinds that exist, as a user does, are no machinery:

* ``mechanisms/``: the catalogue is built from joints, forces and other mechanisms;
* a file that defines kinds: it may derive from a kind of the same registry, and a force names the kind of its measure;
* ``DESCRIBES``: the few files that make a description for the user, with the reason.

Tests, tables in the documents and choices of the command line come from the registries and are not counted.

Measures. Names of kinds are everyday words (point, length, angle): a string touches a kind only where a kind is
asked for (``number_of(...)``, ``KINDS[...]``, ``kind = ...``, a comparison with something called kind), and an import
where it brings the kind's module, a class of it, or the constant with its number. Joints and forces are described with
measures as a mechanism with joints: their files are no machinery here. One exception, `FAST_PATHS`: points, axes and
distances make up every lower pair and are evaluated together in the fused rows, which the speed of a step rests on;
joints of points and axes are known as lower pairs where joints are compiled;
tests/test_measures.py holds them against the measures. The same kinds are evaluated with 32 digits in the last
increment of a stage; tests/test_extended.py holds that against decimals. And rows of products of exponentials share
what they solve for: their numbers are a table of its own, made where joints are compiled. Lengths and wraps along the
paths of muscles are evaluated together; tests/test_paths.py holds them against the measures.

Laws. A law is touched by a file that imports it, asks ``LAWS`` for it, or has its name as a whole string where that is
no argument of all laws (``VARIABLES``). Files of forces use each other's laws.

`SOLVED_ELSEWHERE`: friction inside a joint is no law: a reduced step solves for it, in a file that has to know it.
"""

import ast
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from pathlib import Path

import pytest
from parsed_sources import tree_of

import varint as vi
from varint.extras.peers import simulators
from varint.files.formats import FORMATS
from varint.measures import KINDS
from varint.methods.reduced.integrators import INTEGRATORS
from varint.methods.variational.schemes import SCHEMES
from varint.model.forces import FORCES
from varint.model.forces.law import LAWS, VARIABLES
from varint.model.joints import REGISTRY
from varint.results.derived import QUANTITIES

pytestmark = pytest.mark.slow  # all sources are read for each registry

ROOT = Path(__file__).parent.parent
DESCRIBES = {
    "varint/results/beam_deflection.py": "reports how far the nodes of a beam move",
    "varint/results/section_forces.py": "reports what acts within the elements of a beam",
    "varint/results/stiff_damping.py": "judges the damping of the elements of a beam",
    "varint/derivatives/linear/holding.py": "takes drives as motors at their coordinates",
    "varint/files/robots/kinds.py": "names what robots in URDF, SDF and MJCF are described with",
    "varint/kinematics/beam_strains.py": "keeps the elements of a beam unstrained at the start",
    "varint/model/beam.py": "returns bodies, joints and elements to add to a mechanism",
    "varint/model/deformable.py": "returns bodies, joints and springs to add to a mechanism",
    "varint/model/forces/joint_compliance.py": "gives a joint its springs",
    "varint/model/muscle_mass.py": "returns particles, joints and couplings to add to a mechanism",
    "varint/methods/reduced/tree.py": "gives a group that floats its Free joint",
    "varint/cli/warming.py": "runs mechanisms of every kind, as a user does, so that all is compiled",
}
FUSED = {"varint/step/measures.py", "varint/step/rows.py", "varint/step/double/rows.py"}
BEAMS = {"varint/plan/roles.py", "varint/step/compliant/beams.py", "varint/step/compliant/beam_steps.py"}
FAST_PATHS = {
    "point": FUSED | {"varint/step/newton.py", "varint/plan/joints.py"},
    "axis": FUSED | {"varint/plan/joints.py"},
    "distance": FUSED,
    "product": {"varint/plan/joints.py"},
    "middle": BEAMS,
    "rotation": BEAMS,
    "length": {"varint/step/paths/measures.py"},
    "angle": {"varint/step/measures.py", "varint/step/efforts.py", "varint/plan/joints.py"},
    "wrap": {"varint/step/paths/measures.py"},
}
FAST_LAWS = {"spring": {"varint/step/laws.py"}}
SOLVED_ELSEWHERE = {
    "HardContact": {"varint/methods/reduced/ground.py", "varint/results/contact_forces.py"},
    "JointCoulombFriction": {"varint/methods/reduced/bearing_friction.py"},
}
# the public function of that name;
# the table of a comparison, which holds no mechanism; files of examples that say what they are; scripts of methods;
# sources in the fingerprint of an ensemble
OTHER_MEANING = {
    "cable": {"varint/__init__.py"},
    "euler": {"varint/files/mjcf/repair.py"},  # angles
    "matrix": {"varint/model/forces/coordinate_map.py"},
    ".json": {"varint/studies/comparison/files.py"},
    "mujoco": {  # the first element of a file, a package, curves of muscles
        "varint/files/formats/mjcf.py",
        "varint/files/mjcf/models.py",
        "varint/files/mjcf/muscles.py",
        "varint/files/mjcf/source.py",
        "varint/files/robots/xml_files.py",
        "varint/model/forces/musculotendon.py",
    },
    ".py": {"varint/cli/compare_command.py", "varint/cli/examples_command.py", "varint/studies/ensembles/origin.py"},
    ".toml": {"varint/cli/examples_command.py"},
}
USERS = ("varint/model/joints/", "varint/model/forces/")  # files that describe with measures and laws
ABOUT_QUANTITIES = ("varint/studies/comparison/",)  # pages about chosen quantities
PEERS = "varint/extras/peers/"  # simulators have integrators of their own


@dataclass
class Names:
    """What the code of a file names.

    imports : modules and names; classes : that it defines; strings : whole ones; kinds : strings where a kind is asked
    for; laws : those where a law is; results : attributes of what is called a run or a trajectory
    """

    imports: set[str] = field(default_factory=set)
    classes: set[str] = field(default_factory=set)
    strings: set[str] = field(default_factory=set)
    kinds: set[str] = field(default_factory=set)
    laws: set[str] = field(default_factory=set)
    results: set[str] = field(default_factory=set)


def names_in(text: str) -> Names:
    return names_of(ast.parse(text))


def names_of(tree: ast.AST) -> Names:
    """Without comments, docstrings and the defaults of parameters."""
    names, silent = Names(), set()
    for node in ast.walk(tree):
        match node:
            case ast.Expr(value=ast.Constant() as docstring):
                silent.add(docstring)
            case ast.arguments():
                silent |= {*node.defaults, *node.kw_defaults}
            case ast.JoinedStr():
                silent |= {*node.values}
            case ast.Call(func=ast.Name(id="number_of" | "register"), args=[ast.Constant(value=str(kind)), *_]):
                names.kinds.add(kind)
            case ast.Call(func=ast.Name(id="Law" | "_law"), args=[ast.Constant(value=str(law)), *_]):
                names.laws.add(law)
            case ast.Subscript(value=ast.Name(id="KINDS"), slice=ast.Constant(value=str(kind))):
                names.kinds.add(kind)
            case ast.Subscript(value=ast.Name(id="LAWS"), slice=ast.Constant(value=str(law))):
                names.laws.add(law)
            case ast.Assign(targets=[ast.Name(id="kind")], value=ast.Constant(value=str(kind))):
                names.kinds.add(kind)
            case ast.Compare() if "kind" in ast.unparse(node.left):
                named = (constant for part in node.comparators for constant in ast.walk(part))
                names.kinds |= {c.value for c in named if isinstance(c, ast.Constant) and isinstance(c.value, str)}
            case ast.Attribute(value=ast.Name(id="run" | "trajectory" | "traj"), attr=result):
                names.results.add(result)
            case ast.ClassDef():
                names.classes.add(node.name)
            case ast.Import():
                names.imports |= {alias.name for alias in node.names}
            case ast.ImportFrom():
                names.imports |= {f"{node.module}.{alias.name}" for alias in node.names} | {str(node.module)}
            case ast.Constant(value=str()) if node not in silent:
                names.strings.add(node.value)
    return names


@cache
def machinery() -> dict[str, Names]:
    """Path to the names in it, of each file that describes nothing."""
    files = {str(path.relative_to(ROOT)): path for path in sorted((ROOT / "varint").rglob("*.py"))}
    return {name: names_of(tree_of(path)) for name, path in files.items() if name not in DESCRIBES}


def files_of_class(cls: type, registry: dict[str, type], sources: dict[str, Names]) -> set[str]:
    """Files that touch a class of ``registry``; those that define other classes of it may derive from this one."""
    name, own = cls.__name__, path_of(cls.__module__)
    family = {path_of(other.__module__) for other in registry.values()} - {own}
    found = set()
    for path, names in sources.items():
        if path in family:
            continue
        package = cls.__module__.rpartition(".")[0]
        imported = {
            cls.__module__,
            *(f"{place}.{name}" for place in ("varint", package, cls.__module__)),
        } & names.imports
        if imported or name in names.strings or (path == own and name in names.classes):
            found.add(path)
    return found


def files_of_key(key: str, sources: dict[str, Names]) -> set[str]:
    """Files that touch a kind that is a key of text."""
    return {path for path, names in sources.items() if key in names.strings}


def path_of(module: str) -> str:
    return module.replace(".", "/") + ".py"


def in_one_file_each(found: dict[str, set[str]]):
    """Raises AssertionError with the kinds that no file or more than one file touches."""
    assert found
    assert not {kind: sorted(files) for kind, files in found.items() if len(files) != 1}


def test_the_counter_sees_code_only():
    text = (
        '"""Revolute."""\nfrom varint.model.joints import Prismatic\n# Spherical\n'
        'def f(kind="Rod"):\n    """Fixed"""\n    return kind == "Planar" or "has Free"\n'
    )
    names = names_in(text)
    assert names.strings == {"Planar", "has Free"}
    assert names.imports == {"varint.model.joints", "varint.model.joints.Prismatic"}


@pytest.mark.slow
def test_the_counter_finds_a_second_file():
    sources = {"a.py": names_in('KEYS = {"euler": 1, "bdf1": 2}'), "b.py": names_in('fast = kind == "euler"')}
    assert files_of_key("euler", sources) == {"a.py", "b.py"}
    in_one_file_each({"bdf1": files_of_key("bdf1", sources)})
    for key in ("euler", "bdf3"):
        with pytest.raises(AssertionError):
            in_one_file_each({key: files_of_key(key, sources)})
    for code in ("from varint.model.joints import Revolute", "import varint.model.joints.revolute", 'x = {"Revolute"}'):
        found = files_of_class(vi.Revolute, REGISTRY, machinery() | {"varint/other.py": names_in(code)})
        assert found == {"varint/model/joints/revolute.py", "varint/other.py"}


def test_files_that_describe_exist():
    assert all((ROOT / path).exists() for path in DESCRIBES)


@pytest.mark.slow
def test_a_joint_is_one_file():
    in_one_file_each({name: files_of_class(cls, REGISTRY, machinery()) for name, cls in REGISTRY.items()})


@pytest.mark.slow
def test_a_mechanism_is_one_file():
    """The catalogue finds its files; nothing else of the package names one."""
    files = {path.stem for path in (ROOT / "mechanisms").glob("[!_]*.py")}
    assert files == set(vi.mechanisms.ALL)
    finder = {"mechanisms/__init__.py": names_in((ROOT / "mechanisms" / "__init__.py").read_text())}
    assert not {name: found for name in files if (found := files_of_key(name, machinery() | finder))}


def files_of_measure(kind: str, sources: dict[str, Names]) -> set[str]:
    """Files that ask for the kind, or import its module, a class of it from anywhere, or the constant of its number."""
    module = KINDS[kind].evaluate.__module__
    own = {f".{name}" for name in sources[path_of(module)].classes - {"Facts"}} | {f".{kind.upper()}"}
    found = set()
    for path, names in sources.items():
        imported = module in names.imports or any(name.endswith(tuple(own)) for name in names.imports)
        if path == path_of(module) or kind in names.kinds or imported:
            found.add(path)
    family = {path_of(other.evaluate.__module__) for other in KINDS.values()} - {path_of(module)}
    return {path for path in found - family if not path.startswith(USERS)}


def files_of_law(name: str, sources: dict[str, Names]) -> set[str]:
    """Files with the law's name, or that import it from the file of its force."""
    home = next(path for path, names in sources.items() if name in names.laws and path.startswith(USERS))
    module = home.removesuffix(".py").replace("/", ".")
    constants = {f"{module}.{key}" for key, value in vars(import_module(module)).items() if value is LAWS[name]}
    found = {home}
    for path, names in sources.items():
        named = name in names.laws or (name in names.strings and name not in VARIABLES)
        if named or (constants & names.imports and not path.startswith(USERS)):
            found.add(path)
    return found


def test_the_counter_finds_kinds_where_they_are_asked_for():
    text = 'a = number_of("point")\nb = kind != "axis"\nc = KINDS["length"]\nd = {"angle": 1}\ne = LAWS["spring"]'
    names = names_in(text)
    assert names.kinds == {"point", "axis", "length"}
    assert names.laws == {"spring"}
    other = machinery() | {"varint/other.py": names}
    assert "varint/other.py" in files_of_measure("axis", other) & files_of_law("spring", other)
    assert "varint/other.py" not in files_of_measure("angle", other)
    imported = names_in("from varint.step.measures import AXIS\nfrom varint.measures.frame import curve_frame")
    other = machinery() | {"varint/other.py": imported}
    assert "varint/other.py" in files_of_measure("axis", other) & files_of_measure("frame", other)
    imported = names_in("from varint.model.forces.spring import SPRING")
    assert "varint/other.py" in files_of_law("spring", machinery() | {"varint/other.py": imported})


def test_a_kind_of_measure_is_one_file_but_for_the_fast_path():
    found = {kind: files_of_measure(kind, machinery()) for kind in KINDS}
    for kind, files in FAST_PATHS.items():
        assert files <= found[kind]  # an exception that is none any more is taken out
    in_one_file_each({kind: files - FAST_PATHS.get(kind, set()) for kind, files in found.items()})


def test_a_law_is_one_file():
    found = {name: files_of_law(name, machinery()) for name in LAWS}
    for name, files in FAST_LAWS.items():
        assert files <= found[name]  # an exception that is none any more is taken out
    exceptions = {name: FAST_LAWS.get(name, set()) | OTHER_MEANING.get(name, set()) for name in LAWS}
    in_one_file_each({name: files - exceptions[name] for name, files in found.items()})


def test_a_force_is_one_file():
    found = {name: files_of_class(cls, FORCES, machinery()) for name, cls in FORCES.items()}
    for name, files in SOLVED_ELSEWHERE.items():
        assert files <= found[name]
    in_one_file_each({name: files - SOLVED_ELSEWHERE.get(name, set()) for name, files in found.items()})


def test_a_scheme_is_one_entry():
    found = {name: files_of_key(name, machinery()) for name in SCHEMES}
    in_one_file_each(found)
    assert set.union(*found.values()) == {"varint/methods/variational/schemes.py"}


def test_a_reduced_integrator_is_one_file():
    """By its name and by its class; ``euler`` is a default of none."""
    found = {}
    for name, kind in INTEGRATORS.items():
        files = files_of_key(name, machinery()) | files_of_class(kind, INTEGRATORS, machinery())
        found[name] = {path for path in files if not path.startswith(PEERS)} - OTHER_MEANING.get(name, set())
    in_one_file_each(found)


def test_a_simulator_is_one_file_and_a_name_of_the_registry():
    for name in simulators():
        registered = files_of_key(name, machinery()) - {f"{PEERS}base.py"} - OTHER_MEANING.get(name, set())
        assert registered == {f"{PEERS}{name}.py"}


def test_a_format_is_one_file():
    in_one_file_each({name: files_of_key(name, machinery()) - OTHER_MEANING.get(name, set()) for name in FORMATS})


def test_a_quantity_is_one_entry():
    """Summary, pictures and trajectories take what there is from the registry."""
    home = "varint/results/derived.py"
    registered = {node.name for node in ast.parse((ROOT / home).read_text()).body if isinstance(node, ast.FunctionDef)}
    assert set(QUANTITIES) <= registered
    for path, names in machinery().items():
        if path != home and not path.startswith(ABOUT_QUANTITIES):
            assert not set(QUANTITIES) & names.results, path
