"""Gradients by the matrices of a bushing, where the axes along which it decouples are unique and where they are not."""

import numpy as np
import pytest

import varint as vi

pytestmark = pytest.mark.slow

KINDS = {"stiffness", "damping"}
DIAGONAL = np.array([60.0, 60.0, 80.0, 3.0, 3.0, 2.0])


def mounted(stiffness, damping):
    """A block on a bushing, off its centre."""
    block = vi.Body.box("block", (0.3, 0.2, 0.1), 2.0, position=(0.1, 0.02, 0.03))
    bushing = vi.Bushing("mount", "world", "block", point=(0, 0, 0), stiffness=stiffness, damping=damping)
    return vi.Mechanism("mounted", [block], [vi.Free("free", "world", "block")], forces=[bushing])


def end_of(mechanism):
    """A mean of where the block is and how it turns after 0.3 s."""
    return height_of(vi.simulate(mechanism, 0.3, 0.01, on_unresolved="ignore").state(-1))


def height_of(state):
    return float(state.position[0] @ (1.0, 2.0, 3.0) + state.quat_wxyz[0] @ (0.0, 1.0, 0.5, 2.0))


@pytest.mark.parametrize("attribute", sorted(KINDS))
def test_matrices_of_a_bushing(attribute):
    """All 21 components: of stiffness without damping, of both with ratios that differ."""
    values = {"stiffness": np.diag(DIAGONAL)}
    values["damping"] = (
        np.zeros((6, 6)) if attribute == "stiffness" else np.diag(DIAGONAL * (0.01, 0.03, 0.06, 0.1, 0.15, 0.2))
    )
    found = vi.gradient(mounted(**values), height_of, 0.3, 0.01, with_respect_to=[f"mount.{attribute}"])
    slope = found[f"mount.{attribute}"]
    for i, j in ((0, 0), (1, 1), (0, 1), (2, 4), (5, 5), (0, 3)):
        ends = []
        for step in (1e-4, -1e-4):
            changed = {name: value.copy() for name, value in values.items()}
            changed[attribute][i, j] += step
            changed[attribute][j, i] = changed[attribute][i, j]
            ends.append(end_of(mounted(**changed)))
        both = slope[i, j] + (slope[j, i] if i != j else 0.0)
        assert both == pytest.approx((ends[0] - ends[1]) / 2e-4, rel=1e-5, abs=1e-9), (i, j)


@pytest.mark.parametrize("attribute", sorted(KINDS))
@pytest.mark.parametrize("damping", [0.01 * DIAGONAL, 0.01 * DIAGONAL * (1, 1, 1, 2, 3, 4)])
def test_axes_that_are_not_unique_are_told(attribute, damping):
    mechanism = mounted(DIAGONAL, damping)
    with pytest.raises(vi.ArgumentError, match="along some axes damping and stiffness have nearly the same ratio"):
        vi.gradient(mechanism, height_of, 0.1, 0.01, with_respect_to=[f"mount.{attribute}"])

    def made(factor):
        return mounted(factor * DIAGONAL, damping)

    with pytest.raises(vi.ArgumentError, match="along some axes damping and stiffness have nearly the same ratio"):
        vi.gradient(made, height_of, 0.1, 0.01, with_respect_to=["factor"], parameters={"factor": 1.0})
