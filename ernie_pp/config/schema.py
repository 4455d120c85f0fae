"""Every key of a config file: its type, its default and one line on what it means.

Paths of things that are read are relative to the file that names them (a `key=value` on the command line: to the
working directory); what is written, `output_dir` and `data.cache_dir`, is relative to the working directory.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, model_validator

from ernie_pp.byte_sizes import parse_bytes
from ernie_pp.choices import MAX_THREADS, Dialect, Format, Math, OnError, Quoting, Truncate
from ernie_pp.config.base import (
    READ_PATH,
    Fraction,
    Label,
    Labels,
    Numbers,
    Positive,
    Section,
    Sources,
    tuple_from_list,
)
from ernie_pp.config.docqa import DocqaConfig
from ernie_pp.config.ner import NerConfig, ReviewConfig


def _memory_of_text(value: object) -> object:
    if isinstance(value, str):
        parse_bytes(value)
    return value


def _parallel_of_word(value: object) -> object:
    return {"auto": True} if value == "auto" else value


# What `resume` may be beside a folder.
RESUME_WORDS = ("auto", "never", "must")


class DataConfig(Section):
    """Where the rows are and how to read them."""

    train: Sources | None = Field(
        default=None,
        description="training rows: a file, a list of files, or datasets:NAME[:SUBSET]",
        json_schema_extra=READ_PATH,
    )
    dev: Sources | None = Field(
        default=None, description="rows the best checkpoint is chosen on", json_schema_extra=READ_PATH
    )
    dev_share: Annotated[float, Field(gt=0, lt=1)] | None = Field(
        default=None, description="without dev: share of the training texts, or documents, held out as dev"
    )
    test: Sources | None = Field(
        default=None, description="rows measured once, with the best checkpoint", json_schema_extra=READ_PATH
    )
    train_split: str = Field(default="train", description="split of a datasets: source used for data.train")
    dev_split: str = Field(default="validation", description="split of a datasets: source used for data.dev")
    test_split: str = Field(default="test", description="split of a datasets: source used for data.test")
    format: Format = Field(
        default="auto", description="file format; auto goes by the ending (and .json by its first character)"
    )
    dialect: Dialect = Field(
        default="auto", description="ner: how entities stand in the fields of JSON rows; auto: by the fields' names"
    )
    text: str = Field(
        default="text", description="name of the text's column or field (its number from 0 without a header)"
    )
    text_pair: str | None = Field(default=None, description="name of the second text's column or field, for pairs")
    label: str = Field(default="label", description="name of the label's column or field")
    header: bool = Field(default=True, description="whether a TSV or CSV file begins with a line of column names")
    quoting: Quoting = Field(
        default="auto",
        description='double: fields may stand in "..."; none: quotes are text; auto: double for CSV, none for TSV',
    )
    label_separator: Annotated[str, Field(min_length=1)] | None = Field(
        default=None, description="what separates the labels of a multi-label text field"
    )
    on_error: OnError = Field(default="stop", description="a bad row stops the run, or is skipped and listed")
    cache_dir: str | None = Field(
        default=None,
        description="folder of tokenized data, from the working directory; none: cache/ in the run folder",
    )

    def sources(self, name: str) -> tuple[str, ...]:
        """The files, or the dataset, of the split train, dev or test; nothing where it is not named."""
        named = getattr(self, name)
        return () if named is None else (named,) if isinstance(named, str) else named


class TextConfig(Section):
    """How text becomes tokens."""

    max_length: Annotated[int, Field(ge=3)] = Field(
        default=256, description="most tokens of a row, [CLS] and [SEP] counted"
    )
    truncate: Truncate = Field(
        default="head",
        description="what a longer text keeps: its head, its tail, both ends (middle is cut), or an error",
    )
    overlap: Annotated[int, Field(ge=0)] | None = Field(
        default=None,
        description="ner, docqa: tokens that neighbouring windows of a text share; none: a quarter of max_length",
    )
    ranked_windows: Positive | None = Field(
        default=None, description="docqa: of a longer document only so many windows, those most like the question"
    )
    width: bool = Field(default=False, description="turn full-width letters, digits and punctuation into half-width")
    simplified: bool = Field(default=False, description="turn traditional characters into simplified ones")
    blanks: bool = Field(default=False, description="turn every run of blanks and line breaks into one blank")
    invisible: bool = Field(
        default=False, description="remove invisible characters (zero-width, direction marks, inner BOM)"
    )

    @property
    def shared_tokens(self) -> int:
        """What neighbouring windows share, [CLS] and [SEP] not counted."""
        return self.max_length // 4 if self.overlap is None else self.overlap

    def settled(self) -> dict[str, Any]:
        """How rows are made, as a model folder and a bundle say it."""
        names = ("max_length", "truncate", "ranked_windows")
        return {**{name: getattr(self, name) for name in names}, "overlap": self.shared_tokens}


class SizesConfig(Section):
    """Sizes of an ERNIE that starts from random weights."""

    vocab: str = Field(description="vocabulary file: one token a line, or token TAB id", json_schema_extra=READ_PATH)
    num_layers: Positive = Field(default=4, description="Transformer blocks")
    hidden_size: Positive = Field(default=128, description="width")
    num_heads: Positive = Field(default=2, description="attention heads; divides hidden_size")
    intermediate_size: Positive | None = Field(default=None, description="width inside a block; none: 4 x hidden_size")
    max_positions: Positive = Field(default=2048, description="longest input the position table allows, in tokens")

    @model_validator(mode="after")
    def _heads_divide_width(self) -> SizesConfig:
        if self.hidden_size % self.num_heads:
            raise ValueError(f"num_heads {self.num_heads} does not divide hidden_size {self.hidden_size}")
        return self


class ModelConfig(Section):
    """Which ERNIE to start from: exactly one of name, path and sizes.

    A later source (file over `extends`, `key=value` over file) that names one of the three replaces the others.
    """

    name: str | None = Field(default=None, description="PaddleNLP model name, e.g. ernie-3.0-medium-zh (downloaded)")
    path: str | None = Field(default=None, description="folder in PaddleNLP's layout", json_schema_extra=READ_PATH)
    sizes: SizesConfig | None = Field(default=None, description="sizes alone: random weights")
    allow_pickle: bool = Field(
        default=False, description="read model_state.pdparams (restricted reader) where no safetensors is"
    )
    dropout: Fraction | None = Field(
        default=None, description="dropout of the encoder; none: as the model's config says"
    )


class ClsConfig(Section):
    """Classification: one label or several a text, with the loss and the decision rule."""

    multi_label: bool = Field(default=False, description="a text may have several labels, or none")
    class_weights: Literal["none", "balanced"] | Numbers = Field(
        default="none",
        description="weight of each label in the loss: none, balanced (by frequency), or one number a label",
    )
    loss: Literal["cross_entropy", "focal"] = Field(
        default="cross_entropy", description="loss; focal lowers easy rows' weight"
    )
    focal_gamma: Annotated[float, Field(ge=0)] = Field(default=2.0, description="exponent of the focal loss")
    label_smoothing: Annotated[float, Field(ge=0, lt=1)] = Field(
        default=0.0, description="share of the target spread evenly"
    )
    baseline: bool = Field(
        default=True,
        description="also fit a character-bigram logistic regression and show its dev figures beside the model's",
    )
    threshold: Fraction | Literal["tuned", "tuned_per_label"] = Field(
        default=0.5,
        description="multi-label: probability from which a label is given, or tuned on dev (one, or one a label)",
    )


class TrainConfig(Section):
    """The optimisation."""

    epochs: Annotated[float, Field(gt=0)] = Field(
        default=3.0, description="passes over the training rows (may be a fraction)"
    )
    max_steps: Positive | None = Field(default=None, description="stop after this many steps, whatever epochs says")
    batch_size: Positive = Field(default=32, description="rows of one step")
    micro_batch_tokens: Positive = Field(default=8192, description="most tokens, padding counted, of one micro-batch")
    bucket_batches: Positive = Field(
        default=50, description="rows are sorted by length inside pools of this many batches"
    )
    learning_rate: Annotated[float, Field(gt=0)] = Field(default=5e-5, description="peak learning rate")
    head_learning_rate: Annotated[float, Field(gt=0)] | None = Field(
        default=None, description="the head's own; none: the same"
    )
    layer_decay: Annotated[float, Field(gt=0, le=1)] = Field(
        default=1.0, description="each layer's learning rate is this times the one of the layer above"
    )
    warmup: Fraction = Field(default=0.1, description="share of the steps in which the learning rate rises to its peak")
    schedule: Literal["linear", "cosine", "constant"] = Field(
        default="linear", description="how it falls after the warm-up"
    )
    weight_decay: Annotated[float, Field(ge=0)] = Field(
        default=0.01, description="AdamW decay; not for biases and norms"
    )
    adam_beta2: Annotated[float, Field(gt=0, lt=1)] = Field(default=0.999, description="AdamW's second moment decay")
    clip_norm: Annotated[float, Field(gt=0)] | None = Field(
        default=1.0, description="largest global gradient norm; null: off"
    )
    precision: Literal["fp32", "bf16", "fp16"] = Field(
        default="fp32", description="number type of the matrix products (AMP)"
    )
    amp_level: Literal["O1", "O2"] = Field(
        default="O1", description="O1: products only; O2: weights too, with fp32 masters"
    )
    fgm_epsilon: Annotated[float, Field(ge=0)] = Field(
        default=0.0, description="size of the FGM embedding attack; 0: off"
    )
    rdrop_alpha: Annotated[float, Field(ge=0)] = Field(default=0.0, description="weight of the R-Drop term; 0: off")
    eval_every: Positive | None = Field(default=None, description="steps between evaluations; none: once an epoch")
    best_metric: str = Field(
        default="auto", description="dev metric the best checkpoint is chosen by; auto: the task's own"
    )
    patience: Positive | None = Field(default=None, description="stop after this many evaluations without a better one")
    log_every: Positive = Field(default=10, description="steps between log lines")


class ParallelConfig(Section):
    """Into how many processes a run is split, and how the model is cut for them.

    `stages` x `replicas` processes; each replica is a pipeline of `stages` processes that together hold the model once.
    """

    auto: bool = Field(default=False, description="plan everything below for the devices there are (`parallel: auto`)")
    stages: Positive = Field(default=1, description="pipeline stages the layers are cut into")
    replicas: Positive = Field(default=1, description="copies of the pipeline, each computing its share of a step")
    schedule: Literal["1f1b", "f_then_b"] = Field(
        default="1f1b", description="order of a step's work; f_then_b (all forward, then all backward) needs chunks"
    )
    virtual_stages: Positive = Field(
        default=1, description="chunks of layers a stage holds; above 1 the schedule is interleaved (3 stages or more)"
    )
    micro_batches: Positive | None = Field(
        default=None,
        description="micro-batches of one step and replica; none: by train.micro_batch_tokens, 4 x stages or more",
    )
    boundaries: Annotated[tuple[int, ...], BeforeValidator(tuple_from_list)] | None = Field(
        default=None,
        description="first layer of each stage (embeddings 0, block i is i + 1, then the head); none: the best cut",
    )
    recompute: Literal["none", "all", "auto"] | Annotated[tuple[int, ...], BeforeValidator(tuple_from_list)] = Field(
        default="none",
        description="blocks computed again in the backward pass: none, all, auto (as memory asks), or their numbers",
    )
    memory: Annotated[str, BeforeValidator(_memory_of_text)] | None = Field(
        default=None, description="most memory of one process, e.g. 16GiB; none: what the device has"
    )
    costs: Literal["formula", "measured"] = Field(
        default="formula", description="layer costs the cut is solved from: operations and bytes, or measured here"
    )
    rank_order: Literal["fleet", "stages"] = Field(
        default="fleet", description="fleet: a replica's stages have ranks in a row; stages: a stage's replicas have"
    )
    shard_optimizer: bool = Field(
        default=False, description="each replica keeps its share of the optimizer state only (ZeRO stage 1)"
    )
    gradient_type: Literal["fp32", "fp16", "bf16"] = Field(
        default="fp32", description="number type in which replicas exchange gradients"
    )


class ProfileConfig(Section):
    """What a run measures of itself beside its loss."""

    timeline: bool = Field(
        default=False,
        description="record one step's work on every rank: in report.html beside the plan, and as a trace",
    )


class CpuConfig(Section):
    """CPU settings that must be made before Paddle is loaded."""

    math: Math = Field(default="auto", description="auto: choose the math library's fast path on AMD CPUs")
    keep_heap: bool = Field(
        default=True, description="keep freed memory: faster, for up to twice the memory of giving it back at once"
    )
    threads: Annotated[int, Field(ge=1, le=MAX_THREADS)] | None = Field(
        default=None, description="math threads; none: one a core"
    )


class CheckpointConfig(Section):
    """The whole state of a training, saved so that a run that was ended goes on."""

    enabled: bool = Field(default=True, description="save checkpoints, at the last step too")
    every: Positive | None = Field(
        default=None, description="steps between checkpoints; none: one at every evaluation (train.eval_every)"
    )
    keep: Positive = Field(default=2, description="newest checkpoints that stay, beside the one of the best model")


class StopConfig(Section):
    """How long a run may take to end, and to show that it lives."""

    grace_s: Annotated[float, Field(gt=0)] = Field(
        default=30.0, description="many processes: seconds that a stopped run may take to end its step and save"
    )
    stall_s: Annotated[float, Field(gt=0)] | None = Field(
        default=None,
        description="many processes: seconds without progress that end the run; none: 20 usual steps, 120 at least",
    )


class ExportConfig(Section):
    """The bundle made at the end of a run."""

    enabled: bool = Field(default=True, description="export the best checkpoint when training is done")
    check_rows: Positive = Field(default=64, description="rows on which the reloaded bundle is compared with the model")
    tolerance: Annotated[float, Field(gt=0)] = Field(
        default=1e-5, description="fp32: largest difference of a logit allowed (times the largest one, if above 1)"
    )
    max_loss: Annotated[float, Field(ge=0, le=100)] = Field(
        default=0.5, description="points (hundredths) of train.best_metric an export may lose on dev"
    )


class RunConfig(Section):
    """One run: what to learn from which rows with which model, and where to put the results."""

    task: Literal["cls", "ner", "docqa"] = Field(description="kind of problem")
    output_dir: str = Field(description="run folder, made if it is not there")
    overwrite: bool = Field(default=False, description="replace the results of a finished or another run in output_dir")
    resume: str = Field(
        default="auto",
        description="auto: an unfinished run in output_dir goes on; must: or fail; never; or a checkpoint's folder",
        json_schema_extra={**READ_PATH, "words": list(RESUME_WORDS)},
    )
    seed: Annotated[int, Field(ge=0, lt=2**31)] = Field(
        default=42, description="seed of shuffling, dropout and new weights"
    )
    device: Literal["auto", "cpu", "gpu"] = Field(default="auto", description="auto: a GPU where there is one")
    labels: Labels | dict[Label, Label] | None = Field(
        default=None,
        description="the labels in order, or data value: shown name; none: those of the training rows, sorted",
    )
    data: DataConfig = Field(default_factory=DataConfig, description="the rows")
    text: TextConfig = Field(default_factory=TextConfig, description="the tokens")
    model: ModelConfig = Field(default_factory=ModelConfig, description="the ERNIE")
    cls: ClsConfig = Field(default_factory=ClsConfig, description="classification")
    ner: NerConfig = Field(default_factory=NerConfig, description="named entities")
    docqa: DocqaConfig = Field(default_factory=DocqaConfig, description="questions to documents")
    review: ReviewConfig = Field(default_factory=ReviewConfig, description="what a document is asked for")
    train: TrainConfig = Field(default_factory=TrainConfig, description="the optimisation")
    parallel: Annotated[ParallelConfig, BeforeValidator(_parallel_of_word)] = Field(
        default_factory=ParallelConfig,
        description="the processes; the word auto: the fastest plan for the devices that are there",
    )
    profile: ProfileConfig = Field(default_factory=ProfileConfig, description="measurements")
    cpu: CpuConfig = Field(default_factory=CpuConfig, description="CPU settings")
    checkpoint: CheckpointConfig = Field(default_factory=CheckpointConfig, description="what is saved to go on from")
    stop: StopConfig = Field(default_factory=StopConfig, description="how a run is ended")
    export: ExportConfig = Field(default_factory=ExportConfig, description="the bundle")
