"""Automatic mixed precision: where the device has it, with loss scaling for fp16."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import Any, Literal

import paddle

from ernie_pp.config.schema import TrainConfig
from ernie_pp.errors import ConfigError
from ernie_pp.training.cpu_types import check_cpu_precision

_DTYPES: dict[str, Any] = {"bf16": "bfloat16", "fp16": "float16"}
_FIRST_SCALE, _LARGEST_SCALE = 2.0**15, 2.0**24
_STEPS_TO_DOUBLE = 2000


class Precision:
    """How the forward pass is cast, and by what its loss is multiplied before the backward pass.

    fp16 gradients below 6e-8 would become zero: the loss is scaled up until something overflows, then halved
    (Micikevicius et al. 2018, "Mixed Precision Training", section 3.2). bf16 and fp32 need no scale.
    """

    def __init__(self, config: TrainConfig) -> None:
        self.dtype = _DTYPES.get(config.precision)
        self.level: Literal["O1", "O2"] = config.amp_level
        self.is_scaled = config.precision == "fp16"
        self.scale = _FIRST_SCALE if self.is_scaled else 1.0
        self._good_steps = 0

    def prepare(self, stack: Any) -> None:
        """Cast the weights for O2; the optimizer keeps float32 masters of them."""
        if self.dtype is not None and self.level == "O2":
            paddle.amp.decorate(models=stack, level="O2", dtype=self.dtype)

    def autocast(self) -> AbstractContextManager[Any]:
        """The context of a forward pass."""
        if self.dtype is None:
            return nullcontext()
        return paddle.amp.auto_cast(level=self.level, dtype=self.dtype)

    def record(self, *, is_finite: bool) -> bool:
        """Adapt the scale after a step; True where lowering it may mend a step that was not finite."""
        if not self.is_scaled:
            return False
        if not is_finite:
            self._good_steps = 0
            could_mend = self.scale > 1.0
            self.scale = max(1.0, self.scale / 2)
            return could_mend
        self._good_steps += 1
        if self._good_steps == _STEPS_TO_DOUBLE:
            self._good_steps, self.scale = 0, min(_LARGEST_SCALE, self.scale * 2)
        return False

    def state(self) -> dict[str, float]:
        """What a resumed run needs to know."""
        return {"loss_scale": self.scale, "good_steps": float(self._good_steps)}

    def load_state(self, state: dict[str, float]) -> None:
        """Go on from `state`; ValueError for a scale that no run has had."""
        if not 1.0 <= state["loss_scale"] <= _LARGEST_SCALE:
            raise ValueError(f"loss_scale is {state['loss_scale']}, expected 1 to {_LARGEST_SCALE:.0f}")
        self.scale, self._good_steps = state["loss_scale"], int(state["good_steps"])


def check_precision(config: TrainConfig, *, device: str) -> None:
    """Refuse a number type the device does not compute in; `device` is "cpu" or "gpu"."""
    if device == "cpu":
        check_cpu_precision(config)
    if config.precision == "fp32":
        return
    where = f"train.precision {config.precision}"
    is_supported = paddle.amp.is_bfloat16_supported if config.precision == "bf16" else paddle.amp.is_float16_supported
    if not is_supported():
        other = "fp16" if config.precision == "bf16" else "fp32"
        raise ConfigError(where, "this GPU does not compute in it", f"Set train.precision: {other}.")
