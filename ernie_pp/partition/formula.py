"""What the layers of an ERNIE cost by their sizes: operations and bytes of the real shapes, on a device of given speed.

Matrix products are counted in operations, everything else in numbers that are read or written.
"""

from __future__ import annotations

from dataclasses import dataclass

from ernie_pp.partition.costs import DeviceCosts, LayerCost, Link, StackCosts

# Weights, gradients and the optimizer's moments stay in fp32 whatever the activations are.
PARAMETER_BYTES = 4
# Numbers a block keeps for its backward pass, measured: for a token's width, and for each head and token of its row.
NUMBERS_PER_WIDTH, NUMBERS_PER_SCORE = 16.5, 2.25
# The same of the embeddings: the sum of the tables, its normalized form, the dropout mask, the output.
EMBEDDING_NUMBERS_PER_WIDTH = 4
# Of each output of a head: the logit, its probability and its gradient.
NUMBERS_PER_OUTPUT = 3
# Numbers read and written in a forward pass beside the products; a backward pass moves twice as many.
# Scores: scale and mask, softmax, dropout, each once in and once out; a dropout's mask comes on top.
_MOVED_PER_SCORE = 7
# Width: the biases of four projections, two dropouts with masks, two residual sums and two norms.
_MOVED_PER_WIDTH = 26
# Inner width: bias and activation.
_MOVED_PER_INNER = 4
# Embeddings: three look-ups and their sum, norm, dropout.
_MOVED_PER_EMBEDDING = 14
# The dense gradient of a table is cleared, filled and added to that of the earlier micro-batches.
_MOVED_PER_TABLE_ENTRY = 4
_MASK_BYTES, _ID_BYTES = 4, 8


@dataclass(frozen=True)
class Shape:
    """Sizes of the model, and of one micro-batch."""

    num_layers: int
    hidden_size: int
    num_heads: int
    intermediate_size: int
    vocab_size: int
    max_positions: int
    type_vocab: int
    num_labels: int
    rows: int
    length: int
    bytes_per_number: int = 4  # of activations
    task_vocab: int = 0  # rows of the table of task types, where the model has one

    def __post_init__(self) -> None:
        free = ("task_vocab",)
        wrong = [name for name, value in vars(self).items() if value < (0 if name in free else 1)]
        if wrong:
            raise ValueError(f"{wrong[0]} is {getattr(self, wrong[0])}, at least 1 was expected")

    @property
    def tokens(self) -> int:
        """Of a micro-batch, padding counted."""
        return self.rows * self.length

    @property
    def table_rows(self) -> int:
        """Of all embedding tables."""
        return self.vocab_size + self.max_positions + self.type_vocab + self.task_vocab


@dataclass(frozen=True)
class Speed:
    """What a device reaches, not what it is sold for."""

    flops_per_s: float
    memory_bytes_per_s: float
    layer_s: float = 0.0  # a pass through a layer takes at least so much more: starting the work

    def seconds(self, *, operations: float, num_bytes: float) -> float:
        """Products and moves follow each other."""
        return operations / self.flops_per_s + num_bytes / self.memory_bytes_per_s + self.layer_s


def formula_costs(
    shape: Shape, *, speed: Speed, link: Link, device: DeviceCosts, head_outputs_per_token: int | None = None
) -> StackCosts:
    """Costs of embeddings, blocks and head.

    The head is a pooler and `num_labels` outputs a row; with `head_outputs_per_token` one linear layer of so many
    outputs a token, as for entities or a vocabulary.
    """
    blocks = tuple(_block(shape, speed, index) for index in range(shape.num_layers))
    if head_outputs_per_token is None:
        head = _row_head(shape, speed)
    else:
        head = _token_head(shape, speed, head_outputs_per_token)
    return StackCosts((_embeddings(shape, speed), *blocks, head), link, device)


def _embeddings(shape: Shape, speed: Speed) -> LayerCost:
    table = shape.table_rows * shape.hidden_size
    moved = _MOVED_PER_EMBEDDING * shape.tokens * shape.hidden_size * shape.bytes_per_number
    gradient = _MOVED_PER_TABLE_ENTRY * table * PARAMETER_BYTES
    kept = EMBEDDING_NUMBERS_PER_WIDTH * shape.tokens * shape.hidden_size * shape.bytes_per_number
    return LayerCost(
        name="embeddings",
        forward_s=speed.seconds(operations=0, num_bytes=moved),
        backward_s=speed.seconds(operations=0, num_bytes=2 * moved + gradient),
        parameter_bytes=PARAMETER_BYTES * (table + 2 * shape.hidden_size),
        activation_bytes=kept + 2 * _ID_BYTES * shape.tokens,
        recomputed_bytes=2 * _ID_BYTES * shape.tokens,
        output_bytes=_handed_on(shape),
    )


def _block(shape: Shape, speed: Speed, index: int) -> LayerCost:
    width, inner, tokens = shape.hidden_size, shape.intermediate_size, shape.tokens
    scores = shape.num_heads * tokens * shape.length
    # Four projections, two products of the feed-forward part; scores and the mix they give, each over the whole width.
    operations = 2 * tokens * (4 * width * width + 2 * width * inner) + 4 * tokens * shape.length * width
    numbers = _MOVED_PER_SCORE * scores + tokens * (_MOVED_PER_WIDTH * width + _MOVED_PER_INNER * inner)
    moved = numbers * shape.bytes_per_number
    weights = 4 * (width * width + width) + 2 * width * inner + inner + width + 4 * width
    kept = round(NUMBERS_PER_WIDTH * tokens * width + NUMBERS_PER_SCORE * scores)
    return LayerCost(
        name=f"block {index}",
        forward_s=speed.seconds(operations=operations, num_bytes=moved),
        backward_s=speed.seconds(operations=2 * operations, num_bytes=2 * moved),
        parameter_bytes=PARAMETER_BYTES * weights,
        activation_bytes=kept * shape.bytes_per_number,
        recomputed_bytes=_handed_on(shape),
        output_bytes=_handed_on(shape),
        can_recompute=True,
    )


def _row_head(shape: Shape, speed: Speed) -> LayerCost:
    """Pooler and classifier, on the first token of each row."""
    width, rows, labels = shape.hidden_size, shape.rows, shape.num_labels
    numbers = (4 * width + NUMBERS_PER_OUTPUT * labels) * rows
    work = _HeadWork(
        weights=width * width + width + width * labels + labels,
        operations=2 * rows * width * (width + labels),
        moved=numbers,
        # The gradient of the other tokens is zero and still written.
        moved_back=shape.tokens * width + 2 * numbers,
        kept=numbers,
    )
    return _head(shape, speed, work)


def _token_head(shape: Shape, speed: Speed, outputs: int) -> LayerCost:
    width, tokens = shape.hidden_size, shape.tokens
    # Dropout with its mask, then the outputs and what the loss makes of them.
    numbers = (3 * width + 2 * NUMBERS_PER_OUTPUT * outputs) * tokens
    work = _HeadWork(
        weights=width * outputs + outputs,
        operations=2 * tokens * width * outputs,
        moved=numbers,
        moved_back=2 * numbers,
        kept=(2 * width + NUMBERS_PER_OUTPUT * outputs) * tokens,
    )
    return _head(shape, speed, work)


@dataclass(frozen=True)
class _HeadWork:
    """Parameters, operations of a forward pass, and numbers of activations that are moved and kept."""

    weights: int
    operations: int
    moved: int
    moved_back: int
    kept: int


def _head(shape: Shape, speed: Speed, work: _HeadWork) -> LayerCost:
    weights, number = PARAMETER_BYTES * work.weights, shape.bytes_per_number
    return LayerCost(
        name="head",
        forward_s=speed.seconds(operations=work.operations, num_bytes=work.moved * number + weights),
        # The weights are read, their gradient is written and added to that of the earlier micro-batches.
        backward_s=speed.seconds(operations=2 * work.operations, num_bytes=work.moved_back * number + 3 * weights),
        parameter_bytes=weights,
        activation_bytes=work.kept * number,
        recomputed_bytes=_handed_on(shape),
        output_bytes=0,
    )


def _handed_on(shape: Shape) -> int:
    """The hidden states, and the mask of the padding."""
    return shape.tokens * (shape.hidden_size * shape.bytes_per_number + _MASK_BYTES)
