"""The forces that each analysis supports: one table, for error messages and for docs/known_forces.md.

A use, such as a gradient, refuses the forces that have some *traits*, such as an input with one value per node.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from varint.base.errors import ArgumentError
from varint.model.collision_shapes import CylinderShape, HeightField
from varint.model.forces.base import BearingFriction, BodyContact, Effort, Force, PlaneContact
from varint.model.forces.commanded import Commanded, Extrapolated
from varint.model.forces.coupled import Coupled
from varint.model.forces.driven import Driven
from varint.model.forces.joint_compliance import JointCompliance
from varint.model.forces.moved import Moved
from varint.model.forces.path import PathInertia
from varint.model.forces.soft_mesh import SoftMesh
from varint.model.forces.velocity_rows import VelocityRows

if TYPE_CHECKING:
    from varint.model.structure import Structure


class Trait(NamedTuple):
    """A property of a force.

    which : forces that have it, for the page
    has : whether a force of a structure has it
    acts : predicate that follows the name of the force in an error
    remedy : what to do
    """

    which: str
    has: Callable[["Structure", Force], bool]
    acts: str
    remedy: str


class Use(NamedTuple):
    """A use of a mechanism.

    asked : what users write for it
    plural : a noun in the plural, for errors
    refuses : names of the traits in `TRAITS` that this use does not support
    """

    asked: str
    plural: str
    refuses: tuple[str, ...] = ()


def acts_by_impulses(structure: "Structure", force: Force) -> bool:
    """Return whether a force is joint friction from the load."""
    return any(isinstance(element, BearingFriction) for element in force.elements(structure))


def rubs_along_several(structure: "Structure", force: Force) -> bool:
    """Return whether a force is joint friction from the load, in a joint of several coordinates."""
    frictions = (element for element in force.elements(structure) if isinstance(element, BearingFriction))
    return any(element.measure is None for element in frictions)


def rubs_beside(structure: "Structure", force: Force) -> bool:
    """Return whether a force is joint friction from the load, in a mechanism with contacts, meshes or path masses."""
    if not acts_by_impulses(structure, force):
        return False
    beside = is_contact, is_deformable, has_path_mass
    return any(has(structure, other) for other in structure.forces for has in beside)


def has_path_mass(structure: "Structure", force: Force) -> bool:
    """Return whether a force has mass that moves with its path."""
    return any(isinstance(element, PathInertia) for element in force.elements(structure))


def has_mass_around(structure: "Structure", force: Force) -> bool:
    """Return whether a force has mass that moves with its path around a surface."""
    return any(element.wraps for element in force.elements(structure) if isinstance(element, PathInertia))


def has_sharp_mass(structure: "Structure", force: Force) -> bool:
    """Return whether a force has mass that meets a surface in impacts."""
    inertias = (element for element in force.elements(structure) if isinstance(element, PathInertia))
    return any(wrap.smoothing == 0.0 for inertia in inertias for wrap in inertia.wraps)


def wraps(structure: "Structure", force: Force) -> bool:
    """Return whether a force leads around surfaces, so that its effort depends on three bodies at once."""
    efforts = (element for element in force.elements(structure) if isinstance(element, Effort))
    return any(measure.of_three for effort in efforts for measure in effort.measures)


def is_hard(structure: "Structure", force: Force) -> bool:
    """Return whether a force is a hard stop, which acts in impacts located within the step."""
    return any(element.terms for element in force.elements(structure) if isinstance(element, Effort))


def is_contact(structure: "Structure", force: Force) -> bool:
    """Return whether a force is a hard contact."""
    return any(isinstance(element, PlaneContact | BodyContact) for element in force.elements(structure))


def is_body_contact(structure: "Structure", force: Force) -> bool:
    """Return whether a force is a hard contact between shapes of bodies."""
    return any(isinstance(element, BodyContact) for element in force.elements(structure))


def resists_rolling(structure: "Structure", force: Force) -> bool:
    """Return whether a force is a contact with rolling resistance."""
    return any(element.rolling > 0.0 for element in force.elements(structure) if isinstance(element, BodyContact))


def has_rims(structure: "Structure", force: Force) -> bool:
    """Return whether a force is a contact of shapes with rims, or of height fields."""
    return any(
        isinstance(shape, CylinderShape | HeightField)
        for element in force.elements(structure)
        if isinstance(element, BodyContact)
        for shape in (*element.shapes, *element.other_shapes)
    )


def is_impulsive(structure: "Structure", force: Force) -> bool:
    """Return whether a force is a hard stop, joint friction or a hard contact."""
    return any(has(structure, force) for has in (acts_by_impulses, is_hard, is_contact))


def is_deformable(structure: "Structure", force: Force) -> bool:
    """Return whether a force is a deformable body."""
    return any(isinstance(element, SoftMesh) for element in force.elements(structure))


def is_soft_beside_events(structure: "Structure", force: Force) -> bool:
    """Return whether a force is of a compliant joint, in a mechanism with events or deformable bodies."""
    if not isinstance(force, JointCompliance):
        return False
    return any(has(structure, other) for other in structure.forces for has in (is_hard, is_contact, is_deformable))


def has_internal_variable(structure: "Structure", force: Force) -> bool:
    """Return whether a law of a force has an internal variable, which a `State` does not hold."""
    return any(element.law.has_state for element in force.elements(structure) if isinstance(element, Effort))


def has_series(structure: "Structure", force: Force) -> bool:
    """Return whether an input of a force has one value per node."""
    if isinstance(force, Moved):
        return any(np.ndim(value) > 1 for value in vars(force).values())
    return isinstance(force, Commanded) and isinstance(force.input, np.ndarray) and force.input.ndim > 0


def has_feedback(structure: "Structure", force: Force) -> bool:
    """Return whether the input of a force is a function of the state."""
    return isinstance(force, Commanded) and callable(force.input) and not force.of_time


def is_extrapolated(structure: "Structure", force: Force) -> bool:
    """Return whether the input of a force is a function of the state that is extrapolated over a step."""
    return isinstance(force, Commanded) and isinstance(force.input, Extrapolated)


def _prescribes_several(structure: "Structure", force: Force) -> bool:
    return isinstance(force, Driven) and structure.joint(force.joint).dof > 1


TRAITS = {
    "impulses": Trait(
        "joint friction from the normal load",
        acts_by_impulses,
        "is friction of a joint from its load",
        "use varint.simulate of order 1 or 2, varint.redmax.simulate(integrator='euler') with contact_solver='cones' or"
        " 'bisp', or remove this force",
    ),
    "several rub": Trait(
        "joint friction from the normal load in joints of several coordinates",
        rubs_along_several,
        "is friction of a joint of several coordinates",
        "use varint.redmax.simulate(integrator='euler'), or remove this force",
    ),
    "rubs beside": Trait(
        "joint friction from the normal load beside hard contacts, deformable bodies or masses along paths",
        rubs_beside,
        "is friction of a joint from its load, and the mechanism has hard contacts, deformable bodies or masses along"
        " paths",
        "use varint.redmax.simulate(integrator='euler'), or remove this force",
    ),
    "wraps": Trait(
        "paths around surfaces",
        wraps,
        "wraps around a surface",
        "lead the path over points, or use varint.simulate",
    ),
    "path": Trait(
        "masses along paths",
        has_path_mass,
        "has mass that moves with its path",
        "take varint.straight_muscle_mass for a path of two points; runs of any path take varint.simulate of order 2 or"
        " above with steps of one size, or varint.redmax.simulate with an explicit integrator, such as 'dop853'",
    ),
    "mass around": Trait(
        "masses along paths around surfaces",
        has_mass_around,
        "has mass that moves with its path around a surface",
        "lead the path over points, or use varint.simulate of order 2 or above",
    ),
    "sharp": Trait(
        "masses along paths around sharp surfaces",
        has_sharp_mass,
        "has mass that meets a surface in impacts",
        "give it smoothing=, about a fortieth of the radius, or use varint.redmax.simulate with an explicit integrator",
    ),
    "contacts": Trait(
        "hard contacts",
        is_contact,
        "is a hard contact",
        "use vi.simulate of order 1 or 2, varint.redmax.simulate with 'dop853', 'rk45', 'radau' (a HardContact: or"
        " 'euler'), or remove this force",
    ),
    "shapes": Trait(
        "hard contacts between shapes",
        is_body_contact,
        "is a hard contact between shapes of bodies",
        "use vi.simulate of order 1 or 2, varint.redmax.simulate with 'dop853', 'rk45' or 'radau', or remove this"
        " force",
    ),
    "resists": Trait(
        "contacts with rolling resistance",
        resists_rolling,
        "has rolling resistance",
        "set its rolling= to 0",
    ),
    "rims": Trait(
        "contacts of cylinders and height fields",
        has_rims,
        "is a contact of a CylinderShape or a HeightField",
        "take a CapsuleShape or a ConvexMesh, or use vi.simulate of order 1 or 2",
    ),
    "mesh": Trait(
        "deformable bodies",
        is_deformable,
        "is a deformable body",
        "use vi.simulate with dt= and order 2 or 4, or varint.redmax.simulate with 'sdirk2' or 'bdf2', or remove it",
    ),
    "hard": Trait("hard stops", is_hard, "is hard and acts in impacts", "give it a stiffness, or remove it"),
    "soft": Trait(
        "joints with a compliance",
        lambda structure, force: isinstance(force, JointCompliance),
        "makes rows of a joint springs in place of constraints",
        "leave it out, or use a Free joint with a Bushing",
    ),
    "soft events": Trait(
        "joints with a compliance beside hard stops, hard contacts or deformable bodies",
        is_soft_beside_events,
        "makes rows of a joint springs in place of constraints, and the mechanism has hard stops, hard contacts or"
        " deformable bodies",
        "leave it out, use a Free joint with a Bushing, or give stops a stiffness",
    ),
    "moved": Trait(
        "motions prescribed in the world",
        lambda structure, force: isinstance(force, Moved),
        "moves a body in the world",
        "prescribe the coordinates of joints by PrescribedMotion",
    ),
    "several": Trait(
        "motions prescribed along joints of several coordinates",
        _prescribes_several,
        "prescribes a joint of several coordinates",
        "take joints of one coordinate each",
    ),
    "driven": Trait(
        "motions prescribed along joints",
        lambda structure, force: isinstance(force, Driven),
        "prescribes the motion of a joint",
        "use another integrator, or remove it",
    ),
    "attached": Trait(
        "attachments",
        lambda structure, force: force.of_points,
        "keeps a point at the mean of others",
        "use varint.simulate, or remove it",
    ),
    "of poses": Trait(
        "constraints by functions of poses",
        lambda structure, force: force.of_poses,
        "keeps a function of poses at zero",
        "use varint.simulate, or another integrator of varint.redmax.simulate, or remove it",
    ),
    "coupled": Trait(
        "couplings",
        lambda structure, force: isinstance(force, Coupled),
        "couples coordinates",
        "use another integrator, or remove it",
    ),
    "bent": Trait(
        "couplings with functions of coordinates",
        lambda structure, force: isinstance(force, Coupled) and bool(force.bent(structure)),
        "has functions of coordinates",
        "give it constant factors",
    ),
    "rolling": Trait(
        "rolling wheels, knife edges and constraints on velocities by functions",
        lambda structure, force: isinstance(force, VelocityRows),
        "constrains velocities, not poses",
        "simulate it, or remove this force",
    ),
    "internal": Trait(
        "laws with an internal variable",
        has_internal_variable,
        "has a law with an internal variable",
        "use a law of value and rate only",
    ),
    "series": Trait(
        "inputs with one value per node",
        has_series,
        "has one input value per node",
        "give it a number or a function of time",
    ),
    "feedback": Trait(
        "inputs that are functions of the state",
        has_feedback,
        "has an input that is a function of the state",
        "give it a number or a function of time",
    ),
    "extrapolated": Trait(
        "inputs that are extrapolated",
        is_extrapolated,
        "has an input that is extrapolated",
        "give it the function itself, whose values are held over a step",
    ),
}
RARE = ("mesh", "impulses", "contacts", "path")  # that most uses beside plain steps do not support
INPUTS = ("feedback", "extrapolated")
# traits of forces that a State does not determine
NOT_FROM_STATE = (*RARE, "internal", "series")
USES = {
    "steps": Use("`vi.simulate`", "steps in maximal coordinates", ("several rub", "rubs beside", "sharp")),
    "composed steps": Use("`vi.simulate(order=)`, 4 and above", "composed steps", ("impulses", "contacts", "sharp")),
    "adaptive steps": Use("`vi.simulate(adaptive=)`", "adaptive steps", (*RARE, "series")),
    "step choice": Use('`vi.simulate(dt="auto")`, `vi.choose_step`', "trials of steps", (*RARE, "series")),
    "collocation steps": Use(
        "`vi.Lobatto`",
        "collocation steps",
        ("mesh", "impulses", "resists", "rims", "mass around", "soft events"),
    ),
    "contact steps": Use(
        '`vi.redmax.simulate(integrator="euler")`', "steps of this integrator", ("mesh", "shapes", "soft")
    ),
    "contact solvers": Use(
        '`vi.redmax.simulate(contact_solver=)`, all but "cones" and "bisp"',
        "contact solvers at velocity level",
        ("mesh", "impulses", "shapes", "soft"),
    ),
    "located steps": Use(
        '`vi.redmax.simulate`, "dop853", "rk45"',
        "steps of other integrators",
        ("mesh", "impulses", "resists", "rims"),
    ),
    "stiff steps": Use(
        '`vi.redmax.simulate`, "radau"',
        "steps of this integrator",
        ("mesh", "impulses", "resists", "rims", "path"),
    ),
    "reduced steps": Use(
        '`vi.redmax.simulate`, "heun", "rk4", "matrix"',
        "steps of this integrator",
        ("mesh", "impulses", "contacts"),
    ),
    "implicit steps": Use(
        '`vi.redmax.simulate`, "bdf1", "bdf2", "sdirk2"',
        "steps of this integrator",
        ("impulses", "contacts", "path"),
    ),
    "tree steps": Use(
        '`vi.redmax.simulate`, "gauss" and the variational integrators',
        "steps of trees in canonical coordinates",
        (*RARE, "hard", "moved", "driven", "attached", "of poses", "coupled", "rolling"),
    ),
    "rivals": Use("methods of your own, by `Stepped`", "methods that step from a State", NOT_FROM_STATE),
    "velocity level": Use(
        "`vi.Maximal`", "KKT systems at velocity level", (*NOT_FROM_STATE, "wraps", "hard", "rolling")
    ),
    "states": Use("`vi.accelerations`, `vi.energy`", "states", NOT_FROM_STATE),
    "equations": Use(
        "`vi.EquationsOfMotion`",
        "equations of motion",
        ("mesh", "impulses", "contacts", "soft", "internal", "series", "hard", "moved", "several", "rolling"),
    ),
    "derivatives": Use(
        "`stiffness`, `damping`, `preconditioner` of these",
        "derivatives of the equations of motion",
        (*RARE, "soft", "internal", "series", "hard", "moved", "several", "rolling"),
    ),
    "reactions": Use(
        "`acceleration` and `reaction` of a run",
        "reactions and accelerations of a run",
        ("mesh", "path"),
    ),
    "runs within": Use(
        "`vi.lyapunov_exponent`, `vi.time_reversal`",
        "runs that restart from a state of another run or go backward in time",
        (*NOT_FROM_STATE, "moved"),
    ),
    "rest": Use("`vi.modes`, `vi.equilibrium`", "small motions about rest", (*NOT_FROM_STATE, "moved", "rolling")),
    "linearize": Use("`vi.linearize`", "derivatives of accelerations", (*NOT_FROM_STATE, "moved", "rolling")),
    "linearize step": Use(
        "`vi.linearize(dt=)`", "derivatives of one step", (*NOT_FROM_STATE, "soft events", "moved", "rolling")
    ),
    "tangents": Use(
        "`vi.periodic_orbit`, `vi.lyapunov_spectrum`",
        "derivatives of steps",
        (*RARE, "soft events", "internal", "moved", *INPUTS, "rolling"),
    ),
    "collocation tangents": Use(
        "`vi.linearize(dt=)`, `vi.periodic_orbit`, `vi.lyapunov_spectrum` along `vi.Lobatto`",
        "derivatives of collocation steps",
        (*RARE, "hard", "soft", "internal", "series", "moved", "bent", *INPUTS, "rolling"),
    ),
    "gradient": Use(
        "`vi.gradient`",
        "gradients",
        ("impulses", "path", "soft events", "moved", "bent", "extrapolated", "rolling", "resists"),
    ),
    "collocation gradient": Use(
        "`vi.gradient` along `vi.Lobatto`",
        "gradients of collocation steps",
        (*RARE, "hard", "soft", "rolling", "internal", "bent", "extrapolated"),
    ),
    "adaptive gradient": Use(
        "`vi.gradient(adaptive=)`",
        "gradients of adaptive steps",
        (*RARE, "soft events", "moved", "bent", *INPUTS, "series", "rolling"),
    ),
    "reduced gradient": Use(
        "`vi.redmax.gradient`",
        "gradients in reduced coordinates",
        ("impulses", "contacts", "path", "hard", "moved", "several", "bent", *INPUTS, "rolling"),
    ),
    "inverse dynamics": Use("`vi.inverse_dynamics`", "inverse dynamics", (*RARE, "rolling")),
}


def traits_of(structure: "Structure") -> list[set[str]]:
    """Return the names of the traits of each force of a structure."""
    return [{name for name, trait in TRAITS.items() if trait.has(structure, force)} for force in structure.forces]


def refuse(structure: "Structure", use: Use) -> None:
    """Raise ArgumentError for the first force with a trait that the use does not support."""
    for force, traits in zip(structure.forces, structure.force_traits, strict=True):
        for trait in (TRAITS[name] for name in use.refuses if name in traits):
            raise ArgumentError(f"{force.label} {trait.acts}, which {use.plural} do not support: {trait.remedy}")
