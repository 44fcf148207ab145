"""What pages draw: shapes that touch, colours of files, beams, clamps, grounds, and their fit into the window."""

import numpy as np
import pytest
from browser import Shown, browser
from test_view import data_of, robot_page, write_stl

import varint as vi
from varint.drawing.mechanism_picture import make_painter
from varint.drawing.viewpoint import choose_view
from varint.kinematics.frames import with_world

SIZES = {"desk": (1280, 800), "phone": (390, 844)}


def scene_of(mech):
    return data_of(vi.simulate(mech, 0.02, 0.01, on_unresolved="ignore").view().html)


def wheel(shapes):
    body = vi.Body.cylinder("wheel", 0.1, 0.02, 1.0, collision=shapes)
    shaft = vi.Revolute("shaft", "world", "wheel", point=(0, 0, 0), axis=(0, 0, 1))
    return vi.Mechanism("wheel", bodies=[body], joints=[shaft])


TOOTH = vi.ConvexMesh([(x, y, z) for x, y in ((0.09, 0), (0.15, 0), (0.08, 0.05)) for z in (-0.01, 0.01)])


def test_shapes_that_touch_are_drawn_beside_the_solids_of_a_body():
    data = scene_of(wheel([TOOTH]))
    (body,) = data["bodies"]
    assert [part["kind"] for part in body["parts"]] == ["cylinder"]
    assert [part["kind"] for part in body["touching"]] == ["mesh"]
    assert data["shapes"]  # shown at first


def test_shapes_like_the_solids_are_not_drawn_twice():
    (body,) = scene_of(wheel([vi.CylinderShape((0, 0, -0.01), (0, 0, 0.01), 0.1)]))["bodies"]
    assert not body["touching"]


def test_a_body_without_solids_is_drawn_as_its_shapes():
    data = scene_of(vi.mechanisms.ratchet())
    wheel, pawl = data["bodies"]
    assert {part["kind"] for part in wheel["parts"]} == {"mesh"}
    assert len(wheel["parts"]) == 12
    assert not wheel["touching"]
    assert not pawl["touching"]


# ------------------------------------------------------------------------------------------- colours of files

BOX = '<box size="1 1 1"/></geometry>'
URDF = {
    '<material name="red"><color rgba="1 0 0 0.5"/></material>': [1, 0, 0, 0.5],
    '<material name="blue"/>': [0, 0, 1, 1],
    '<material name="grey"/>': None,
    "": None,
}


def coloured(folder, material):
    text = f'{BOX[:-11]}</geometry>{material}</visual><visual><geometry><sphere radius="0.1"/>'
    (folder / "head.xml").touch()
    return robot_page(folder, text)


@pytest.mark.parametrize("material", URDF)
def test_colours_of_urdf_are_used(material, tmp_path):
    (body,) = coloured(tmp_path, material)["bodies"] if "blue" not in material else named(tmp_path, material)["bodies"]
    assert [part.get("colour") for part in body["parts"]] == [URDF[material], None]


def named(folder, material):
    """A page of a robot whose materials are defined beside its links."""
    data = coloured(folder, material)
    text = (folder / "r.urdf").read_text()
    head = '<robot name="r"><material name="blue"><color rgba="0 0 1 1"/></material>'
    (folder / "r.urdf").write_text(text.replace('<robot name="r">', head))
    assert data["bodies"][0]["parts"][0].get("colour") is None  # before it is defined
    return scene_of(vi.load_mechanism(folder / "r.urdf"))


def test_a_wrong_colour_is_told_and_its_shape_is_drawn(tmp_path):
    for rgba in ("1 0 0", "2 0 0 1", "red"):
        (body,) = coloured(tmp_path, f'<material name="m"><color rgba="{rgba}"/></material>')["bodies"]
        assert [part["kind"] for part in body["parts"]] == ["box", "sphere"]
        told = [str(entry) for entry in vi.load_mechanism(tmp_path / "r.urdf").import_report.not_understood]
        assert any("rgba" in entry or "color" in entry for entry in told), told


SDF = """<sdf version="1.7"><model name="m"><link name="l"><inertial><mass>1</mass></inertial>
<visual name="v"><geometry><box><size>1 1 1</size></box></geometry>
<material><ambient>1 1 1 1</ambient><diffuse>0.2 0.4 0.6 1</diffuse></material></visual></link></model></sdf>"""


def test_colours_of_sdf_are_used(tmp_path):
    (tmp_path / "m.sdf").write_text(SDF)
    mech = vi.load_mechanism(tmp_path / "m.sdf")
    (body,) = scene_of(mech)["bodies"]
    assert body["parts"][0]["colour"] == [0.2, 0.4, 0.6, 1]
    assert any("<ambient> of <material>" in str(entry) for entry in mech.import_report.approximated)


MJCF = """<mujoco><asset><texture name="t" type="2d" builtin="flat" width="8" height="8"/>
<material name="green" rgba="0 1 0 1" texture="t"/></asset>
<default><default class="k"><geom material="green"/></default></default><worldbody><body><freejoint/>
<geom size="1" rgba="1 0 0 1"/><geom size="1" pos="3 0 0" class="k"/><geom size="1" pos="6 0 0"/>
<geom size="1" pos="9 0 0" rgba="1 1 1 0"/><geom size="1" pos="12 0 0" material="none"/></body></worldbody></mujoco>"""


def test_colours_of_mjcf_are_used(tmp_path):
    """Of a geom itself, of its material by a class, of neither; what is clear is not drawn."""
    pytest.importorskip("mujoco", reason="needs varint-dynamics[mjcf]")
    (tmp_path / "m.xml").write_text(MJCF)
    mech = vi.load_mechanism(tmp_path / "m.xml")
    (body,) = scene_of(mech)["bodies"]
    assert [part.get("colour") for part in body["parts"]] == [[1, 0, 0, 1], [0, 1, 0, 1], None, None]
    told = str(mech.import_report)
    assert "of pictures but for its rgba" in told
    assert "'material'" in told  # of the last geom, which is not defined


def test_colours_of_meshes_are_used(tmp_path):
    pytest.importorskip("trimesh", reason="needs varint-dynamics[view]")
    write_stl(tmp_path / "part.stl")
    mesh = '<mesh filename="part.stl"/></geometry><material name="r"><color rgba="1 0 0 1"/></material></visual>'
    (body,) = robot_page(tmp_path, mesh + '<visual><geometry><sphere radius="0.1"/>')["bodies"]
    assert [(part["kind"], part.get("colour")) for part in body["parts"]] == [("mesh", [1, 0, 0, 1]), ("sphere", None)]


# ------------------------------------------------------------------------------------------- beams, clamps, grounds


def cantilever():
    section = vi.Section(EA=1000.0, GJ=0.04, EI=0.05, kGA=320.0, mass_per_length=0.1)
    parts = vi.beam("beam", "world", None, point_a=(0, 0, 0), point_b=(1, 0, 0), elements=4, section=section)
    return vi.Mechanism("cantilever", parts.bodies, parts.joints, forces=parts.forces)


def test_a_beam_has_one_colour_and_its_hub_another():
    bodies = scene_of(vi.mechanisms.spinning_beam())["bodies"]
    hub, *nodes = (body["colour"] for body in bodies)
    assert len(nodes) == 5
    assert set(nodes) == {1}
    assert hub == 0
    assert [body["colour"] for body in scene_of(vi.mechanisms.four_bar())["bodies"]] == [0, 1, 2]


def test_a_clamp_is_no_hinge():
    (mark,) = (mark for mark in scene_of(cantilever())["marks"] if mark["grounded"])
    assert mark["symbol"] == "weld"
    w, x, y, z = mark["quat"]
    assert [2 * (x * z + w * y), 2 * (y * z - w * x), 1 - 2 * (x * x + y * y)] == pytest.approx([1, 0, 0], abs=1e-6)
    spring = vi.Spring("s", "world", "b", point_a=(0, 0, 1), point_b=(0, 0, 0), stiffness=1.0)
    floats = vi.Free("floats", "world", "b", point=(0, 0, 0))
    marks = scene_of(vi.Mechanism("m", [vi.Body.sphere("b", 0.1, 1.0)], [floats], forces=[spring]))["marks"]
    assert [mark["symbol"] for mark in marks if mark["grounded"]] == ["ball"]


def test_a_clamp_is_a_wall_across_its_beam_in_a_picture():
    mech = cantilever()
    axes = mech.plot(plane="xz").axes[0]
    segments = [line for lines in axes.collections if hasattr(lines, "get_segments") for line in lines.get_segments()]
    across = [line for line in segments if len(line) == 2 and np.ptp(line[:, 0]) < 1e-9 < np.ptp(line[:, 1])]
    assert any(np.isclose(line[0, 0], 0.0, atol=1e-9) for line in across), segments
    triangles = [patch for patch in axes.patches if len(patch.get_path().vertices) == 4]
    assert not triangles


STANDS = {"jansen_leg": True, "klann_leg": True, "four_bar": True, "double_pendulum": False, "n_pendulum": False}


@pytest.mark.parametrize("name", STANDS)
def test_symbols_of_the_ground_are_upright_unless_all_hangs_from_them(name):
    mech = getattr(vi.mechanisms, name)()
    assert scene_of(mech)["stands"] is STANDS[name]
    x, R = with_world(mech.state().position[None], mech.state().quat_wxyz[None])
    assert make_painter(mech, x, R, choose_view(mech, None)).rises is STANDS[name]


# ------------------------------------------------------------------------------------------- in a browser


@pytest.fixture(scope="module")
def driver(tmp_path_factory):
    with browser(tmp_path_factory.mktemp("profile")) as driver:
        yield driver


def resize(page, size):
    width, height = SIZES[size]
    metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 700}
    page.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    page.wait(lambda state: page.driver.execute_script("return innerWidth") == width)


def fits(state):
    """Within the picture, and not lost in it."""
    return 0.3 < max(state["spread"]) <= 1.0


STACK = [vi.Body.box(f"box {k}", (0.2, 0.2, 0.2), 1.0, position=(0, 0, 0.1 + 0.2 * k)) for k in range(4)]
FLOATS = [vi.Free(f"floats {k}", "world", box.name, point=box.position) for k, box in enumerate(STACK)]
SHOWN = {
    "jansen_leg": vi.mechanisms.jansen_leg,
    "minitaur_landing": vi.mechanisms.minitaur_landing,
    "spinning_beam": vi.mechanisms.spinning_beam,
    "stack": lambda: vi.Mechanism("stack", STACK, FLOATS, gravity=(0, 0, 0)),
    "wheel": lambda: wheel([TOOTH]),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", SHOWN)
def test_it_fits_by_width_and_height(name, driver, tmp_path):
    run = vi.simulate(SHOWN[name](), 0.2, 0.005, on_unresolved="ignore")
    run.view(tmp_path / "run.html")
    page = Shown(driver, (tmp_path / "run.html").as_uri())
    for size in SIZES:
        resize(page, size)
        for side in (1, 2, 3, 4):
            page.click(f"#sides button:nth-child({side})")
            for t in (0.0, 0.1, 0.2):
                page.scrub(t)
                page.wait(fits)
    driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    page.check_no_errors()


@pytest.mark.slow
def test_a_camera_that_was_moved_by_hand_stays(driver, tmp_path):
    vi.simulate(vi.mechanisms.minitaur_landing(), 0.1, 0.005).view(tmp_path / "run.html")
    page = Shown(driver, (tmp_path / "run.html").as_uri())
    before = page.state["camera"]
    resize(page, "phone")
    assert page.wait(lambda state: state["camera"] != before)
    mouse(driver, "mousePressed", 20, 200)
    mouse(driver, "mouseMoved", 60, 210)
    mouse(driver, "mouseReleased", 60, 210)
    turned = page.wait(lambda state: state["settled"])["camera"]
    resize(page, "desk")
    assert page.wait(lambda state: state["settled"])["camera"] == pytest.approx(turned, abs=1e-9)
    driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def mouse(driver, kind, x, y):
    """An event of the left button."""
    event = {"type": kind, "x": x, "y": y, "button": "left", "buttons": 1, "clickCount": 1}
    driver.execute_cdp_cmd("Input.dispatchMouseEvent", event)


@pytest.mark.slow
def test_shapes_that_touch_are_switched(driver, tmp_path):
    vi.simulate(wheel([TOOTH]), 0.02, 0.01).view(tmp_path / "run.html")
    page = Shown(driver, (tmp_path / "run.html").as_uri())
    shown = page.wait(lambda state: state["drawn"] > 0)
    assert shown["show"]["touching"]
    page.click('[data-toggle="touching"]')
    page.wait(lambda state: not state["show"]["touching"] and state["drawn"] < shown["drawn"])
    page.check_no_errors()


@pytest.mark.slow
def test_sliders_of_a_recorded_run_find_its_instants(driver, tmp_path):
    """The nearest in time at which the joint is there, between frames too; loops stay closed, as the run has them."""
    run = vi.simulate(vi.mechanisms.jansen_leg(), 1.0, 0.005, on_unresolved="ignore")
    run.view(tmp_path / "run.html")
    page = Shown(driver, (tmp_path / "run.html").as_uri())
    angle = run.coordinates["crank pivot"]
    script = (
        "const r = document.querySelector(`[data-coordinate='crank pivot'] input[type=range]`);"
        "if (arguments.length) { r.value = arguments[0]; r.dispatchEvent(new Event('input')); }"
        "return [Number(r.min), Number(r.max), Number(r.value)]"
    )
    low, high, _ = driver.execute_script(script)
    assert (low, high) == pytest.approx((angle.min(), angle.max()), rel=1e-3, abs=1e-3)
    for share in (0.31, 0.77):
        wanted = low + share * (high - low)
        driver.execute_script(script, wanted)
        state = page.wait(lambda state: state["settled"])
        assert state["time"] == pytest.approx(np.interp(wanted, angle, run.t), abs=2e-3)
    page.scrub(float(run.t[100]))
    assert driver.execute_script(script)[2] == pytest.approx(angle[100], abs=1e-3)
    page.check_no_errors()
