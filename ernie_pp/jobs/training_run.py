"""One training run from read rows to bundle, in the order it happens."""

from __future__ import annotations

import logging
import time
from contextlib import nullcontext
from pathlib import Path

from ernie_pp.config import RunConfig, dump_config
from ernie_pp.durable import write_json
from ernie_pp.errors import DataError, RunError
from ernie_pp.export.parity import describe
from ernie_pp.jobs.bundling import export_model
from ernie_pp.jobs.checkpoints import check_fits, read_loop, share_start
from ernie_pp.jobs.device import set_device
from ernie_pp.jobs.figures import say_count, write_figures
from ernie_pp.jobs.fit import Fit, Outcome
from ernie_pp.jobs.joining import open_run, writer_first
from ernie_pp.jobs.model import Model
from ernie_pp.jobs.overlap import warn_of_overlap
from ernie_pp.jobs.planning import waiting_note
from ernie_pp.jobs.prepare import Prepared, prepare
from ernie_pp.jobs.report_content import Story, build_content
from ernie_pp.jobs.results import summarize, write_results
from ernie_pp.jobs.run_log import RunLog
from ernie_pp.jobs.run_plan import layout_of, picture_plan, plan_run
from ernie_pp.jobs.start_point import is_own, may_begin_again, may_replace
from ernie_pp.jobs.writer import Writer
from ernie_pp.machine import CpuSetup, describe_machine
from ernie_pp.models.ernie import build_stack, load_encoder
from ernie_pp.models.stack import ErnieStack
from ernie_pp.parallel.place import Place
from ernie_pp.parallel.topology import Layout
from ernie_pp.parallel.world import World
from ernie_pp.partition.plan import Plan
from ernie_pp.progress import format_seconds
from ernie_pp.report import write_report
from ernie_pp.tasks.interface import Evaluation
from ernie_pp.training.build import build_engine
from ernie_pp.training.checkpoint.choose import choose_newest, set_aside
from ernie_pp.training.checkpoint.saved import Checkpoint
from ernie_pp.training.history import read_history
from ernie_pp.training.position import plan_length
from ernie_pp.training.precision import check_precision
from ernie_pp.training.record import NoRecord, Record, RunRecord
from ernie_pp.training.run_folder import RunFolder

LOG = logging.getLogger("ernie_pp")


def run(
    config: RunConfig, folder: RunFolder, setup: CpuSetup, *, place: Place | None = None, writer: Writer | None = None
) -> str:
    """Train, measure, report, export; returns the summary for the screen.

    Every rank calls it and does its share of the computing. Rank 0 is the `writer` of the run folder and returns the
    summary, the others return nothing.
    """
    began, place = time.monotonic(), place or Place()
    # Another launcher's ranks may stand on several machines; it deals out the GPUs.
    device = set_device(config.device, num_processes=place.num_ranks if place.kind == "ours" else 1)
    check_precision(config.train, device=device)
    world = open_run(place, config, is_cpu=device == "cpu")
    start = share_start(None if writer is None else writer.start, world)
    prepared = _prepare(config, folder, world)
    plan = plan_run(config, prepared, world)
    fit = _build_fit(config, prepared, folder, world, layout_of(plan))
    if start is not None:
        start = _fitting(start, config, folder, fit)
    if writer is not None:
        _begin(fit, writer.log, start)
        write_figures(folder.plan, plan.to_json())
        _warn_of_waiting(plan)
    with _open_record(folder, start, is_writer=writer is not None) as record:
        best = fit.run(record, start)
    measured = fit.engine.measured_step() if config.profile.timeline else None
    figures = _measure_all(fit, best)
    summary = ""
    if writer is not None:
        seconds = format_seconds(time.monotonic() - began)
        took = seconds if start is None else f"{seconds} since it was gone on with"
        facts = _facts(config, prepared, fit, setup) | {"time": took}
        story = Story(figures, record.history, facts, picture_plan(plan, record.history, measured, world.grid))
        if measured is not None:
            write_json(folder.trace, measured.chrome_trace())
        summary = _hand_over(config, prepared, folder, best=best, story=story)
    # Nobody leaves before all is written: a rank that is gone would be missed.
    world.control.meet()
    world.control.close()
    return summary


def _warn_of_waiting(plan: Plan) -> None:
    note = waiting_note(plan)
    if note is not None:
        LOG.warning("%s", note)


def _prepare(config: RunConfig, folder: RunFolder, world: World) -> Prepared:
    """The rows, read and tokenized by rank 0; the others then find the tokens in the cache."""
    cache = Path(config.data.cache_dir) if config.data.cache_dir is not None else folder.cache
    with writer_first(world):
        prepared = prepare(config, cache=cache)
        if world.is_writer:
            warn_of_overlap(prepared)
    return prepared


def _open_record(folder: RunFolder, start: Checkpoint | None, *, is_writer: bool) -> Record:
    if not is_writer:
        return NoRecord()
    history: list[dict] = []
    if start is not None:
        # A fork of another run has its history before it.
        loop, source = read_loop(start), RunFolder(start.folder.parent.parent)
        history = read_history(source.log, step=loop.step, is_evaluated=loop.is_evaluated)
        if not history:
            LOG.info("%s is not there: the log begins with step %d", source.log, loop.step + 1)
    return RunRecord(folder.log, folder.visualdl, history=history)


def _hand_over(config: RunConfig, prepared: Prepared, folder: RunFolder, *, best: Outcome, story: Story) -> str:
    """Write the results, the report and the bundle; the summary for the screen."""
    write_results(prepared, folder, best, story.figures)
    write_report(folder.report, build_content(config, prepared, best=best, story=story))
    return "\n".join([summarize(story.figures), f"report:    {folder.report}", f"bundle:    {_export(config, folder)}"])


def _fitting(start: Checkpoint, config: RunConfig, folder: RunFolder, fit: Fit) -> Checkpoint | None:
    """The checkpoint, of whose rows and model these are; None where it gives way to a new run. All ranks find alike."""
    try:
        check_fits(start, fit.prepared, fit.model)
    except (DataError, RunError) as error:
        if not may_replace(config, folder, start):
            raise
        LOG.info("overwrite=true: the unfinished run is replaced; %s", error)
        return None
    return start


def _begin(fit: Fit, log: RunLog, start: Checkpoint | None) -> None:
    """Give the folder to this run: a wrong config, row or model has cost no earlier result."""
    config, folder, prepared = fit.config, fit.folder, fit.prepared
    # A saved config repeats a run; it must not carry the leave to replace one, nor another run's checkpoint.
    text = dump_config(config.model_copy(update={"overwrite": False, "resume": "auto"}))
    if start is not None and is_own(start, folder):
        log.go_on()
        _set_refused_aside(folder, start)
        folder.go_on(text)
    else:
        _check_nothing_is_lost(config, folder)
        log.begin()
        folder.begin(text)
    if prepared.faults.count:
        prepared.faults.write(folder.skipped)
        LOG.warning("%s left out, listed in %s", say_count(prepared.faults.count, "bad row"), folder.skipped)


def _check_nothing_is_lost(config: RunConfig, folder: RunFolder) -> None:
    """RunError where results have come since the folder was looked at; the lock on run.log keeps it as it is now."""
    if folder.has_results() and not (config.overwrite or may_begin_again(config, folder)):
        raise RunError(str(folder.root), "has got results of another run meanwhile", "Start the run again.")


def _set_refused_aside(folder: RunFolder, start: Checkpoint) -> None:
    """Checkpoints after the one that the run goes on from are not whole; RunError where they are.

    The folder is ours from here on: between the choice and now another run may have trained in it.
    """
    choice = choose_newest(folder.checkpoints)
    if choice.checkpoint is None or choice.checkpoint.digest != start.digest:
        what = f"step {start.manifest.step} is not the newest whole checkpoint any more: another run has trained here"
        raise RunError(str(folder.checkpoints), what, "Start the run again.")
    for refusal in choice.refused:
        LOG.warning("%s is set aside, and step %d gone on from: %s", refusal.folder, start.manifest.step, refusal.why)
    set_aside(choice.refused)


def _export(config: RunConfig, folder: RunFolder) -> str:
    if not config.export.enabled:
        return "not exported (export.enabled: false)"
    parity = export_model(folder.best, folder.bundle, tolerance=config.export.tolerance)
    return f"{folder.bundle} ({describe(parity)})"


def _build_fit(config: RunConfig, prepared: Prepared, folder: RunFolder, world: World, layout: Layout) -> Fit:
    # A named model is downloaded: once, not by all at the same time.
    with writer_first(world) if config.model.name is not None else nullcontext():
        stack = _build_stack(config, prepared)
    train_rows = prepared.splits["train"].rows
    length = plan_length(len(train_rows), config.train)
    LOG.info("training: %d steps, %d an epoch", length.num_steps, length.steps_per_epoch)
    loss = prepared.task.build_loss(prepared.splits["train"].targets)
    shapes = {name: tuple(tensor.shape) for name, tensor in stack.canonical_parameters().items()}
    engine = build_engine(stack, loss=loss, config=config, num_steps=length.num_steps, world=world, layout=layout)
    return Fit(config, prepared, model=Model(stack, engine, shapes), folder=folder, world=world)


def _build_stack(config: RunConfig, prepared: Prepared) -> ErnieStack:
    tokenizer = prepared.tokenizer
    sizes = {"vocab_size": tokenizer.vocab_size, "pad_id": tokenizer.pad_id}
    loaded = load_encoder(config.model, **sizes, seed=config.seed)
    LOG.info("model: %s%s", loaded.source, ", random weights" if loaded.is_random else "")
    if loaded.missing:
        LOG.info("not in the model folder, started fresh: %s", ", ".join(loaded.missing))
    if loaded.unexpected:
        LOG.info("in the model folder and not used: %s", ", ".join(loaded.unexpected))
    return build_stack(loaded, prepared.task.head_spec, seed=config.seed)


def _measure_all(fit: Fit, best: Outcome) -> dict[str, Evaluation]:
    """Evaluations by name: dev, test (the best weights, the dev split's decision rule), baselines (on dev).

    Every rank takes part in computing; what needs one process only is done by rank 0, and the others have no figures.
    """
    task, splits, is_writer = fit.prepared.task, fit.prepared.splits, fit.world.is_writer
    figures = {"dev": best.evaluation}
    if "test" in splits:
        fit.load_best()
        answers = fit.answers(splits["test"])
        if is_writer:
            figures["test"] = task.measure(answers, splits["test"], best.decoding)
    if not is_writer:
        return {}
    return figures | dict(task.measure_baselines(splits["train"].examples, splits["dev"], best.decoding))


def _facts(config: RunConfig, prepared: Prepared, fit: Fit, setup: CpuSetup) -> dict[str, str]:
    model = config.model.name or config.model.path or "random weights"
    sizes = fit.model.stack.config
    size = f"{fit.model.num_parameters / 1e6:.1f} M parameters"
    shape = f"{sizes.num_hidden_layers} layers, {sizes.hidden_size} wide, {size}"
    rows = ", ".join(f"{len(split.rows)} {name}" for name, split in prepared.splits.items())
    machine = describe_machine()
    versions = ", ".join(f"{name} {machine[name]}" for name in machine if name.startswith("paddle"))
    where = f"{setup}, {machine['memory']}"
    return {"model": f"{model} ({shape})", "rows": rows, "machine": where, "versions": versions}
