"""AdamW with a learning rate for each layer, no decay of biases and norms, and exact clipping by the global norm."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import paddle
from paddle import _C_ops

from ernie_pp.config.schema import TrainConfig
from ernie_pp.errors import ModelError
from ernie_pp.models.stack import layer_index_of

_NOT_DECAYED = re.compile(r"(\.bias|layer_norm\.weight|norm\d*\.weight)$|^crf\.")
# Accumulators of Paddle's AdamW, by the suffix it gives their names.
_ACCUMULATORS = ("moment1_0", "moment2_0", "beta1_pow_acc_0", "beta2_pow_acc_0")
_MASTERS = "master_weights"

Parameters = Mapping[str, paddle.Tensor]


@dataclass(frozen=True)
class ParameterRule:
    """How one parameter is updated: its share of the learning rate, and whether its weights decay."""

    rate: float
    is_decayed: bool


def parameter_rules(
    names: list[str], *, num_blocks: int, config: TrainConfig, own_rates: Mapping[str, float] | None = None
) -> dict[str, ParameterRule]:
    """The rule of each canonical name.

    The rate falls by `layer_decay` from each layer to the one below (Howard and Ruder 2018, "Universal Language Model
    Fine-tuning", section 3.2). The head has its own learning rate where one is set, and so have the parameters whose
    names begin as `own_rates` say.
    """
    head = num_blocks + 1
    head_rate = (config.head_learning_rate or config.learning_rate) / config.learning_rate
    rules = {}
    for name in names:
        layer = layer_index_of(name, num_blocks=num_blocks)
        rate = head_rate if layer == head else config.layer_decay ** (head - layer)
        own = next((value for start, value in (own_rates or {}).items() if name.startswith(start)), None)
        rate = rate if own is None else own / config.learning_rate
        rules[name] = ParameterRule(rate, is_decayed=is_decayed(name))
    return rules


def is_decayed(name: str) -> bool:
    """Whether weight decay applies: not to biases and norms."""
    return _NOT_DECAYED.search(name) is None


class Optimizer:
    """AdamW (Loshchilov and Hutter 2019, "Decoupled Weight Decay Regularization") over canonical names."""

    def __init__(
        self,
        parameters: Parameters,
        *,
        num_blocks: int,
        config: TrainConfig,
        owned: Collection[str] | None = None,
        own_rates: Mapping[str, float] | None = None,
    ) -> None:
        """`owned` are the names this process updates and keeps accumulators of; None: all.

        `own_rates` are learning rates of parameters, by what their names begin with.
        """
        self.parameters = dict(parameters)
        self.owned = frozenset(self.parameters if owned is None else owned)
        self._names = {parameter.name: name for name, parameter in self.parameters.items()}
        rules = parameter_rules(list(self.parameters), num_blocks=num_blocks, config=config, own_rates=own_rates)
        decayed = {parameter.name for name, parameter in self.parameters.items() if rules[name].is_decayed}
        for name, parameter in self.parameters.items():
            # Paddle's lr_ratio is refused on a CPU; this attribute does the same on every device.
            parameter.optimize_attr["learning_rate"] = rules[name].rate
        self.clip_norm = config.clip_norm
        self.adamw = paddle.optimizer.AdamW(
            learning_rate=config.learning_rate,
            beta2=config.adam_beta2,
            parameters=[parameter for name, parameter in self.parameters.items() if name in self.owned],
            weight_decay=config.weight_decay,
            apply_decay_param_fun=decayed.__contains__,
            multi_precision=True,
        )

    def gradient_square(self) -> float:
        """Sum of the squares over the gradients of all parameters; NaN or infinite if any element is."""
        squares = [square_sum(gradient) for gradient in self._gradients()]
        # One transfer from the device, and the sum over tensors in float64.
        return float(paddle.stack(squares).numpy().astype(np.float64).sum()) if squares else 0.0

    def scale_gradients(self, factor: float) -> None:
        """Multiply every gradient by `factor` in place; 1.0 costs nothing."""
        if factor != 1.0:
            with paddle.no_grad():
                for gradient in self._gradients():
                    gradient.scale_(factor)

    def clip_factor(self, norm: float) -> float:
        """What brings gradients of that norm to `clip_norm`; 1.0 where they are within it."""
        if self.clip_norm is None or norm <= self.clip_norm:
            return 1.0
        return self.clip_norm / norm

    def step(self, learning_rate: float) -> None:
        """Update the owned parameters by their gradients as they are now."""
        self.adamw.set_lr(learning_rate)
        self.adamw.step()

    def clear_gradients(self) -> None:
        """Forget the gradients."""
        for parameter in self.parameters.values():
            parameter.clear_gradient(False)  # it ignores the name of this argument

    def first_bad_gradient(self) -> str | None:
        """Canonical name of the first parameter whose gradient is not finite."""
        for name, parameter in self.parameters.items():
            if parameter.grad is not None and not bool(paddle.isfinite(parameter.grad).all()):
                return name
        return None

    def state(self) -> dict[str, np.ndarray]:
        """A copy of the accumulators, as `<canonical name>.<accumulator>`; empty before the first step."""
        values: Any = self.adamw.state_dict()
        state = {}
        for own_name, name in self._names.items():
            for suffix in _ACCUMULATORS:
                if f"{own_name}_{suffix}" in values:
                    state[f"{name}.{suffix}"] = values[f"{own_name}_{suffix}"].numpy()
            if own_name in values.get(_MASTERS, {}):
                state[f"{name}.{_MASTERS}"] = values[_MASTERS][own_name].numpy()
        return state

    def load_state(self, state: Mapping[str, np.ndarray]) -> None:
        """Set the accumulators to what `state` gave; ModelError for a name of no parameter here."""
        own_names = {name: own_name for own_name, name in self._names.items() if name in self.owned}
        values: dict[str, Any] = {}
        for key, array in state.items():
            name, _, suffix = key.rpartition(".")
            if name not in own_names or suffix not in (*_ACCUMULATORS, _MASTERS):
                raise ModelError(
                    f"optimizer state {key}", "belongs to no parameter of this model", "Use its own model."
                )
            shape = tuple(self.parameters[name].shape)
            if array.dtype != np.float32 or array.shape not in (shape, (1,)):
                what = f"has shape {list(array.shape)} and type {array.dtype}, expected {list(shape)} of float32"
                raise ModelError(f"optimizer state {key}", what, "Use another checkpoint.")
            if suffix == _MASTERS:
                values.setdefault(_MASTERS, {})[own_names[name]] = paddle.to_tensor(array)
            else:
                values[f"{own_names[name]}_{suffix}"] = paddle.to_tensor(array)
        _check_whole(state)
        if values:
            self.adamw.set_state_dict(values)

    def _gradients(self) -> list[paddle.Tensor]:
        gradients = (parameter.grad for parameter in self.parameters.values())
        return [gradient for gradient in gradients if gradient is not None]


def _check_whole(state: Mapping[str, np.ndarray]) -> None:
    """ModelError where a parameter has some accumulators only; one that never had a gradient has none."""
    known = {key.rpartition(".")[::2] for key in state}
    for name in {name for name, _ in known}:
        missing = [suffix for suffix in _ACCUMULATORS if (name, suffix) not in known]
        if missing:
            where = f"optimizer state {name}.{missing[0]}"
            raise ModelError(where, "is missing, and others of it are there", "Use another checkpoint.")


def square_sum(gradient: paddle.Tensor) -> paddle.Tensor:
    """Sum of the squares of all elements, a float32 scalar."""
    # The operation of Paddle's own clipping. paddle.dot is 1.6 % off on the 10 million elements of an embedding table.
    return _C_ops.squared_l2_norm(gradient.astype("float32"))
