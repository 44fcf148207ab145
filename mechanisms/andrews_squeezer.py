"""Andrews' squeezing mechanism: seven small bodies in a plane (IFToMM benchmark A03)."""

import numpy as np

import varint as vi
from varint.mechanisms._links import hinge, polar

# names and values of Schiehlen, Multibody Systems Handbook (1990); kg, kg m^2 (about the normal), m
MASS = (0.04325, 0.00365, 0.02373, 0.00706, 0.07050, 0.00706, 0.05498)
MOMENT = (2.194e-6, 4.410e-7, 5.255e-6, 5.667e-7, 1.169e-5, 5.667e-7, 1.912e-5)
A, B, C = (np.array(point) for point in ((-0.06934, 0, -0.00227), (-0.03635, 0, 0.03273), (0.014, 0, 0.072)))
RR, RA, D, DA, E, EA = 0.007, 0.00092, 0.028, 0.0115, 0.02, 0.01421
SS, SA, SB, SC, SD = 0.035, 0.01874, 0.01043, 0.018, 0.02
TA, TB, U, UA, UB, ZF, ZT, FA = 0.02308, 0.00916, 0.04, 0.01228, 0.00449, 0.02, 0.04, 0.01421
REST_LENGTH = 0.07785
# beta, Theta, gamma, Phi, delta, Omega, epsilon at the start, rad
ANGLES = (
    -0.0617138900142764496,
    0.0,
    0.455279819163070380,
    0.222668390165885885,
    0.487364979543842550,
    -0.222668390165885885,
    1.23054744454982119,
)


def build(torque: float = 0.033, stiffness: float = 4530.0, rate: float = 0.0) -> vi.Mechanism:
    """Bodies K1 to K7 of the IVP test set, its y axis being z here, without gravity.

    The moments of inertia in the plane, which do not matter there, are those of a thin plate.

    Zero of the coordinates: the pose at the start, that of the test set: all hinges count from there.

    Parameters
    ----------
    torque : float, N m
        Of the motor on the crank K1.
    stiffness : float, N/m
        Of the spring from K3 to the ground.
    rate : float, rad/s
        Of the crank at the start.
    """
    beta, theta, gamma, phi, delta, omega, epsilon = ANGLES
    origin, crank_pin = np.zeros(3), polar(RR, beta)
    turn = beta + theta
    meeting = crank_pin - polar(D, turn)
    elbow, heel = A + polar(ZT, delta), A + polar(U, epsilon - np.pi / 2)
    centres = [
        polar(RA, beta),
        crank_pin - polar(DA, turn),
        B + polar(SA, gamma - np.pi / 2) + polar(SB, gamma),
        elbow + polar(E - EA, phi + delta - np.pi / 2),
        A + polar(TA, delta) + polar(TB, delta + np.pi / 2),
        heel + polar(ZF - FA, omega + epsilon),
        A + polar(UA, epsilon - np.pi / 2) + polar(UB, epsilon + np.pi),
    ]
    bodies = [
        vi.Body(f"K{i}", mass=mass, inertia=moment * np.diag([0.5, 1.0, 0.5]), position=centre)
        for i, (mass, moment, centre) in enumerate(zip(MASS, MOMENT, centres, strict=True), start=1)
    ]
    joints = [
        hinge("O", "world", "K1", origin),
        hinge("crank pin", "K1", "K2", crank_pin),
        hinge("F3", "K2", "K3", meeting),
        hinge("F4", "K2", "K4", meeting),
        hinge("F6", "K2", "K6", meeting),
        hinge("B", "world", "K3", B),
        hinge("E", "K4", "K5", elbow),
        hinge("A5", "world", "K5", A),
        hinge("H", "K6", "K7", heel),
        hinge("A7", "world", "K7", A),
    ]
    held = B + polar(SC, gamma - np.pi / 2) + polar(SD, gamma)
    forces = [
        vi.Motor("motor", joint="O", effort=torque),
        vi.Spring("spring", "world", "K3", point_a=C, point_b=held, stiffness=stiffness, rest_length=REST_LENGTH),
    ]
    start = {"rates": {"O": rate}}
    return vi.Mechanism("Andrews' squeezer", bodies, joints, gravity=(0, 0, 0), forces=forces, start=start)


EXPECTED = {
    "bodies": 7,
    "rows": 50,
    "mobility": 1,
    "redundant": 9,
    "loops": 3,
    "dt": 1e-4,
    "duration": 0.05,
    "order": [
        {
            "parameters": {"torque": 0.0, "stiffness": 0.0, "rate": 100.0},
            "duration": 0.2,
            "exact_first_order_start": True,
            "slow": True,
        }
    ],
}
