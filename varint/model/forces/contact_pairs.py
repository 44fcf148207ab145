"""Hard contact between the bodies of groups."""

import itertools
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, ClassVar, Literal

from varint.base.checks import check_name, known_name, sequence_of, shown
from varint.base.errors import MechanismError
from varint.model.body import WORLD
from varint.model.forces.base import Element, Force, register
from varint.model.forces.body_contact import Contact

if TYPE_CHECKING:
    from varint.model.structure import Structure

ALL: Literal["all"] = "all"


@register
@dataclass(frozen=True, eq=False)
class ContactPairs(Force):
    """`Contact` of all ``bodies`` with each other, or with all of ``others``, except of bodies that a joint connects.

    ``bodies`` = "all": all with collision shapes, and the ground if there is one. Else ``bodies`` and ``others`` may
    have ``"world"`` among them. Left out are pairs that a joint of any kind connects (also a `Rod`), also through
    bodies that are rigidly fixed to one of them (not through the world), pairs within such a rigid group, and the pairs
    of bodies in ``without``. The law is that of `Contact`. ``traj.contact_force["NAME: a, b"]`` is the force of each
    pair on its body a, ``traj.contacts.on(body)`` that of all contacts of a body; ``traj.force`` is the sum of the
    normal forces of all pairs, ``traj.penetration`` the largest; ``traj.contacts`` has each point with its bodies.

    Raises MechanismError where no pair is left, and where the shapes of a pair cannot touch each other.
    """

    bodies: Sequence[str] | Literal["all"] = field(kw_only=True)
    others: Sequence[str] = field(default=(), kw_only=True)
    without: Sequence[tuple[str, str]] = field(default=(), kw_only=True)
    friction: float = field(default=0.0, kw_only=True)
    restitution: float = field(default=0.0, kw_only=True)
    rolling: float = field(default=0.0, kw_only=True)

    solved_for: ClassVar[bool] = True
    of_pairs: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("bodies", "others"):
            groups = getattr(self, name)
            if name == "others" or not isinstance(groups, str) or groups != ALL:
                names = sequence_of(groups, f"{name} of {self.label}", "names of bodies")
                self._set(name, tuple(check_name(body, f"a body of {self.label}") for body in names))
        if self.bodies == ALL and self.others:
            raise MechanismError(f"{self.label}: bodies='all' has every pair already: leave out others")
        pairs = sequence_of(self.without, f"without of {self.label}", "pairs of bodies")
        self._set("without", tuple(self._pair(pair) for pair in pairs))
        law = {"friction": self.friction, "restitution": self.restitution, "rolling": self.rolling}
        Contact(self.name, "a", "b", **law)  # raises
        self._check(friction="zero", restitution="zero", rolling="zero")

    def _pair(self, pair: object) -> tuple[str, str]:
        if isinstance(pair, str) or not isinstance(pair, Sequence) or len(pair) != 2 or pair[0] == pair[1]:
            raise MechanismError(f"without of {self.label}: pairs are two names of bodies, got {shown(pair)}")
        a, b = (check_name(name, f"a body of {self.label}") for name in pair)
        return a, b

    def elements(self, structure: "Structure") -> list[Element]:
        pairs = self.pairs(structure)
        if not pairs:
            raise MechanismError(f"{self.label} has no pair of bodies left: {self._why_none(structure)}")
        return [element for pair in pairs for element in self._between(structure, pair)]

    def pairs(self, structure: "Structure") -> list[tuple[str, str]]:
        """Return the pairs of bodies, or of a body and the world, that it acts between; raises MechanismError."""
        for name in itertools.chain(*self.without):
            known_name(name, (*structure.body_index, WORLD), f"without of {self.label}: no body")
        chosen = {frozenset(pair): pair for pair in self._named(structure) if pair[0] != pair[1]}
        apart = _apart(structure, chosen.values()) - {frozenset(pair) for pair in self.without}
        return [pair for key, pair in chosen.items() if key in apart]

    def of_bodies(self, names: Collection[str]) -> "ContactPairs | None":
        """Return the contacts of the bodies among ``names`` with each other; None if no pair is left."""
        without = [pair for pair in self.without if set(pair) <= set(names)]
        if self.bodies == ALL:
            return replace(self, without=without)
        bodies, others = ([name for name in each if name in names] for each in (self.bodies, self.others))
        pairs = itertools.product(bodies, others) if self.others else itertools.combinations(bodies, 2)
        left = {frozenset(pair) for pair in pairs if pair[0] != pair[1]} - {frozenset(pair) for pair in without}
        return replace(self, bodies=bodies, others=others, without=without) if left else None

    def _named(self, structure: "Structure") -> Iterable[tuple[str, str]]:
        if self.bodies == ALL:
            names = [body.name for body in structure.bodies if body.collision]
            return itertools.combinations([*names, *([WORLD] if structure.ground else [])], 2)
        if self.others:
            return itertools.product(self.bodies, self.others)
        return itertools.combinations(self.bodies, 2)

    def _between(self, structure: "Structure", pair: tuple[str, str]) -> list[Element]:
        a, b = pair[::-1] if pair[0] == WORLD else pair
        law = {"friction": self.friction, "restitution": self.restitution, "rolling": self.rolling}
        return Contact(self.name, a, b, **law).elements(structure)

    def _why_none(self, structure: "Structure") -> str:
        if self.bodies == ALL and not any(body.collision for body in structure.bodies):
            return "no body has collision shapes, give vi.Body(..., collision=[...])"
        return "joints connect all of them, or without= leaves them out"


def _apart(structure: "Structure", pairs: Iterable[tuple[str, str]]) -> set[frozenset[str]]:
    """Return the ``pairs`` that are no neighbours by joints, nor fixed to each other."""
    group = {WORLD: WORLD} | {body.name: body.name for body in structure.bodies}
    for joint in structure.joints:
        ends = joint.body_a, joint.body_b
        if not joint.dof and not joint.compliances.any() and WORLD not in ends:
            first, second = (group[end] for end in ends)
            group = {name: first if of == second else of for name, of in group.items()}
    joined = {frozenset((group[j.body_a], group[j.body_b])) for j in structure.joints if j.forbidden}
    # names of no body stay, for `Contact` to refuse
    groups_of = {frozenset(pair): frozenset(group.get(name, name) for name in pair) for pair in pairs}
    return {pair for pair, groups in groups_of.items() if len(groups) == 2 and groups not in joined}
