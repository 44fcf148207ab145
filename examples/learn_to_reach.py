"""A policy in PyTorch that throws the tip of an arm to any goal: ``python examples/learn_to_reach.py [PICTURE]``.

A network takes the goal and gives the torques of both joints over a second; the run is a function of PyTorch, and
`vi.gradient` takes the derivative of where the tip ends back to the network. No trial is wasted on finding a slope:
some thousand runs are enough, a minute. Needs ``pip install "varint-dynamics[torch]"``.
"""

import dataclasses
import sys

import numpy as np
import torch

import varint as vi

DURATION, DT, KNOTS = 1.0, 0.01, 5  # s; torques are linear between the knots
LENGTH, MASS, TORQUE = 0.5, 1.0, 5.0  # m, kg, N m: of each link; a scale of the torques
DAMPING = 0.3  # N m s, of the joints
BATCH, ROUNDS = 4, 300  # goals of a step of the optimiser, and steps
NEAR, FAR = 0.4, 0.9  # m, of the goals from the shoulder

STEPS = round(DURATION / DT)
RAMPS = torch.tensor(
    np.array(  # (nodes, knots)
        [np.interp(np.arange(STEPS + 1) / STEPS, np.linspace(0, 1, KNOTS), row) for row in np.eye(KNOTS)]
    )
).T


def arm() -> vi.Mechanism:
    """Two links that hang, with a motor and a damper at either joint."""
    bodies, joints, forces = [], [], []
    for k, (joint, body) in enumerate((("shoulder", "upper"), ("elbow", "lower"))):
        top = np.array([0.0, 0.0, -k * LENGTH])
        bodies.append(vi.Body.rod(body, top, top - [0, 0, LENGTH], MASS))
        joints.append(vi.Revolute(joint, bodies[k - 1].name if k else "world", body, point=top, axis=(0, 1, 0)))
        forces.append(vi.Motor(f"{joint} motor", joint=joint, effort=0.0))
        forces.append(vi.JointDamper(f"{joint} damper", joint=joint, damping=DAMPING))
    return vi.Mechanism("arm", bodies, joints, forces=forces)


ARM = arm()
ROLLOUT = vi.bridges.torch_rollout(ARM, DURATION, DT)


def tip(states) -> torch.Tensor:
    """(2,) x and z of the tip at the last node, m: half a link from the centre of the lower one, along its z."""
    w, x, y, z = states.quat_wxyz[-1, 1]
    along = torch.stack([2 * (x * z + w * y), 1 - 2 * (x * x + y * y)])
    return states.position[-1, 1, ::2] + 0.5 * LENGTH * along


def new_policy() -> torch.nn.Module:
    """From goals (n, 2) to the torques at the knots (n, 2 KNOTS), over TORQUE."""
    torch.manual_seed(0)
    layers = torch.nn.Linear(2, 32), torch.nn.Tanh(), torch.nn.Linear(32, 2 * KNOTS)
    return torch.nn.Sequential(*layers).double()


def efforts(knots: torch.Tensor) -> dict[str, torch.Tensor]:
    """The torques (nodes,) of both motors, N m, from what a policy gives for one goal."""
    shoulder, elbow = TORQUE * (RAMPS @ knots.reshape(KNOTS, 2)).T
    return {"shoulder motor.effort": shoulder, "elbow motor.effort": elbow}


def distances(policy: torch.nn.Module, goals: torch.Tensor) -> torch.Tensor:
    """(n,) from goals (n, 2) to where the tip ends, m."""
    ends = [tip(ROLLOUT(efforts(knots))) for knots in policy(goals)]
    return torch.linalg.norm(torch.stack(ends) - goals, dim=1)


def random_goals(count: int, seed: int) -> torch.Tensor:
    """(count, 2) below the shoulder, m."""
    random = np.random.default_rng(seed)
    angle, radius = random.uniform(-np.pi / 2, np.pi / 2, count), random.uniform(NEAR, FAR, count)
    return torch.tensor(np.column_stack([radius * np.sin(angle), -radius * np.cos(angle)]))


def learn(rounds: int = ROUNDS) -> torch.nn.Module:
    """A policy, by Adam, each step of which takes BATCH new goals."""
    policy = new_policy()
    optimiser = torch.optim.Adam(policy.parameters(), lr=0.01)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, rounds)
    for k in range(rounds):
        optimiser.zero_grad()
        distances(policy, random_goals(BATCH, k)).square().mean().backward()
        optimiser.step()
        schedule.step()
    return policy


def main(picture=None):
    goals, policy = random_goals(20, seed=10**6), learn()
    with torch.no_grad():
        before, after = distances(new_policy(), goals), distances(policy, goals)
    print(f"the tip misses 20 new goals by {100 * before.mean():.0f} cm before, {100 * after.mean():.1f} cm after")
    if picture:
        inputs = {name: effort.detach().numpy() for name, effort in efforts(policy(goals[:1])[0]).items()}
        forces = [
            dataclasses.replace(force, effort=inputs[f"{force.name}.effort"]) if isinstance(force, vi.Motor) else force
            for force in ARM.forces
        ]
        run = vi.simulate(dataclasses.replace(ARM, forces=forces), DURATION, DT)
        figure = run.plot("mechanism", times=np.linspace(0, DURATION, 7), trace=("lower", (0, 0, -2 * LENGTH)))
        figure.axes[0].plot(*goals[0], "x", color="black", markersize=12, zorder=99)
        figure.savefig(picture, dpi=180)


if __name__ == "__main__":
    main(*sys.argv[1:])
