"""One training run from read rows to bundle, in the order it happens."""

from __future__ import annotations

import json
import logging
import time
from typing import Any

from ernie_pp.config import RunConfig
from ernie_pp.durable import replaced_file, write_json
from ernie_pp.jobs.device import set_device
from ernie_pp.jobs.export import describe_parity, export_model
from ernie_pp.jobs.fit import Fit, Outcome
from ernie_pp.jobs.prepare import Prepared, prepare
from ernie_pp.jobs.report_content import Story, build_content
from ernie_pp.machine import CpuSetup, describe_machine
from ernie_pp.models.ernie import load_classifier, load_encoder
from ernie_pp.models.stack import ErnieStack
from ernie_pp.progress import format_seconds
from ernie_pp.report import write_report
from ernie_pp.training.build import build_engine
from ernie_pp.training.loop import plan_length
from ernie_pp.training.precision import check_precision
from ernie_pp.training.record import RunRecord
from ernie_pp.training.run_folder import RunFolder

LOG = logging.getLogger("ernie_pp")


def run(config: RunConfig, folder: RunFolder, setup: CpuSetup) -> str:
    """Train, measure, report, export; returns the summary for the screen."""
    start = time.monotonic()
    device = set_device(config.device)
    check_precision(config.train, device=device)
    prepared = prepare(config, folder)
    fit = _build_fit(config, prepared, folder)
    with RunRecord(folder.log, folder.visualdl, gpu=device == "gpu") as record:
        best = fit.run(record)
    test = _measure_test(fit, best)
    _write_results(prepared, folder, best, test)
    facts = _facts(config, prepared, fit, setup) | {"time": format_seconds(time.monotonic() - start)}
    story = Story(test, record.history, facts)
    write_report(folder.report, build_content(config, prepared, best=best, story=story))
    figures = [_figure("dev", best.evaluation)] + ([_figure("test", test)] if test is not None else [])
    return "\n".join([*figures, f"report:  {folder.report}", f"bundle:  {_export(config, folder)}"])


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
    loss = prepared.task.build_loss(train_rows.targets)
    engine = build_engine(stack, loss=loss, config=config.train, num_steps=length.num_steps, seed=config.seed)
    return Fit(config, prepared, stack=stack, engine=engine, folder=folder)


def _build_stack(config: RunConfig, prepared: Prepared) -> ErnieStack:
    loaded = load_encoder(config.model, vocab_size=prepared.tokenizer.vocab_size, seed=config.seed)
    LOG.info("model: %s%s", loaded.source, ", random weights" if loaded.is_random else "")
    if loaded.missing:
        LOG.info("not in the model folder, started fresh: %s", ", ".join(loaded.missing))
    if loaded.unexpected:
        LOG.info("in the model folder and not used: %s", ", ".join(loaded.unexpected))
    return prepared.task.build_stack(loaded, seed=config.seed)


def _measure_test(fit: Fit, best: Outcome) -> Any:
    """Figures of the test split with the best model's weights and decision rule; None without a test split."""
    test = fit.prepared.splits.get("test")
    if test is None:
        return None
    fit.stack.load_state(load_classifier(fit.folder.best).state())
    return fit.prepared.task.measure(fit.logits(test), test.rows.targets, best.decoding)


def _write_results(prepared: Prepared, folder: RunFolder, best: Outcome, test: Any) -> None:
    metrics = {"best_step": best.step, "dev": best.evaluation.to_json()}
    write_json(folder.metrics, metrics | ({"test": test.to_json()} if test is not None else {}))
    task, examples = prepared.task, prepared.splits["dev"].examples
    with replaced_file(folder.predictions) as temporary, open(temporary, "w", encoding="utf-8") as file:
        for example, prediction in zip(examples, task.decode(best.logits, best.decoding), strict=True):
            file.write(json.dumps(task.describe(example, prediction), ensure_ascii=False) + "\n")


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


def _figure(name: str, evaluation: Any) -> str:
    headline = evaluation.headline
    low, high = evaluation.interval
    value = evaluation.values[headline]
    return f"{name + ':':8} {headline} {value:.4f} (95 % interval {low:.4f} to {high:.4f}, {evaluation.num_rows} rows)"
