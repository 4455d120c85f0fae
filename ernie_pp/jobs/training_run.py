"""One training run from read rows to bundle, in the order it happens."""

from __future__ import annotations

import logging
import time
from pathlib import Path

from ernie_pp.config import RunConfig, dump_config
from ernie_pp.jobs.bundling import describe_parity, export_model
from ernie_pp.jobs.device import set_device
from ernie_pp.jobs.figures import say_count
from ernie_pp.jobs.fit import Fit, Outcome
from ernie_pp.jobs.overlap import warn_of_overlap
from ernie_pp.jobs.prepare import Prepared, prepare
from ernie_pp.jobs.report_content import Story, build_content
from ernie_pp.jobs.results import summarize, write_results
from ernie_pp.jobs.run_log import RunLog
from ernie_pp.machine import CpuSetup, describe_machine
from ernie_pp.models.ernie import load_classifier, load_encoder
from ernie_pp.models.stack import ErnieStack
from ernie_pp.progress import format_seconds
from ernie_pp.report import write_report
from ernie_pp.tasks.interface import Evaluation
from ernie_pp.training.build import build_engine
from ernie_pp.training.loop import plan_length
from ernie_pp.training.precision import check_precision
from ernie_pp.training.record import RunRecord
from ernie_pp.training.run_folder import RunFolder

LOG = logging.getLogger("ernie_pp")


def run(config: RunConfig, folder: RunFolder, setup: CpuSetup, *, log: RunLog) -> str:
    """Train, measure, report, export; returns the summary for the screen."""
    start = time.monotonic()
    device = set_device(config.device)
    check_precision(config.train, device=device)
    cache = Path(config.data.cache_dir) if config.data.cache_dir is not None else folder.cache
    prepared = prepare(config, cache=cache)
    warn_of_overlap(prepared)
    fit = _build_fit(config, prepared, folder)
    log.begin()
    _begin(config, folder, prepared)
    with RunRecord(folder.log, folder.visualdl, gpu=device == "gpu") as record:
        best = fit.run(record)
    figures = _measure_all(fit, best)
    write_results(prepared, folder, best, figures)
    facts = _facts(config, prepared, fit, setup) | {"time": format_seconds(time.monotonic() - start)}
    story = Story(figures, record.history, facts)
    write_report(folder.report, build_content(config, prepared, best=best, story=story))
    return "\n".join([summarize(figures), f"report:    {folder.report}", f"bundle:    {_export(config, folder)}"])


def _begin(config: RunConfig, folder: RunFolder, prepared: Prepared) -> None:
    """Give the folder to this run: a wrong config, row or model has cost no earlier result."""
    # A saved config repeats a run; it must not carry the leave to replace one.
    folder.begin(dump_config(config.model_copy(update={"overwrite": False})))
    if prepared.faults.count:
        prepared.faults.write(folder.skipped)
        LOG.warning("%s left out, listed in %s", say_count(prepared.faults.count, "bad row"), folder.skipped)


def _export(config: RunConfig, folder: RunFolder) -> str:
    if not config.export.enabled:
        return "not exported (export.enabled: false)"
    parity = export_model(folder.best, folder.bundle, tolerance=config.export.tolerance)
    return f"{folder.bundle} ({describe_parity(parity)})"


def _build_fit(config: RunConfig, prepared: Prepared, folder: RunFolder) -> Fit:
    stack = _build_stack(config, prepared)
    train_rows = prepared.splits["train"].rows
    length = plan_length(len(train_rows), config.train)
    LOG.info("training: %d steps, %d an epoch", length.num_steps, length.steps_per_epoch)
    loss = prepared.task.build_loss(prepared.splits["train"].targets)
    engine = build_engine(stack, loss=loss, config=config, num_steps=length.num_steps)
    return Fit(config, prepared, stack=stack, engine=engine, folder=folder)


def _build_stack(config: RunConfig, prepared: Prepared) -> ErnieStack:
    tokenizer = prepared.tokenizer
    sizes = {"vocab_size": tokenizer.vocab_size, "pad_id": tokenizer.pad_id}
    loaded = load_encoder(config.model, **sizes, seed=config.seed)
    LOG.info("model: %s%s", loaded.source, ", random weights" if loaded.is_random else "")
    if loaded.missing:
        LOG.info("not in the model folder, started fresh: %s", ", ".join(loaded.missing))
    if loaded.unexpected:
        LOG.info("in the model folder and not used: %s", ", ".join(loaded.unexpected))
    return prepared.task.build_stack(loaded, seed=config.seed)


def _measure_all(fit: Fit, best: Outcome) -> dict[str, Evaluation]:
    """Evaluations by name: dev, test (the best weights, the dev split's decision rule), baseline (on dev)."""
    task, splits = fit.prepared.task, fit.prepared.splits
    figures = {"dev": best.evaluation}
    if "test" in splits:
        fit.stack.load_state(load_classifier(fit.folder.best).state())
        figures["test"] = task.measure(fit.logits(splits["test"]), splits["test"].targets, best.decoding)
    baseline = task.measure_baseline(splits["train"].examples, splits["dev"].examples, best.decoding)
    return figures if baseline is None else {**figures, "baseline": baseline}


def _facts(config: RunConfig, prepared: Prepared, fit: Fit, setup: CpuSetup) -> dict[str, str]:
    model = config.model.name or config.model.path or "random weights"
    sizes = fit.stack.config
    num_parameters = sum(parameter.size for parameter in fit.stack.parameters())
    shape = f"{sizes.num_hidden_layers} layers, {sizes.hidden_size} wide, {num_parameters / 1e6:.1f} M parameters"
    rows = ", ".join(f"{len(split.rows)} {name}" for name, split in prepared.splits.items())
    machine = describe_machine()
    versions = ", ".join(f"{name} {machine[name]}" for name in machine if name.startswith("paddle"))
    where = f"{setup}, {machine['memory']}"
    return {"model": f"{model} ({shape})", "rows": rows, "machine": where, "versions": versions}
