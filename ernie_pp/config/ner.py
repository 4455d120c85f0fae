"""Settings of named entities, and of the review of documents that is made of them."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BeforeValidator, Field, model_validator

from ernie_pp.config.base import READ_PATH, Fraction, Label, Labels, Positive, Section, tuple_from_list


class RuleConfig(Section):
    """Entities by a list of terms or by a regular expression: added to the model's, or forbidden."""

    name: str = Field(description="what a prediction names as its source")
    label: Label = Field(description="entity type it is about")
    terms: str | None = Field(default=None, description="file of terms, one a line", json_schema_extra=READ_PATH)
    pattern: str | None = Field(
        default=None, description="regular expression; its group 1, where it has one, is the entity"
    )
    score: Annotated[float, Field(gt=0, le=1)] = Field(default=1.0, description="how sure an added entity is")
    action: Literal["add", "veto"] = Field(
        default="add", description="add: what it finds is an entity; veto: an entity it finds whole is none"
    )

    @model_validator(mode="after")
    def _has_one_source(self) -> RuleConfig:
        if (self.terms is None) == (self.pattern is None):
            raise ValueError("needs exactly one of terms and pattern")
        if self.action == "veto" and self.score != 1.0:
            raise ValueError("score has no effect on a veto")
        return self


class NerConfig(Section):
    """Named entities: how they are read, marked and decoded."""

    head: Literal["softmax", "crf", "global_pointer"] = Field(
        default="crf", description="what stands above the encoder; global_pointer has nested entities too"
    )
    scheme: Literal["bio", "bioes"] = Field(default="bio", description="tags of softmax and crf")
    crf_learning_rate: Annotated[float, Field(gt=0)] = Field(
        default=0.01, description="peak learning rate of the CRF's transitions"
    )
    pointer_size: Positive = Field(default=64, description="width of global_pointer's query and key; even")
    threshold: Fraction | Literal["tuned"] = Field(
        default="tuned", description="global_pointer: probability of an entity, or tuned on dev for each type"
    )
    overlaps: Literal["error", "longest"] = Field(
        default="error", description="softmax and crf: overlapping entities are faults, or the longest one stays"
    )
    illegal_tags: Literal["begin", "error"] = Field(
        default="begin", description="an I- without its B- begins an entity (counted and listed), or is a fault"
    )
    repair_offsets: bool = Field(
        default=False, description="move entities whose places in the file are wrong, where the right one is certain"
    )
    swapped_copies: Annotated[int, Field(ge=0, le=100)] = Field(
        default=0, description="copies of each training document in which entities are others of their type"
    )
    baseline: bool = Field(
        default=True, description="also find the training entities by longest match, and show its dev figures"
    )
    rules: Annotated[tuple[RuleConfig, ...], BeforeValidator(tuple_from_list)] = Field(
        default=(), description="terms and regular expressions that add or veto entities"
    )


class FieldConfig(Section):
    """One thing a reviewer wants to know of a document, filled from entities."""

    name: str = Field(description="name of the field")
    labels: Annotated[Labels, Field(min_length=1)] = Field(description="entity types whose mentions fill it")
    kind: Literal["text", "amount", "date"] = Field(
        default="text", description="how values are made comparable: amount in yuan, date as YYYY-MM-DD"
    )
    many: bool = Field(default=False, description="every value that passes, not the surest alone")
    threshold: Fraction = Field(default=0.5, description="confidence below which the field is not found")
    doubt: Fraction = Field(default=0.8, description="confidence below which a found value is marked as in doubt")
    required: bool = Field(default=True, description="a reviewer must look where it is not found")


class ReviewConfig(Section):
    """What every document is asked for: fields filled from entities (ner), or questions (docqa)."""

    fields: Annotated[tuple[FieldConfig, ...], BeforeValidator(tuple_from_list)] = Field(
        default=(), description="fields filled from entities, in the order a reviewer reads them"
    )
    questions: Annotated[tuple[str, ...], BeforeValidator(tuple_from_list)] = Field(
        default=(), description="questions asked where the documents come without their own"
    )
