"""The head of classification, with the parameters of PaddleNLP's own task model."""

from __future__ import annotations

from typing import Any

import paddle
from paddle import nn

from ernie_pp.models.dropout import DropoutState, drop_in_layer
from ernie_pp.models.head_specs import HeadSpec

MASKED = -1e4  # what PaddleNLP adds to the score of a padding token
PooledInput = tuple[paddle.Tensor, paddle.Tensor]


class ClassificationHead(nn.Layer):
    """Pooler, dropout and one linear layer, as in PaddleNLP's ErnieForSequenceClassification."""

    def __init__(self, spec: HeadSpec, pooler: Any, *, config: Any, layer_index: int, state: DropoutState) -> None:
        super().__init__()
        self.pooler = pooler
        given = config.classifier_dropout
        self.rate = config.hidden_dropout_prob if given is None else given
        normal = paddle.ParamAttr(initializer=nn.initializer.Normal(std=config.initializer_range))
        self.classifier = nn.Linear(config.hidden_size, spec.num_outputs, weight_attr=normal)
        self.layer_index, self.state = layer_index, state

    def forward(self, inputs: PooledInput) -> paddle.Tensor:
        """Logits [rows, labels] from the first position of `hidden`; the mask is not used."""
        hidden, _ = inputs
        pooled = self.pooler(hidden)
        if self.training and self.rate:
            pooled = drop_in_layer(pooled, self.rate, self.state, self.layer_index)
        return self.classifier(pooled)

    def infer(self, hidden: paddle.Tensor, pooled: paddle.Tensor, mask: paddle.Tensor) -> paddle.Tensor:
        """Logits, in an exported program, whose encoder has the pooler."""
        return self.classifier(pooled)

    def canonical_names(self) -> dict[str, str]:
        """PaddleNLP's name of each parameter here."""
        names = [name for name, _ in self.named_parameters()]
        return {name: f"ernie.{name}" if name.startswith("pooler.") else name for name in names}
