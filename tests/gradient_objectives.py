"""Objectives that tests of gradients share."""

import numpy as np
from force_samples import IN_STEPS as KNOWN
from force_samples import SAMPLES

__all__ = ["KNOWN", "SAMPLES"]


def energy_of(mechanism):
    masses = np.array([body.mass for body in mechanism.bodies])
    inertias = np.array([body.inertia for body in mechanism.bodies])

    def energy(state):
        spin = np.einsum("ni,nij,nj", state.angular_velocity, inertias, state.angular_velocity)
        return float(
            0.5 * masses @ np.sum(state.velocity**2, axis=1) + 0.5 * spin - masses @ state.position @ mechanism.gravity
        )

    return energy
