"""Task heads over the encoder, each with the parameters of PaddleNLP's own task model."""

from __future__ import annotations

from typing import Any

import paddle
from paddle import nn

from ernie_pp.models.dropout import DropoutState, MaskSource, seed_paddle

PooledInput = tuple[paddle.Tensor, paddle.Tensor]


class ClassificationHead(nn.Layer):
    """Pooler, dropout and one linear layer, as in PaddleNLP's ErnieForSequenceClassification."""

    def __init__(self, pooler: Any, *, config: Any, layer_index: int, state: DropoutState) -> None:
        super().__init__()
        self.pooler = pooler
        given = config.classifier_dropout
        self.rate = config.hidden_dropout_prob if given is None else given
        normal = paddle.ParamAttr(initializer=nn.initializer.Normal(std=config.initializer_range))
        self.classifier = nn.Linear(config.hidden_size, config.num_labels, weight_attr=normal)
        self.layer_index, self.state = layer_index, state

    def forward(self, inputs: PooledInput) -> paddle.Tensor:
        """Logits [rows, labels] from the first position of `hidden`; the mask is not used."""
        hidden, _ = inputs
        pooled = self.pooler(hidden)
        if self.training and self.rate:
            pooled = self._drop(pooled)
        return self.classifier(pooled)

    def _drop(self, pooled: paddle.Tensor) -> paddle.Tensor:
        if self.state.fast:
            return MaskSource(self.state.keys, self.layer_index).drop(pooled, self.rate)
        seed_paddle(self.state.keys, self.layer_index)
        return nn.functional.dropout(pooled, self.rate)

    def canonical_names(self) -> dict[str, str]:
        """PaddleNLP's name of each parameter here."""
        names = [name for name, _ in self.named_parameters()]
        return {name: f"ernie.{name}" if name.startswith("pooler.") else name for name in names}
