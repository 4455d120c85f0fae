"""Encoder and head as one flat list of layers, so that it can be cut into pipeline stages between any two.

inputs (input_ids, token_type_ids) -> embeddings -> (hidden, mask) -> block 0 .. block L-1 -> head -> logits [rows, ...]
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import paddle
from paddle import nn

from ernie_pp.errors import ModelError
from ernie_pp.models import fast_ops
from ernie_pp.models.answer_head import AnswerHead
from ernie_pp.models.dropout import DropoutKey, DropoutState, MaskSource, seed_paddle
from ernie_pp.models.entity_heads import CrfHead, PointerHead, TokenHead
from ernie_pp.models.head_specs import HeadSpec
from ernie_pp.models.heads import MASKED, ClassificationHead

WORD_EMBEDDINGS = "ernie.embeddings.word_embeddings.weight"
_BLOCK = re.compile(r"ernie\.encoder\.layers\.(\d+)\.")
_TOKEN_HEADS = {"softmax": TokenHead, "crf": CrfHead, "global_pointer": PointerHead, "answer_span": AnswerHead}

Hidden = tuple[paddle.Tensor, paddle.Tensor]


class EmbeddingLayer(nn.Layer):
    """Token, position and segment embeddings, and the attention mask of the padding."""

    def __init__(self, embeddings: Any, *, pad_token_id: int, state: DropoutState) -> None:
        super().__init__()
        self.embeddings = embeddings
        self.pad_token_id, self.state = pad_token_id, state
        # This layer drops by itself, so that the masks can come from the key.
        self.rate = embeddings.dropout.p
        embeddings.dropout.p = 0.0

    def forward(self, inputs: Hidden) -> Hidden:
        """`hidden` [rows, length, width] and a float mask [rows, 1, 1, length] from two id tensors [rows, length]."""
        input_ids, token_type_ids = inputs
        mask = paddle.unsqueeze((input_ids == self.pad_token_id).astype("float32") * MASKED, [1, 2])
        mask.stop_gradient = True
        if not (self.training and self.state.fast):
            hidden = self.embeddings(input_ids, token_type_ids=token_type_ids)
            return self._drop(hidden), mask
        words = fast_ops.look_up(input_ids, self.embeddings.word_embeddings)
        hidden = self.embeddings(inputs_embeds=words, token_type_ids=token_type_ids)
        return MaskSource(self.state.keys, 0).drop(hidden, self.rate), mask

    def _drop(self, hidden: paddle.Tensor) -> paddle.Tensor:
        if not self.training or not self.rate:
            return hidden
        seed_paddle(self.state.keys, 0)
        return nn.functional.dropout(hidden, self.rate)

    def canonical_names(self) -> dict[str, str]:
        """PaddleNLP's name of each parameter here."""
        return {name: f"ernie.{name}" for name, _ in self.named_parameters()}


class BlockLayer(nn.Layer):
    """One Transformer block."""

    def __init__(self, block: Any, *, block_index: int, state: DropoutState) -> None:
        super().__init__()
        self.block = block
        self.block_index, self.state = block_index, state

    def forward(self, inputs: Hidden) -> Hidden:
        """The next `hidden`, and the mask handed on."""
        hidden, mask = inputs
        if not self.state.fast:
            if self.training:
                seed_paddle(self.state.keys, self.block_index + 1)
            return self.block(hidden, mask.astype(hidden.dtype)), mask
        expanded = fast_ops.expand_mask(mask, self.block.self_attn.num_heads)
        if not self.training:
            return self.block(hidden, expanded), mask
        masks = MaskSource(self.state.keys, self.block_index + 1)
        return fast_ops.run_block(self.block, hidden, expanded, masks), mask

    def canonical_names(self) -> dict[str, str]:
        """PaddleNLP's name of each parameter here."""
        prefix = f"ernie.encoder.layers.{self.block_index}."
        return {name: prefix + name.removeprefix("block.") for name, _ in self.named_parameters()}


class ErnieStack(nn.Layer):
    """A model, or the part of it that a process keeps: `layers` in order, and their weights by PaddleNLP's names."""

    def __init__(self, encoder: Any, head: HeadSpec) -> None:
        """Takes over the layers of a PaddleNLP ErnieModel, and puts a fresh head over them."""
        super().__init__()
        self.config, self.head_spec = encoder.config, head
        self.dropout_state = DropoutState()
        blocks = list(encoder.encoder.layers)
        state = self.dropout_state
        self.layers = nn.LayerList(
            [
                EmbeddingLayer(encoder.embeddings, pad_token_id=self.config.pad_token_id, state=state),
                *(BlockLayer(block, block_index=index, state=state) for index, block in enumerate(blocks)),
                build_head(head, encoder, layer_index=len(blocks) + 1, state=state),
            ]
        )

    def forward(self, input_ids: paddle.Tensor, token_type_ids: paddle.Tensor) -> paddle.Tensor:
        """What the head gives for two id tensors [rows, length]: [rows, ...]."""
        values: Any = (input_ids, token_type_ids)
        for layer in self.layers:
            values = layer(values)
        return values

    def keep(self, indexes: Sequence[int]) -> None:
        """Let go of all layers but these, in their order: what this process computes of the model."""
        self.layers = nn.LayerList([self.layers[index] for index in indexes])

    def set_dropout_keys(self, keys: tuple[DropoutKey, ...]) -> None:
        """Draw the masks of the following forward passes from `keys`, one for each pass whose rows stand on end."""
        self.dropout_state.keys = keys

    def use_fast_ops(self, fast: bool) -> None:
        """Use the operations of fast_ops.py: for float32 on the CPU only."""
        self.dropout_state.fast = fast

    def canonical_names(self) -> dict[str, str]:
        """PaddleNLP's name of each parameter, by its name here."""
        names = {}
        for index, layer in enumerate(self.layers):
            names.update({f"layers.{index}.{name}": full for name, full in layer.canonical_names().items()})
        return names

    def canonical_parameters(self) -> dict[str, paddle.Tensor]:
        """The parameters themselves by PaddleNLP's names."""
        names = self.canonical_names()
        return {names[name]: parameter for name, parameter in self.named_parameters()}

    def state(self) -> dict[str, np.ndarray]:
        """A copy of the weights, float32, by PaddleNLP's names."""
        return {name: value.astype("float32").numpy() for name, value in self.canonical_parameters().items()}

    def load_state(self, arrays: Mapping[str, np.ndarray]) -> None:
        """Set every weight; ModelError unless names and shapes are exactly those of `state`."""
        parameters = self.canonical_parameters()
        if parameters.keys() != arrays.keys():
            odd = sorted(parameters.keys() ^ arrays.keys())
            raise ModelError("weights", f"names differ from the model's, the first is {odd[0]}", "Use the same model.")
        for name, parameter in parameters.items():
            set_weight(name, parameter, arrays[name])


def build_head(spec: HeadSpec, encoder: Any, *, layer_index: int, state: DropoutState) -> nn.Layer:
    """A fresh head over a PaddleNLP ErnieModel; it takes over the encoder's pooler, where it has one."""
    if spec.has_pooler:
        pooler, config = encoder.pooler, encoder.config
        return ClassificationHead(spec, pooler, config=config, layer_index=layer_index, state=state)
    return _TOKEN_HEADS[spec.kind](spec, config=encoder.config, layer_index=layer_index, state=state)


def layer_index_of(name: str, *, num_blocks: int) -> int:
    """Embeddings are layer 0, block i is i + 1; all else, the pooler too, is the head after the last block."""
    block = _BLOCK.match(name)
    if block:
        return int(block.group(1)) + 1
    return 0 if name.startswith("ernie.embeddings.") else num_blocks + 1


def set_weight(name: str, parameter: paddle.Tensor, array: np.ndarray) -> None:
    """Copy `array` into `parameter`, cast to its type; ModelError where the shapes differ."""
    if tuple(parameter.shape) != array.shape:
        what = f"has shape {list(array.shape)}, the model's is {list(parameter.shape)}"
        raise ModelError(f"tensor {name}", what, "Use weights of the same model.")
    parameter.set_value(paddle.to_tensor(array).astype(parameter.dtype))
