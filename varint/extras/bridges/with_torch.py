"""A run as a function of PyTorch."""

from collections.abc import Callable, Mapping
from typing import Any

from numpy.typing import ArrayLike

from varint.base.errors import ArgumentError
from varint.extras.bridges.rollout import FIRST_ONLY, Rollout, RolloutStates
from varint.extras.bridges.rollout_parameters import refuse_complex
from varint.files.runs.tables import optional
from varint.mechanism.mechanism import Mechanism


def torch_rollout(
    build: Callable[..., Mechanism] | Mechanism,
    duration: float,
    dt: float,
    *,
    times: ArrayLike | None = None,
    order: int | None = None,
    **options: Any,
) -> Callable[[Mapping[str, Any]], RolloutStates]:
    """Return a run as a function of PyTorch that can be differentiated once, backward (docs/bridges.md).

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
        Of a dict of name to tensor, which are taken as float64 on the CPU, or to number or array of numpy, which are
        constants; gives `RolloutStates` of such tensors. The backward pass is one `varint.gradient` by the parameters
        that require it.

    Raises
    ------
    ArgumentError
        PyTorch is missing (extra ``torch``), or a wrong argument. The function raises it for wrong parameters, and
        the errors of `varint.simulate`; its backward pass the errors of `varint.gradient`, and ArgumentError for second
        derivatives.
    """
    torch: Any = optional("torch", "torch")
    rollout = Rollout(build, duration, dt, times, {"order": order, **options})
    function = _function_of(torch, rollout)

    def tensor_of(label: str, value: Any) -> Any:
        """Return a tensor as float64 on the CPU; None for other numbers, which are constant. Raises ArgumentError."""
        if _holds(torch.Tensor, value):
            raise ArgumentError(f"{label} is a list of tensors, which has no gradient: use torch.stack")
        if not isinstance(value, torch.Tensor):
            return None
        if value.is_complex():
            refuse_complex(label)
        return value.to("cpu", torch.float64)

    def run(parameters: Mapping[str, Any]) -> RolloutStates:
        numbers = rollout.given(parameters, "tensor", tensor_of)
        values = [value if isinstance(value, torch.Tensor) else torch.tensor(value) for value in numbers.values()]
        states = RolloutStates(*function.apply(list(numbers), *values))
        states.mechanism, states.parameters = rollout.mechanism, list(numbers) if rollout.described else None
        return states

    return run


def _function_of(torch: Any, rollout: Rollout) -> Any:
    """Return the function of PyTorch from names and tensors to the arrays of states."""

    class RolloutSweep(torch.autograd.Function):
        # A function by itself, to refuse second derivatives: `once_differentiable` takes those of an objective that
        # is linear in the states for zero.

        @staticmethod
        def forward(names: list[str], asked: list[str], *tensors: Any) -> tuple:
            values, cotangents = tensors[: len(names)], tensors[len(names) :]
            return tuple(map(torch.tensor, rollout.back(_named(names, values), asked, cotangents)))

        @staticmethod
        def setup_context(ctx: Any, inputs: tuple, output: tuple) -> None:
            pass

        @staticmethod
        def backward(ctx: Any, *cotangents: Any) -> tuple:
            raise ArgumentError(FIRST_ONLY)

        vmap = jvp = staticmethod(_refuse_transforms)

    class RunFunction(torch.autograd.Function):
        @staticmethod
        def forward(names: list[str], *values: Any) -> tuple:
            states = rollout.states(_named(names, values))
            return tuple(torch.tensor(array, dtype=torch.float64) for array in states)

        @staticmethod
        def setup_context(ctx: Any, inputs: tuple, output: tuple) -> None:
            ctx.names, *values = inputs
            ctx.save_for_backward(*values)

        @staticmethod
        def backward(ctx: Any, *cotangents: Any) -> tuple:
            asked = [name for name, needed in zip(ctx.names, ctx.needs_input_grad[1:], strict=True) if needed]
            gradients = RolloutSweep.apply(ctx.names, asked, *ctx.saved_tensors, *cotangents)
            by = dict(zip(asked, gradients, strict=True))
            return None, *(by.get(name) for name in ctx.names)

        vmap = jvp = staticmethod(_refuse_transforms)

    return RunFunction


def _holds(kind: type, value: Any) -> bool:
    """Return whether a list, or a list in it, has a ``kind`` among its parts."""
    return isinstance(value, list | tuple) and any(isinstance(part, kind) or _holds(kind, part) for part in value)


def _refuse_transforms(*_: Any) -> None:
    raise ArgumentError(
        "a rollout has derivatives in reverse alone, of one run a call: no jvp, no vmap, no torch.func.jacrev. Use"
        " backward(), torch.autograd.grad or torch.func.grad, and a loop"
    )


def _named(names: list[str], values: Any) -> dict[str, Any]:
    """Return parameters by name, detached from the graph of derivatives."""
    return {name: value.detach() for name, value in zip(names, values, strict=True)}
