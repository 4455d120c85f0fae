"""Which head stands above an encoder, as plain values: enough to build it, to load it and to count its costs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Literal, get_args

from ernie_pp.models.sizes import Shapes

HeadKind = Literal["classification", "softmax", "crf", "global_pointer", "answer_span"]
MAX_OUTPUTS = 1_000_000
_MAX_POINTER_SIZE = 4_096


@dataclass(frozen=True)
class HeadSpec:
    """`num_outputs` are labels (classification), tags (softmax, crf), entity types (global_pointer), or the first and
    the last token of an answer, and yes and no where those are answers (answer_span: 2 or 4).

    ValueError for values that no head has.
    """

    kind: HeadKind
    num_outputs: int
    pointer_size: int = 0  # width of a query and of a key, even; global_pointer only

    def __post_init__(self) -> None:
        if self.kind not in get_args(HeadKind):
            raise ValueError(f"head.kind is {self.kind!r}, expected one of {', '.join(get_args(HeadKind))}")
        if type(self.num_outputs) is not int or not 1 <= self.num_outputs <= MAX_OUTPUTS:
            raise ValueError(f"head.num_outputs is {self.num_outputs!r}, expected 1 to {MAX_OUTPUTS:,}")
        if self.kind == "answer_span" and self.num_outputs not in (2, 4):
            raise ValueError(f"head.num_outputs is {self.num_outputs!r} for answer_span, expected 2 or 4")
        size, is_pointer = self.pointer_size, self.kind == "global_pointer"
        if type(size) is not int or size % 2 or not (0 < size <= _MAX_POINTER_SIZE if is_pointer else size == 0):
            raise ValueError(f"head.pointer_size is {size!r} for {self.kind}, expected an even number from 2 on")

    @property
    def has_pooler(self) -> bool:
        """Whether it reads the first token through the encoder's pooler, not every token."""
        return self.kind == "classification"

    @property
    def outputs_per_token(self) -> int | None:
        """Numbers of the last products for each token; None where there is one output a row."""
        if self.has_pooler:
            return None
        # A pair of tokens has one score a type, but the products are those of queries, keys and both borders.
        return 2 * self.pointer_size + 2 * self.num_outputs if self.kind == "global_pointer" else self.num_outputs

    def shapes(self, width: int) -> Shapes:
        """Shape of every tensor of the head by canonical name, the pooler left out."""
        if self.kind == "global_pointer":
            borders = 2 * self.num_outputs
            return {
                "global_pointer.dense.weight": (width, 2 * self.pointer_size),
                "global_pointer.dense.bias": (2 * self.pointer_size,),
                "global_pointer.borders.weight": (2 * self.pointer_size, borders),
                "global_pointer.borders.bias": (borders,),
            }
        count = self.num_outputs
        linear = {"classifier.weight": (width, count), "classifier.bias": (count,)}
        if self.kind != "crf":
            return linear
        return {**linear, "crf.start": (count,), "crf.transitions": (count, count), "crf.end": (count,)}

    def to_json(self) -> dict[str, object]:
        """Plain values for a model folder."""
        return asdict(self)

    @classmethod
    def from_json(cls, values: object) -> HeadSpec:
        """The inverse of `to_json`; ValueError names what is odd."""
        if not isinstance(values, Mapping) or set(values) != {"kind", "num_outputs", "pointer_size"}:
            raise ValueError(f"head is {str(values)[:80]}, expected kind, num_outputs and pointer_size")
        return cls(**values)
