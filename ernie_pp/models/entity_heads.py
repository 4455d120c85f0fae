"""Heads that answer for every token, or every pair of tokens: for entities and other spans."""

from __future__ import annotations

from typing import Any

import paddle
from paddle import nn

from ernie_pp.models.dropout import DropoutState, drop_in_layer
from ernie_pp.models.head_specs import HeadSpec
from ernie_pp.models.heads import MASKED

HeadInput = tuple[paddle.Tensor, paddle.Tensor]


class TokenHead(nn.Layer):
    """Dropout and one linear layer over every token, as in PaddleNLP's ErnieForTokenClassification."""

    def __init__(self, spec: HeadSpec, *, config: Any, layer_index: int, state: DropoutState) -> None:
        super().__init__()
        given = config.classifier_dropout
        self.rate = config.hidden_dropout_prob if given is None else given
        self.classifier = nn.Linear(config.hidden_size, spec.num_outputs, weight_attr=_normal(config))
        self.layer_index, self.state = layer_index, state

    def forward(self, inputs: HeadInput) -> paddle.Tensor:
        """Emissions [rows, length, tags] of `hidden` [rows, length, width]."""
        hidden, _ = inputs
        if self.training and self.rate:
            hidden = drop_in_layer(hidden, self.rate, self.state, self.layer_index)
        return self.classifier(hidden)

    def infer(self, hidden: paddle.Tensor, pooled: paddle.Tensor, mask: paddle.Tensor) -> paddle.Tensor:
        """Emissions, in an exported program."""
        return self.classifier(hidden)

    def canonical_names(self) -> dict[str, str]:
        """The name of each parameter in a model folder."""
        return {name: name for name, _ in self.named_parameters()}


class CrfHead(TokenHead):
    """A TokenHead with the transitions of a linear-chain CRF (Lafferty et al. 2001) between its tags.

    A pipeline's last stage hands on one tensor, and the loss needs the transitions too: they stand below the
    emissions, as `tasks/ner/chain.py` takes them apart.
    """

    def __init__(self, spec: HeadSpec, *, config: Any, layer_index: int, state: DropoutState) -> None:
        super().__init__(spec, config=config, layer_index=layer_index, state=state)
        zeros, count = nn.initializer.Constant(0.0), spec.num_outputs
        self.start = self.create_parameter([count], default_initializer=zeros)
        self.transitions = self.create_parameter([count, count], default_initializer=zeros)
        self.end = self.create_parameter([count], default_initializer=zeros)

    def forward(self, inputs: HeadInput) -> paddle.Tensor:
        """[rows, length + 2 + tags, tags]: the emissions, then start, end and transitions[from, to]."""
        emissions = super().forward(inputs).astype("float32")
        chain = paddle.concat([self.start.unsqueeze(0), self.end.unsqueeze(0), self.transitions]).astype("float32")
        return paddle.concat([emissions, chain.unsqueeze(0).expand([emissions.shape[0], -1, -1])], axis=1)

    def canonical_names(self) -> dict[str, str]:
        """The name of each parameter in a model folder."""
        names = [name for name, _ in self.named_parameters()]
        return {name: name if name.startswith("classifier.") else f"crf.{name}" for name in names}


class PointerHead(nn.Layer):
    """Scores of every pair of tokens as the first and the last token of an entity of each type.

    The efficient GlobalPointer of Su Jianlin (2022, "Efficient GlobalPointer: fewer parameters, more effect"): one
    query and key for all types find spans, with rotary positions (Su et al. 2021, "RoFormer"); two scores a token and
    type, for first and for last, say of which type a span is.
    """

    def __init__(self, spec: HeadSpec, *, config: Any, layer_index: int, state: DropoutState) -> None:
        super().__init__()
        given = config.classifier_dropout
        self.rate = config.hidden_dropout_prob if given is None else given
        self.size, self.num_types = spec.pointer_size, spec.num_outputs
        self.dense = nn.Linear(config.hidden_size, 2 * self.size, weight_attr=_normal(config))
        self.borders = nn.Linear(2 * self.size, 2 * self.num_types, weight_attr=_normal(config))
        half = self.size // 2
        rates = paddle.to_tensor([10_000.0 ** (-index / half) for index in range(half)], dtype="float32")
        # A buffer, not a constant of the forward pass: Paddle Lite has no operator for those.
        self.register_buffer("rates", rates, persistable=False)
        self.layer_index, self.state = layer_index, state

    def forward(self, inputs: HeadInput) -> paddle.Tensor:
        """Scores [rows, types, length, length] by first and last token; padding and last < first are far below 0."""
        hidden, mask = inputs
        if self.training and self.rate:
            hidden = drop_in_layer(hidden, self.rate, self.state, self.layer_index)
        return self._scores(hidden, mask)

    def infer(self, hidden: paddle.Tensor, pooled: paddle.Tensor, mask: paddle.Tensor) -> paddle.Tensor:
        """The scores, in an exported program."""
        return self._scores(hidden, mask)

    def canonical_names(self) -> dict[str, str]:
        """The name of each parameter in a model folder."""
        return {name: f"global_pointer.{name}" for name, _ in self.named_parameters()}

    def _scores(self, hidden: paddle.Tensor, mask: paddle.Tensor) -> paddle.Tensor:
        both = self.dense(hidden)  # [rows, length, 2 x size]
        positions = paddle.cumsum(paddle.ones_like(hidden[:, :, :1], dtype="float32"), axis=1)  # [rows, length, 1]
        query, key = (self._turned(part, positions) for part in paddle.split(both, 2, axis=-1))
        spans = paddle.matmul(query, key, transpose_y=True).unsqueeze(1) * self.size**-0.5
        first, last = paddle.split(self.borders(both).transpose([0, 2, 1]), 2, axis=1)  # [rows, types, length]
        types = 0.5 * (first.unsqueeze(3) + last.unsqueeze(2))
        # 1 where the last token stands before the first, or either is padding. What is masked is MASKED exactly: a
        # sum with so large a number would keep three digits of the score.
        is_turned_round = paddle.clip(positions - positions.transpose([0, 2, 1]), 0.0, 1.0).unsqueeze(1)
        padding = (mask + mask.transpose([0, 1, 3, 2])).astype("float32") / MASKED
        is_none = paddle.clip(is_turned_round + padding, 0.0, 1.0)
        return (spans + types).astype("float32") * (1.0 - is_none) + is_none * MASKED

    def _turned(self, part: paddle.Tensor, positions: paddle.Tensor) -> paddle.Tensor:
        """Each pair of numbers turned by an angle that grows with the position."""
        half = self.size // 2
        angles = positions * self.rates  # [rows, length, half]
        cosine, sine = paddle.cos(angles).astype(part.dtype), paddle.sin(angles).astype(part.dtype)
        one, other = part[:, :, :half], part[:, :, half:]
        return paddle.concat([one * cosine - other * sine, one * sine + other * cosine], axis=-1)


def _normal(config: Any) -> paddle.ParamAttr:
    return paddle.ParamAttr(initializer=nn.initializer.Normal(std=config.initializer_range))
