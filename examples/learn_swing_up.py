"""A learned swing-up of a closed linkage: ``python examples/learn_swing_up.py [PICTURE]``.

The double-crank four-bar hangs. Its motor is too weak to lift it at once, so it has to swing; at the top it has to be
held. Soft actor-critic (stable-baselines3) learns both from trials, in some minutes. Needs
``pip install "varint-dynamics[learn]"``.
"""

import sys

import numpy as np
import stable_baselines3

import varint as vi

TORQUE = 8.0  # N m, at most
DT, FRAME_SKIP, STEPS = 0.005, 10, 100  # s, steps of an action, actions of an episode
TRIALS = 15_000  # actions to learn from
SPEED = 8.0  # rad/s, of the crank in a free fall

LINKAGE = vi.mechanisms.four_bar(case="double-crank", angle=-np.pi / 2, rate=0.0)
MOTOR = vi.Motor("motor", joint="crank pivot", effort=0.0)
MECHANISM = vi.Mechanism("double crank", LINKAGE.bodies, LINKAGE.joints, forces=[MOTOR])
MASS = np.array([body.mass for body in MECHANISM.bodies])
TURN = MECHANISM.sweep("crank pivot", np.linspace(0, 2 * np.pi, 361))


def height(state: vi.State) -> float:
    """Of the centre of mass of all links, m."""
    return float(MASS @ state.position[:, 2] / MASS.sum())


HEIGHTS = np.array([height(TURN.state(k)) for k in range(len(TURN))])


def observations(sim: vi.Stepper) -> list[float]:
    """Where the crank is on its circle, and how fast it turns."""
    angle, rate = sim.coordinates[0], sim.rates[0]
    return [np.cos(angle), np.sin(angle), rate / SPEED]


def reward(sim: vi.Stepper) -> float:
    """0 at rest at the top, about -1 where the linkage hangs."""
    missing = (HEIGHTS.max() - height(sim.state)) / np.ptp(HEIGHTS)
    return -missing - 0.1 * (sim.rates[0] / SPEED) ** 2 - 0.01 * (sim.inputs[0] / TORQUE) ** 2


def environment():
    """Of Gymnasium; each episode begins with the linkage at rest, near where it hangs."""

    def start(random: np.random.Generator) -> vi.State:
        return TURN.state((HEIGHTS.argmin() + random.integers(-10, 11)) % (len(TURN) - 1))

    return vi.gym.make(
        MECHANISM,
        reward=reward,
        actions={"motor": (-TORQUE, TORQUE)},
        observations=observations,
        start=start,
        dt=DT,
        frame_skip=FRAME_SKIP,
        steps=STEPS,
    )


def learn(trials: int = TRIALS) -> stable_baselines3.SAC:
    """A policy, the mean of whose actions is deterministic; an action is learned from after each that is taken."""
    policy = {"net_arch": [64, 64]}
    learner = stable_baselines3.SAC(
        "MlpPolicy", environment(), learning_rate=1e-3, learning_starts=1000, policy_kwargs=policy, seed=0, device="cpu"
    )
    return learner.learn(trials)


def swing_up(act) -> vi.Trajectory:
    """An episode from where the linkage hangs, recorded."""
    sim = vi.Stepper(MECHANISM, DT, state=TURN.state(int(HEIGHTS.argmin())), every=1)
    for _ in range(STEPS):
        sim.set("motor", float(np.clip(act(observations(sim)), -TORQUE, TORQUE)[0]))
        sim.step(FRAME_SKIP)
    return sim.trajectory()


def returns(act, episodes: int = 10) -> np.ndarray:
    """Sums of the rewards (episodes,) with ``act(observation)`` as the action."""
    env, sums = environment(), np.zeros(episodes)
    for k in range(episodes):
        observation, _ = env.reset(seed=k)
        over = False
        while not over:
            observation, reward, terminated, truncated, _ = env.step(act(observation))
            sums[k] += reward
            over = terminated or truncated
    return sums


def main(picture=None):
    learner, random = learn(), np.random.default_rng(0)

    def policy(observation):
        return learner.predict(np.asarray(observation), deterministic=True)[0]

    print(f"random torques: {returns(lambda _: random.uniform(-TORQUE, TORQUE, 1)).mean():.0f} in an episode")
    print(f"learned: {returns(policy).mean():.0f}; to hang is {-STEPS}")
    run = swing_up(policy)
    top = np.ptp(HEIGHTS) - (HEIGHTS.max() - height(run[-1]))
    print(f"at the end it is {100 * top / np.ptp(HEIGHTS):.0f} % of the way up")
    if picture:
        run.plot("mechanism", times=np.linspace(0, run.t[-1], 10)).savefig(picture, dpi=180)


if __name__ == "__main__":
    main(*sys.argv[1:])
