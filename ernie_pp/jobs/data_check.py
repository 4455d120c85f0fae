"""What a config's data holds, as text: rows, labels, duplicates, overlap, lengths, unknown tokens, memory."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import paddle

from ernie_pp.config import RunConfig
from ernie_pp.data.faults import Faults
from ernie_pp.data.split import Split
from ernie_pp.data.statistics import describe_lengths, describe_split
from ernie_pp.jobs.device import set_device
from ernie_pp.jobs.disk import describe_disk
from ernie_pp.jobs.figures import say_count
from ernie_pp.jobs.memory import estimate_memory
from ernie_pp.jobs.overlap import FLATTERS, find_overlaps
from ernie_pp.jobs.prepare import Prepared, prepare
from ernie_pp.jobs.splits import unknown_rate
from ernie_pp.models.ernie import model_values
from ernie_pp.training.position import plan_length

MAX_LABELS_SHOWN, MAX_FAULTS_SHOWN = 20, 20


def describe_data(config: RunConfig) -> tuple[str, list[str]]:
    """(a block for each split, then what they share and what training would take; bad rows, one a line).

    Bad rows are left out of the figures, also where they would stop the run. Keeps nothing on disk.
    """
    lenient = config.model_copy(update={"data": config.data.model_copy(update={"on_error": "skip"})})
    with tempfile.TemporaryDirectory() as scratch:
        prepared = prepare(lenient, cache=Path(scratch))
    blocks = [_split_block(config, prepared, split) for split in prepared.splits.values()]
    blocks += [_overlap_block(prepared), _training_block(config, prepared)]
    return "\n\n".join(blocks), _fault_lines(prepared.faults)


def _split_block(config: RunConfig, prepared: Prepared, split: Split) -> str:
    texts, pairs = prepared.task.texts(split.examples)
    labels = [prepared.task.labels_of(example) for example in split.examples]
    found = describe_split(texts, labels, text_pairs=pairs)
    lines = [f"{split.name}: {split.source}", f"  {'rows':18} {found.num_rows}"]
    if len(split.rows) != found.num_rows:
        lines.append(f"  {'windows':18} {len(split.rows)}")
    lines.append(f"  {'labels':18} {_label_counts(found.label_counts)}")
    if found.num_unlabelled:
        lines.append(f"  {'without a label':18} {found.num_unlabelled}")
    lines.append(f"  {'duplicate texts':18} {found.num_duplicates}")
    lines.append(f"  {'conflicting texts':18} {found.num_conflicts}{_conflicts(split, found.conflicts)}")
    lines += _length_lines(config, split)
    lines.append(f"  {'unknown tokens':18} {100 * unknown_rate(split.rows, prepared.tokenizer):.2f} %")
    return "\n".join(lines)


def _label_counts(counts: dict[str, int]) -> str:
    shown = [f"{label} {count}" for label, count in list(counts.items())[:MAX_LABELS_SHOWN]]
    more = len(counts) - MAX_LABELS_SHOWN
    return f"{len(counts)}: " + ", ".join(shown) + (f", and {more} more" if more > 0 else "")


def _conflicts(split: Split, rows: Sequence[int]) -> str:
    """Lines of the first texts that come with different labels."""
    pairs = zip(rows[::2], rows[1::2], strict=True)
    places = [f"lines {split.examples[a].place.line} and {split.examples[b].place.line}" for a, b in pairs]
    return f" (the same text with other labels: {'; '.join(places)})" if places else ""


def _length_lines(config: RunConfig, split: Split) -> list[str]:
    limit = config.text.max_length
    lengths = describe_lengths(split.rows.lengths + split.rows.num_cut, limit=limit)
    percentiles = ", ".join(f"{percent} %: {value}" for percent, value in lengths.percentiles.items())
    cut = int(split.rows.num_cut.sum())
    total = len(split.rows.ids) + cut
    over = f"{say_count(lengths.num_over, 'row')} ({100 * lengths.num_over / lengths.num_rows:.1f} %)"
    return [
        f"  {'tokens a row':18} mean {lengths.mean:.0f}, {percentiles}, longest {lengths.longest}",
        f"  {f'over {limit} tokens':18} {over}, which loses {cut} tokens ({100 * cut / total:.1f} %)",
    ]


def _overlap_block(prepared: Prepared) -> str:
    lines = ["Shared with train"]
    for name, overlap in find_overlaps(prepared).items():
        warning = f"  ({FLATTERS})" if overlap.num_rows else ""
        lines.append(f"  {name:18} {say_count(overlap.num_rows, 'row')} ({100 * overlap.share:.1f} %){warning}")
    return "\n".join(lines)


def _fault_lines(faults: Faults) -> list[str]:
    shown = [
        f'{fault.place}: {fault.column} "{fault.value}", expected {fault.expected}'
        for fault in faults.listed[:MAX_FAULTS_SHOWN]
    ]
    more = faults.count - len(shown)
    return [*shown, *([f"and {say_count(more, 'more bad row')}"] if more else [])]


def _training_block(config: RunConfig, prepared: Prepared) -> str:
    rows = prepared.splits["train"].rows
    length = plan_length(len(rows), config.train)
    return "\n".join(
        [
            "Training",
            f"  {'steps':18} {length.num_steps} ({length.steps_per_epoch} an epoch)",
            f"  {'memory, about':18} {_memory(config, prepared)}",
            f"  {'disk, at most':18} {describe_disk(_values(config, prepared), config)}",
        ]
    )


def _memory(config: RunConfig, prepared: Prepared) -> str:
    if set_device(config.device) == "gpu":
        total = paddle.device.cuda.get_device_properties().total_memory
        return f"not estimated for a GPU; this one has {total / 2**30:.2f} GiB"
    lengths = prepared.splits["train"].rows.lengths
    return str(estimate_memory(_values(config, prepared), config.train, lengths=lengths))


def _values(config: RunConfig, prepared: Prepared) -> dict[str, Any]:
    tokenizer = prepared.tokenizer
    return model_values(config.model, vocab_size=tokenizer.vocab_size, pad_id=tokenizer.pad_id)
