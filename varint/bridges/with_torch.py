"""A run as a function of PyTorch."""

from collections.abc import Callable, Mapping
from typing import Any

from numpy.typing import ArrayLike

from varint.bridges.rollout import Rollout, RolloutStates
from varint.errors import ArgumentError
from varint.io.tables import optional
from varint.mechanism import Mechanism
from varint.model.checks import of_type


def torch_rollout(
    build: Callable[..., Mechanism] | Mechanism,
    duration: float,
    dt: float,
    *,
    times: ArrayLike | None = None,
    order: int | None = None,
    **options: Any,
) -> Callable[[Mapping[str, Any]], RolloutStates]:
    """A run as a function of PyTorch that can be differentiated once, backward (docs/bridges.md).

    Parameters
    ----------
    build : Mechanism or function
        A mechanism, whose parameters are numbers of its description by name: "rod.mass", "motor.effort", the latter
        one number or one a node. Or a function of parameters by name, floats or arrays of numpy, that makes one.
    duration, dt, order
        See `varint.gradient`.
    times : (K,), optional
        s, rising; whole steps. The last node where not given.
    options
        ``scheme``, ``tol``, ``state``, ``force``, ``torque``, ``on_unresolved``, as in `varint.gradient`.

    Returns
    -------
    function
        Of a dict of name to tensor, which are taken as float64 on the CPU; gives `RolloutStates` of such tensors. The
        backward pass is one `varint.gradient` by the parameters that require it.

    Raises
    ------
    ArgumentError
        PyTorch is missing (``varint[torch]``), or a wrong argument. The function raises what `varint.simulate` does,
        and its backward pass what `varint.gradient` does.
    """
    torch: Any = optional("torch", "torch")
    rollout = Rollout(build, duration, dt, times, {"order": order, **options})

    class RunFunction(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, names: list[str], *values: Any) -> tuple:
            ctx.names = names
            ctx.save_for_backward(*values)
            states = rollout.states(_named(names, values))
            return tuple(torch.tensor(array, dtype=torch.float64) for array in states)

        @staticmethod
        @torch.autograd.function.once_differentiable
        def backward(ctx: Any, *cotangents: Any) -> tuple:
            asked = [name for name, needed in zip(ctx.names, ctx.needs_input_grad[1:], strict=True) if needed]
            found = rollout.back(_named(ctx.names, ctx.saved_tensors), asked, cotangents)
            by = dict(zip(asked, found, strict=True))
            return None, *(torch.tensor(by[name]) if name in by else None for name in ctx.names)

    def run(parameters: Mapping[str, Any]) -> RolloutStates:
        given = of_type(parameters, Mapping, "parameters", ArgumentError)
        values = [torch.as_tensor(value, dtype=torch.float64, device="cpu") for value in given.values()]
        return RolloutStates(*RunFunction.apply(list(given), *values))

    return run


def _named(names: list[str], values: Any) -> dict[str, Any]:
    """Parameters, cut off from what they come from."""
    return {name: value.detach() for name, value in zip(names, values, strict=True)}
