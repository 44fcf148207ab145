"""An arm as a file of OpenSim 4, in the manner of the arm with two joints and six muscles, with numbers of its own."""

OFFSET = """<PhysicalOffsetFrame name="{}"><socket_parent>{}</socket_parent>
<translation>{}</translation><orientation>{}</orientation></PhysicalOffsetFrame>"""


def body(name, mass, centre, inertia, wraps=""):
    return (
        f'<Body name="{name}"><mass>{mass}</mass><mass_center>{centre}</mass_center><inertia>{inertia}</inertia>'
        f"<WrapObjectSet><objects>{wraps}</objects></WrapObjectSet></Body>"
    )


def axis(word, direction, function, coordinate=""):
    return (
        f'<TransformAxis name="{word}"><coordinates>{coordinate}</coordinates><axis>{direction}</axis>'
        f"{function}</TransformAxis>"
    )


LINEAR = '<LinearFunction name="function"><coefficients>{} {}</coefficients></LinearFunction>'
CONSTANT = '<Constant name="function"><value>{}</value></Constant>'
SPLINE = '<SimmSpline name="function"><x>0 1 2</x><y>0 1 4</y></SimmSpline>'


def custom(name, parent, child, shift, coordinate, turn, slide="", more=""):
    frames = OFFSET.format(
        f"{parent}_offset", f"/bodyset/{parent}" if parent != "ground" else "/ground", shift, "0 0 0"
    )
    frames += OFFSET.format(f"{child}_offset", f"/bodyset/{child}", "0 0 0", "0 0 0")
    return (
        f'<CustomJoint name="{name}"><socket_parent_frame>{parent}_offset</socket_parent_frame>'
        f"<socket_child_frame>{child}_offset</socket_child_frame><coordinates>"
        f'<Coordinate name="{coordinate}"><default_value>0.2</default_value><range>-1.5 3</range>{more}</Coordinate>'
        f"</coordinates><frames>{frames}</frames><SpatialTransform>{turn}{slide}</SpatialTransform></CustomJoint>"
    )


def point(name, on, location, kind="PathPoint"):
    parent = "/ground" if on == "ground" else f"/bodyset/{on}"
    return (
        f'<{kind} name="{name}"><socket_parent_frame>{parent}</socket_parent_frame>'
        f"<location>{location}</location></{kind}>"
    )


def wrap(surface, between="-1 -1"):
    return (
        f'<PathWrap name="around {surface}"><wrap_object>{surface}</wrap_object><method>hybrid</method>'
        f"<range>{between}</range></PathWrap>"
    )


def muscle(name, points, wraps="", kind="Thelen2003Muscle", more=""):
    return (
        f'<{kind} name="{name}"><GeometryPath name="path"><PathPointSet><objects>{points}</objects></PathPointSet>'
        f"<PathWrapSet><objects>{wraps}</objects></PathWrapSet></GeometryPath>"
        "<max_isometric_force>620</max_isometric_force><optimal_fiber_length>0.13</optimal_fiber_length>"
        "<tendon_slack_length>0.15</tendon_slack_length><pennation_angle_at_optimal>0.1</pennation_angle_at_optimal>"
        f"<max_contraction_velocity>9</max_contraction_velocity>{more}</{kind}>"
    )


ROLL = (
    '<WrapCylinder name="roll"><xyz_body_rotation>0.1 -0.2 0.3</xyz_body_rotation><translation>0.002 -0.288 0.001'
    "</translation><radius>0.02</radius><length>0.1</length><quadrant>x</quadrant><active>true</active></WrapCylinder>"
)
BALL = (
    '<WrapSphere name="ball"><xyz_body_rotation>0 0 0</xyz_body_rotation><translation>0 -0.01 0</translation>'
    "<radius>0.025</radius><quadrant>all</quadrant></WrapSphere>"
)
EGG = '<WrapEllipsoid name="egg"><dimensions>0.1 0.2 0.3</dimensions></WrapEllipsoid>'
FLEXOR = point("o", "humerus", "0.01 -0.1 0.01") + point("i", "forearm", "0.02 -0.06 0")
BICEPS = point("o", "ground", "0.03 0.05 0.02") + point("v", "humerus", "0.03 -0.2 0.01")
BICEPS += point("i", "forearm", "0.02 -0.05 0")
SHOULDER = custom(
    "shoulder", "ground", "humerus", "-0.01 0.02 0.17", "elevation",
    axis("rotation1", "0.1 0 1", LINEAR.format(1, 0), "elevation") + axis("rotation2", "0 1 0", CONSTANT.format(0.3)),
    axis("translation1", "1 0 0", CONSTANT.format(0.004)),
)  # fmt: skip
ELBOW = custom(
    "elbow", "humerus", "forearm", "0.006 -0.29 -0.012", "flexion",
    axis("rotation1", "0.04 0.05 0.99", LINEAR.format(1, 0), "flexion"),
)  # fmt: skip


def arm(joints="", forces="", constraints="", bodies=""):
    """The text of the file, with more of each."""
    muscles = muscle("flexor", FLEXOR, wrap("roll")) + muscle("biceps", BICEPS, wrap("ball", "1 2"))
    return f"""<?xml version="1.0" encoding="UTF-8" ?>
<OpenSimDocument Version="40000"><Model name="arm"><gravity>0 -9.8 0</gravity><BodySet><objects>
{body("humerus", 1.8, "0 -0.18 0", "0.0148 0.0045 0.0131 0.0001 0 0", ROLL + BALL + EGG)}
{body("forearm", 1.5, "0 -0.18 0.01", "0.0193 0.0016 0.0206 0 0 0")}{bodies}</objects></BodySet>
<JointSet><objects>{ELBOW}{SHOULDER}{joints}</objects></JointSet>
<ForceSet><objects>{muscles}{forces}</objects></ForceSet>
<ConstraintSet><objects>{constraints}</objects></ConstraintSet></Model></OpenSimDocument>"""
