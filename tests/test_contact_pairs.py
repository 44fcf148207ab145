"""Contacts of all bodies, or of groups, without a line a pair; and those that MJCF files allow."""

import json

import numpy as np
import pytest

import varint as vi

BOX = (0.2, 0.2, 0.2)


def box(name, position):
    return vi.Body.box(name, BOX, 1.0, position=position, collision=True)


def stack(contacts, count=5):
    bodies = [box(f"b{k}", (0, 0, 0.1 + 0.2 * k)) for k in range(count)]
    joints = [vi.Free(f"free {body.name}", "world", body.name) for body in bodies]
    return vi.Mechanism("stack", bodies, joints, forces=contacts, ground=[vi.PlaneShape()])


def pairs_of(mechanism):
    return {frozenset(element.bodies) for elements in mechanism.elements for element in elements}


def sets(*pairs):
    return {frozenset(pair.split()) for pair in pairs}


def test_a_stack_of_five_is_one_line():
    mechanism = stack([vi.ContactPairs("contacts", bodies="all", friction=0.5)])
    names = [body.name for body in mechanism.bodies]
    assert len(pairs_of(mechanism)) == 15
    run = vi.simulate(mechanism, 0.02, 0.01)
    apart = [
        vi.Contact(f"{a} {b}", a, b, friction=0.5) for k, a in enumerate(names) for b in [*names[k + 1 :], "world"]
    ]
    assert run.position.tobytes() == vi.simulate(stack(apart), 0.02, 0.01).position.tobytes()
    assert run.position[-1] == pytest.approx(run.position[0], abs=1e-9)
    on_ground = run.contacts.at(1)
    held = on_ground.force[on_ground.body_b == "world"].sum(axis=0)
    assert held == pytest.approx([0, 0, 5 * 9.81], abs=1e-6)  # N


@pytest.mark.parametrize("simulate", [vi.simulate, vi.redmax.simulate])
def test_contact_forces_are_those_of_pairs_and_of_bodies(simulate):
    """Box k of the stack carries 4 - k boxes; the pairs are in the order of the bodies, the force is on the first."""
    mechanism = stack([vi.ContactPairs("contacts", bodies="all", friction=0.5)])
    run = simulate(mechanism, 0.02, dt=0.01)
    assert len(run.contact_force) == 15
    for k in range(5):
        below = f"contacts: b{k - 1}, b{k}" if k else "contacts: b0, world"
        sign = -1.0 if k else 1.0
        assert run.contact_force[below][-1] == pytest.approx([0, 0, sign * (5 - k) * 9.81], abs=1e-5)
        assert run.contacts.on(f"b{k}")[-1] == pytest.approx([0, 0, 9.81], abs=1e-5)
    assert run.contacts.on("world")[-1] == pytest.approx([0, 0, -5 * 9.81], abs=1e-5)
    assert not run.contact_force["contacts: b0, b2"].any()
    with pytest.raises(vi.MechanismError, match="no hard contact 'contacts', did you mean 'contacts: b"):
        run.contact_force["contacts"]
    with pytest.raises(vi.ArgumentError, match="no contacts on 'b9': there are 'b0'"):
        run.contacts.on("b9")


def test_a_body_whose_contacts_never_touch_has_no_force():
    high = stack([vi.ContactPairs("contacts", bodies="all")], 2).replace(start={"position": {"b1": (0, 0, 9)}})
    run = vi.simulate(high, 0.02, 0.01)
    assert run.contacts.on("b1").shape == (3, 3)
    assert not run.contacts.on("b1").any()
    assert run.contacts.at(-1).on("b0").any()


def test_contact_forces_of_pairs_are_columns_of_a_table_and_one_row_of_the_summary(tmp_path, capsys):
    from varint.cli import main

    run = vi.simulate(stack([vi.ContactPairs("contacts", bodies="all", friction=0.5)], 2), 0.02, 0.01)
    run.to_csv(tmp_path / "forces.csv", "contact_force")
    head = (tmp_path / "forces.csv").read_text().splitlines()[0].split(",")
    assert "contacts: b0" in " ".join(head)
    run.save(tmp_path / "run.h5")
    assert main(["info", str(tmp_path / "run.h5"), "--json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)["contacts"]
    assert (row["name"], row["share"]) == ("contacts", 1.0)
    assert row["force"] == pytest.approx(2 * 9.81, rel=1e-3)


def test_nodes_of_touching_points_count_from_the_end_too():
    contacts = vi.simulate(stack([vi.ContactPairs("contacts", bodies="all", friction=0.5)]), 0.02, 0.01).contacts
    assert len(contacts.at(-1)) > 0
    assert np.array_equal(contacts.at(-1).force, contacts.at(2).force)
    assert np.array_equal(contacts.at(-1).at(-1).force, contacts.at(2).force)
    for beyond in (3, -4):
        with pytest.raises(IndexError, match=f"no node {beyond}: the trajectory has 3"):
            contacts.at(beyond)
    for no_node in (0.02, True, slice(1)):
        with pytest.raises(vi.ArgumentError, match="whole number"):
            contacts.at(no_node)


def test_a_bad_start_is_told_before_steps_are_compiled(monkeypatch):
    bodies = [box("a", (0, 0, 0.1)), box("b", (0, 0, 0.25))]
    joints = [vi.Free(f"free {body.name}", "world", body.name) for body in bodies]
    contacts = [vi.ContactPairs("contacts", bodies="all")]
    mechanism = vi.Mechanism("overlapping", bodies, joints, forces=contacts, ground=[vi.PlaneShape()])

    def prepare(plan, stages):
        raise AssertionError("steps are compiled")

    monkeypatch.setattr("varint.step.workspace.prepare_workspace", prepare)
    with pytest.raises(vi.StateError, match=r"contactpairs 'contacts' starts with an overlap of 0\.05 m of body"):
        vi.simulate(mechanism, 0.02, 0.01)


def linked():
    """A base with a foot fixed to it, two links on hinges, the second fixed to a plate, and a loose ball."""
    names = ("base", "foot", "upper", "lower", "plate")
    bodies = [box(name, (0.4 * k, 0, 1)) for k, name in enumerate(names)]
    bodies.append(vi.Body.sphere("loose", 0.1, 1.0, position=(0, 3, 1), collision=True))
    bodies.append(vi.Body.sphere("plain", 0.1, 1.0, position=(0, 4, 1)))
    y = {"axis": (0, 1, 0)}
    joints = [
        vi.Free("base floats", "world", "base"),
        vi.Fixed("foot joint", "base", "foot"),
        vi.Revolute("hip", "base", "upper", point=(0.6, 0, 1), **y),
        vi.Revolute("knee", "upper", "lower", point=(1.0, 0, 1), **y),
        vi.Fixed("plate joint", "lower", "plate"),
        vi.Free("loose floats", "world", "loose"),
        vi.Revolute("pendulum", "world", "plain", point=(0, 4, 2), **y),
    ]
    return vi.Mechanism("linked", bodies, joints, ground=[vi.PlaneShape()])


GROUND = ("world base", "world foot", "world upper", "world lower", "world plate", "world loose")
LOOSE = ("loose base", "loose foot", "loose upper", "loose lower", "loose plate")
LINKS = ("base lower", "base plate", "foot lower", "foot plate")  # but neighbours, through what is fixed to them


def test_neighbours_and_what_is_fixed_to_them_are_left_out():
    mechanism = linked().with_forces(add=vi.ContactPairs("all", bodies="all"))
    assert pairs_of(mechanism) == sets(*GROUND, *LOOSE, *LINKS)


def test_pairs_are_left_out_by_name_and_groups_are_what_is_named():
    without = [("loose", "base"), ("world", "plate"), ("upper", "lower")]
    mechanism = linked().with_forces(add=vi.ContactPairs("all", bodies="all", without=without))
    assert pairs_of(mechanism) == sets(*GROUND, *LOOSE, *LINKS) - sets("loose base", "world plate")
    group = vi.ContactPairs("group", bodies=["loose", "base", "world"], without=[["base", "world"]])
    assert pairs_of(linked().with_forces(add=group)) == sets("loose base", "loose world")


def test_a_body_that_is_hinged_to_the_world_does_not_touch_the_ground_but_its_links_do():
    bodies = [box("a", (0, 0, 1)), box("b", (0.4, 0, 1)), box("c", (0.8, 0, 1))]
    joints = [
        vi.Fixed("mount", "world", "a"),
        vi.Revolute("h", "a", "b", point=(0.2, 0, 1), axis=(0, 1, 0)),
        vi.Revolute("k", "b", "c", point=(0.6, 0, 1), axis=(0, 1, 0)),
    ]
    forces = [vi.ContactPairs("all", bodies="all")]
    mechanism = vi.Mechanism("arm", bodies, joints, forces=forces, ground=[vi.PlaneShape()])
    assert pairs_of(mechanism) == sets("b world", "c world", "a c")


def test_what_is_wrong_is_said():
    with pytest.raises(vi.MechanismError, match="bodies='all' has every pair already: leave out others"):
        vi.ContactPairs("c", bodies="all", others=["world"])
    with pytest.raises(vi.MechanismError, match="pairs are two names of bodies, got 'ab'"):
        vi.ContactPairs("c", bodies="all", without=["ab"])
    with pytest.raises(vi.MechanismError, match=r"without of contactpairs 'c': no body 'b9'.*b"):
        stack([vi.ContactPairs("c", bodies="all", without=[("b0", "b9")])])
    with pytest.raises(vi.MechanismError, match=r"no pair of bodies left: no body has collision shapes, give vi.Body"):
        vi.mechanisms.four_bar().with_forces(add=vi.ContactPairs("c", bodies="all"))
    with pytest.raises(vi.MechanismError, match="no body 'nobody'"):
        stack([vi.ContactPairs("c", bodies=["b0", "nobody"])])


TOML = """
name = "two"

[parameters]
mu = 0.5

[[ground]]
type = "PlaneShape"

[bodies.a]
mass = 1.0
box = [0.2, 0.2, 0.2]
position = [0, 0, 0.1]
collision = true

[bodies.b]
mass = 1.0
box = [0.2, 0.2, 0.2]
position = [0, 0, 0.3]
collision = true

[joints."free a"]
type = "Free"
body_a = "world"
body_b = "a"

[joints."free b"]
type = "Free"
body_a = "world"
body_b = "b"

[forces.contacts]
type = "ContactPairs"
bodies = "all"
without = [["b", "world"]]
friction = "mu"
"""


def test_files_have_it(tmp_path):
    path = tmp_path / "two.toml"
    path.write_text(TOML)
    mechanism = vi.load_mechanism(path)
    assert pairs_of(mechanism) == sets("a b", "a world")
    vi.save_mechanism(mechanism, tmp_path / "again.toml")
    again = vi.load_mechanism(tmp_path / "again.toml").force("contacts")
    assert (again.bodies, again.without, again.friction) == ("all", (("b", "world"),), 0.5)


MJCF = """<mujoco><worldbody>
  <geom name="floor" type="plane" size="1 1 1" friction="0.3"/>
  {bodies}
</worldbody><contact><exclude body1="b" body2="d"/></contact></mujoco>"""
BODY = """<body name="{name}" pos="{x} 0 1"><freejoint/><geom size=".1" {mask} friction="{friction}"/></body>"""
MASKS = {"a": "", "b": "", "c": 'contype="2" conaffinity="2"', "d": 'contype="3" conaffinity="0"', "e": 'contype="0"'}


@pytest.mark.parametrize("mixed", [False, True])
def test_mjcf_says_which_pairs_touch(written, mixed):
    mujoco = pytest.importorskip("mujoco")
    friction = {"a": 0.3, "b": 0.8, "c": 0.3, "d": 0.8, "e": 1.0} if mixed else dict.fromkeys("abcde", 0.3)
    texts = [BODY.format(name=n, x=k, mask=mask, friction=friction[n]) for k, (n, mask) in enumerate(MASKS.items())]
    text = MJCF.format(bodies="".join(texts))
    robot = vi.load_mechanism(written(text))
    contacts = robot.import_report.contacts
    touching = robot.with_forces(add=contacts)
    # MuJoCo itself: all bodies at one place
    model = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(model)
    data.qpos[:] = np.tile([0, 0, 0, 1, 0, 0, 0], 5)
    data.qpos[::7] = 1e-3 * np.arange(5)
    mujoco.mj_forward(model, data)
    coefficients = {}
    for contact in data.contact:
        names = (model.body(model.geom_bodyid[geom]).name for geom in contact.geom)
        coefficients[frozenset(names)] = contact.friction[0]
    ours = {frozenset(e.bodies): e.friction for elements in touching.elements for e in elements}
    assert ours == pytest.approx(coefficients)
    assert contacts[0].name == ("contacts, friction 0.3" if mixed else "contacts")
    assert robot.forces == ()


def test_contacts_of_a_report_go_with_their_bodies(written):
    pytest.importorskip("mujoco")
    texts = [BODY.format(name=name, x=k, mask="", friction=0.3) for k, name in enumerate("abd")]
    robot = vi.load_mechanism(written(MJCF.format(bodies="".join(texts))))
    fewer = robot.replace(bodies=robot.bodies[:2], joints=robot.joints[:2])
    (left,) = fewer.import_report.contacts
    assert pairs_of(fewer.with_forces(add=left)) == sets("a b", "a world", "b world")
