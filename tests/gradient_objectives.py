"""Objectives that tests of gradients share."""

import numpy as np
from force_samples import samples

SAMPLES = samples(np.random.default_rng(0))


KNOWN = [name for name in SAMPLES if not any((force.solved_for or force.restricted) for force in SAMPLES[name])]


def energy_of(mechanism):
    masses = np.array([body.mass for body in mechanism.bodies])
    inertias = np.array([body.inertia for body in mechanism.bodies])

    def energy(state):
        spin = np.einsum("ni,nij,nj", state.angular_velocity, inertias, state.angular_velocity)
        return float(
            0.5 * masses @ np.sum(state.velocity**2, axis=1) + 0.5 * spin - masses @ state.position @ mechanism.gravity
        )

    return energy
