"""A run as a function of JAX."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from numpy.typing import ArrayLike

from varint.base.checks import whole_number
from varint.base.errors import ArgumentError
from varint.extras.bridges.rollout import FIRST_ONLY, Rollout, RolloutStates
from varint.extras.bridges.rollout_parameters import refuse_complex
from varint.files.runs.tables import optional
from varint.mechanism.mechanism import Mechanism

SIZES = (3, 4, 3, 3)  # of the states' parts


def jax_rollout(
    build: Callable[..., Mechanism] | Mechanism,
    duration: float,
    dt: float,
    *,
    times: ArrayLike | None = None,
    order: int | None = None,
    bodies: int | None = None,
    **options: Any,
) -> Callable[[Mapping[str, Any]], RolloutStates]:
    """Return a run as a function of JAX that can be differentiated once, in reverse (docs/bridges.md).

    Parameters
    ----------
    build : Mechanism or function
        A mechanism, whose parameters are numbers of its description by name: "rod.mass", "motor.effort", the latter
        one number or one a node. Or a function of parameters by name, floats or arrays of numpy, that makes one.
    duration, dt, order
        See `varint.gradient`.
    times : (K,), optional
        s, rising; whole steps. The last node where not given.
    bodies : int, optional
        How many the mechanism has, nb: needed for a function within ``jax.jit`` and ``jax.vmap``, which ask for shapes
        before a run.
    options
        ``scheme``, ``tol``, ``state``, ``force``, ``torque``, ``on_unresolved``, as in `varint.gradient`.

    Returns
    -------
    function
        Of a dict of name to array, which are taken as float64; gives `RolloutStates` of such arrays. The backward pass
        is one `varint.gradient` by all parameters. Within ``jit`` both are callbacks on the host.

    Raises
    ------
    ArgumentError
        JAX is missing (extra ``jax``), or a wrong argument. The function raises it where ``jax_enable_x64`` is off or
        ``bodies`` is needed, for wrong parameters and second derivatives, and the errors of `varint.simulate`; its
        backward pass those of `varint.gradient`.
    """
    jax = optional("jax", "jax")
    rollout = Rollout(build, duration, dt, times, {"order": order, **options})
    if isinstance(build, Mechanism):
        bodies = len(build.bodies)
    elif bodies is not None:
        whole_number(bodies, "bodies", 1, ArgumentError)

    def types() -> RolloutStates:
        if bodies is None:
            raise ArgumentError("within jax.jit and jax.vmap jax_rollout needs bodies=, how many the mechanism has")
        return RolloutStates(*(jax.ShapeDtypeStruct((len(rollout.nodes), bodies, n), float) for n in SIZES))

    def forward(parameters: dict) -> RolloutStates:
        return _on_host(jax, rollout.states, types, parameters)

    def back(parameters: dict, cotangents: RolloutStates) -> dict:
        return dict(zip(parameters, rollout.back(parameters, list(parameters), cotangents), strict=True))

    def backward(parameters: dict, cotangents: RolloutStates) -> tuple[dict]:
        def like() -> dict:
            return {name: jax.ShapeDtypeStruct(value.shape, float) for name, value in parameters.items()}

        return (_on_host(jax, back, like, parameters, cotangents),)

    first, last = _once(jax, forward), _once(jax, backward)
    differentiable = jax.custom_vjp(first)
    differentiable.defvjp(lambda parameters: (first(parameters), parameters), last)

    def run(parameters: Mapping[str, Any]) -> RolloutStates:
        if not jax.config.jax_enable_x64:
            raise ArgumentError("a rollout needs float64: call jax.config.update('jax_enable_x64', True) at the start")
        numbers = rollout.given(parameters, "array", partial(_array_of, jax))
        states = differentiable({name: jax.numpy.asarray(value) for name, value in numbers.items()})
        if rollout.described:  # of a function nothing is known while `jit` traces it
            states.mechanism, states.parameters = rollout.mechanism, list(numbers)
        return states

    return run


def _on_host(jax: Any, function: Callable, types: Callable[[], Any], *values: Any) -> Any:
    """Call at once if the values are known, so that errors come as they are raised; else as a callback."""
    if any(isinstance(leaf, jax.core.Tracer) for leaf in jax.tree.leaves(values)):
        return jax.pure_callback(function, types(), *values, vmap_method="sequential")
    return jax.tree.map(jax.numpy.asarray, function(*values))


def _once(jax: Any, function: Callable) -> Callable:
    """Return ``function`` of JAX with a derivative whose derivative raises ArgumentError."""
    differentiable = jax.custom_jvp(function)

    @differentiable.defjvp
    def refuse(primals: Any, tangents: Any) -> None:
        raise ArgumentError(FIRST_ONLY)

    return differentiable


def _array_of(jax: Any, label: str, value: Any) -> Any:
    """Return a value that holds arrays of JAX as one array of floats; None for other numbers.

    Raises ArgumentError, which names the value by ``label``, for complex numbers.
    """
    if not any(isinstance(leaf, jax.Array) for leaf in jax.tree.leaves(value)):
        return None
    array = jax.numpy.asarray(value)
    if jax.numpy.iscomplexobj(array):
        refuse_complex(label)
    return array.astype(float)
