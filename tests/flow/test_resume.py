"""The same command goes on with a run that was ended, wherever that was; what differs stops it before it starts."""

import hashlib
import json
import logging
import os
import shutil
from pathlib import Path

import pytest
import sample_run

from ernie_pp.errors import ConfigError, DataError, RunError
from ernie_pp.jobs import train

LAST = ("metrics.json", "predictions.jsonl", "report.html")
WORDS = ("checkpoint.keep=20", "train.max_steps=24", "cls.baseline=false", "model.dropout=0.1", "export.check_rows=4")


@pytest.fixture(scope="module", autouse=True)
def said():
    """What the command line lets through, which these tests do without."""
    log = logging.getLogger("ernie_pp")
    before = log.level
    log.setLevel(logging.INFO)
    yield
    log.setLevel(before)


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """A finished run with a checkpoint of every epoch, six steps each."""
    folder = tmp_path_factory.mktemp("whole")
    sample_run.train_here(sample_run.write_sample(folder), *WORDS)
    return folder


@pytest.fixture
def ended(whole, tmp_path):
    """A copy of it as a kill after step 12 left it, but for best/, which may have gone further."""
    shutil.copytree(whole, tmp_path / "copy")
    run = tmp_path / "copy" / "run"
    for name in LAST:
        (run / name).unlink()
    for step in (18, 24):
        shutil.rmtree(run / "checkpoints" / f"step-{step:08d}")
    return tmp_path / "copy"


def _go_on(folder, *words):
    config = sample_run.write_config(folder)
    sample_run.train_here(config, *WORDS, *words)
    return folder / "run"


def _figures(run):
    lines = sample_run.read_jsonl(run / "log.jsonl")
    names = ("kind", "step", "loss", "grad_norm", "learning_rate", "accuracy")
    return [[line.get(name) for name in names] for line in lines]


def _predictions(run):
    """Without the folder of the rows, which is each test's own."""
    return [{**line, "file": Path(line["file"]).name} for line in sample_run.read_jsonl(run / "predictions.jsonl")]


def _assert_same(run, whole):
    whole = whole / "run"
    assert (_figures(run), _predictions(run)) == (_figures(whole), _predictions(whole))
    for name in ("metrics.json", "best/model.safetensors"):
        assert (run / name).read_bytes() == (whole / name).read_bytes(), name


def test_it_goes_on_to_the_same_end(ended, whole):
    run = _go_on(ended)
    _assert_same(run, whole)
    log = (run / "run.log").read_text(encoding="utf-8")
    assert "12 steps are done" in log and "step 6: dev accuracy" in log, "the log of the first process stays"
    assert (run / "bundle" / "manifest.json").is_file()


def test_a_run_ended_after_its_last_step_only_hands_over(whole, tmp_path):
    shutil.copytree(whole, tmp_path / "copy")
    (tmp_path / "copy" / "run" / "report.html").unlink()
    run = _go_on(tmp_path / "copy")
    _assert_same(run, whole)
    assert (run / "report.html").is_file() and "24 steps are done" in (run / "run.log").read_text(encoding="utf-8")


def test_a_finished_run_is_not_touched(whole):
    before = (whole / "run" / "metrics.json").stat().st_mtime_ns
    said = sample_run.train_here(sample_run.write_config(whole), *WORDS)
    assert said.endswith("run is finished, with these settings; overwrite=true trains it again")
    with pytest.raises(RunError, match=r"holds the results of an earlier run: .*\n.*overwrite=true"):
        _go_on(whole, "train.learning_rate=1e-3")
    assert (whole / "run" / "metrics.json").stat().st_mtime_ns == before


def test_a_run_ended_before_its_first_checkpoint_begins_again(ended, whole):
    shutil.rmtree(ended / "run" / "checkpoints")
    shutil.rmtree(ended / "run" / "best")
    _assert_same(_go_on(ended), whole)


def test_a_best_model_that_went_further_is_made_again_from_its_checkpoint(ended, whole):
    settings = ended / "run" / "best" / "ernie_pp.json"
    values = json.loads(settings.read_text(encoding="utf-8"))
    settings.write_text(json.dumps({**values, "step": 18}), encoding="utf-8")
    _assert_same(_go_on(ended), whole)


def test_a_best_model_that_is_gone_is_told_and_the_best_looked_for_anew(ended, caplog):
    shutil.rmtree(ended / "run" / "best")
    best_step = json.loads((ended / "run" / "checkpoints" / "step-00000012" / "trainer.json").read_text("utf-8"))
    shutil.rmtree(ended / "run" / "checkpoints" / "step-00000006")
    run = _go_on(ended)
    assert best_step["trainer"]["loop"]["best"]["step"] in (6, 12)
    assert (run / "best" / "model.safetensors").is_file()


def test_a_damaged_checkpoint_is_set_aside_and_the_one_before_it_taken(ended, whole):
    path = ended / "run" / "checkpoints" / "step-00000012" / "optimizer-00000.safetensors"
    content = bytearray(path.read_bytes())
    content[-5] ^= 4
    path.write_bytes(content)
    run = _go_on(ended)
    _assert_same(run, whole)
    assert (run / "checkpoints" / "refused-step-00000012").is_dir()
    assert "6 steps are done" in (run / "run.log").read_text(encoding="utf-8")


def test_another_run_goes_on_from_it_and_leaves_it_alone(ended, whole, tmp_path):
    before = sorted(path.name for path in (ended / "run" / "checkpoints").iterdir())
    _go_on(ended, f"output_dir={tmp_path / 'other'}", f"resume={ended / 'run'}")
    _assert_same(tmp_path / "other", whole)
    assert sorted(path.name for path in (ended / "run" / "checkpoints").iterdir()) == before
    assert "resume: auto" in (tmp_path / "other" / "config.yaml").read_text(encoding="utf-8")


def test_other_settings_stop_it_and_nothing_is_lost(ended):
    before = sorted(path.name for path in (ended / "run").rglob("*"))
    with pytest.raises(ConfigError, match=r"train\.learning_rate: 0\.005 there, 0\.001 now(?s:.)*resume=never"):
        _go_on(ended, "train.learning_rate=1e-3")
    assert sorted(path.name for path in (ended / "run").rglob("*")) == before


@pytest.mark.parametrize("name", ["train", "dev"])
def test_other_rows_stop_it_and_nothing_is_lost(ended, name):
    path = ended / f"{name}.jsonl"
    first, second, *rest = path.read_text(encoding="utf-8").splitlines(keepends=True)
    path.write_text("".join([second, first, *rest]), encoding="utf-8")
    with pytest.raises(DataError, match=rf"{name}\.jsonl\n  the {name} rows .* up to step 12\n"):
        _go_on(ended)
    assert (ended / "run" / "log.jsonl").is_file() and (ended / "run" / "best").is_dir()


def test_another_model_stops_it(ended, whole):
    vocab = ended / "vocab.txt"
    vocab.write_text(vocab.read_text(encoding="utf-8") + "龘\n", encoding="utf-8")
    with pytest.raises(RunError, match=r"tensor ernie\.embeddings\.word_embeddings\.weight has shape"):
        _go_on(ended)


def test_rows_that_have_moved_are_the_same_rows(ended, whole, tmp_path):
    moved = tmp_path / "moved.jsonl"
    (ended / "train.jsonl").rename(moved)
    _assert_same(_go_on(ended, f"data.train={moved}"), whole)


def test_a_run_that_another_one_has_overtaken_does_not_undo_it(ended, whole, monkeypatch):
    find = train.find_start

    def overtaken(*words, **named):
        found = find(*words, **named)
        later = whole / "run" / "checkpoints" / "step-00000018"
        shutil.copytree(later, ended / "run" / "checkpoints" / later.name)
        return found

    monkeypatch.setattr(train, "find_start", overtaken)
    with pytest.raises(RunError, match=r"step 12 is not the newest whole checkpoint any more"):
        _go_on(ended)
    assert (ended / "run" / "checkpoints" / "step-00000018").is_dir()


def test_results_that_come_while_a_run_starts_are_not_removed(tmp_path, whole, monkeypatch):
    shutil.copytree(whole, tmp_path / "copy", ignore=shutil.ignore_patterns("run"))
    find = train.find_start
    (tmp_path / "copy" / "run").mkdir()

    def overtaken(config, folder, **named):
        found = find(config, folder, **named)
        shutil.copytree(whole / "run" / "checkpoints", tmp_path / "later")
        monkeypatch.setattr(folder, "make", lambda: (tmp_path / "later").rename(folder.checkpoints))
        return found

    monkeypatch.setattr(train, "find_start", overtaken)
    with pytest.raises(RunError, match="has got results of another run meanwhile"):
        _go_on(tmp_path / "copy")
    assert len(list((tmp_path / "copy" / "run" / "checkpoints").iterdir())) == 4


def test_a_run_killed_between_its_first_best_model_and_its_first_checkpoint_begins_again(ended, whole):
    shutil.rmtree(ended / "run" / "checkpoints")
    _assert_same(_go_on(ended), whole)


def test_a_best_model_of_other_settings_is_kept(ended):
    shutil.rmtree(ended / "run" / "checkpoints")
    with pytest.raises(RunError, match="holds the results of an earlier run"):
        _go_on(ended, "train.learning_rate=1e-3")
    assert (ended / "run" / "best").is_dir()


def test_a_fork_that_was_ended_goes_on_by_the_same_command(ended, whole, tmp_path):
    words = (f"output_dir={tmp_path / 'fork'}", f"resume={ended / 'run'}")
    fork = _go_on(ended, *words) and tmp_path / "fork"
    for name in LAST:
        (fork / name).unlink()
    shutil.rmtree(fork / "checkpoints" / "step-00000024")
    _go_on(ended, *words)
    _assert_same(fork, whole)
    assert "18 steps are done" in (fork / "run.log").read_text(encoding="utf-8")


def test_overwrite_goes_on_with_the_same_run_and_replaces_one_on_other_rows(ended, whole):
    _assert_same(_go_on(ended, "overwrite=true"), whole)
    for name in LAST:
        (ended / "run" / name).unlink()
    rows = sample_run.read_jsonl(ended / "dev.jsonl")
    sample_run.write_jsonl(ended / "dev.jsonl", rows[::-1])
    run = _go_on(ended, "overwrite=true")
    assert "the unfinished run is replaced" in (run / "run.log").read_text(encoding="utf-8")
    assert [line["line"] for line in sample_run.read_jsonl(run / "predictions.jsonl")] == list(range(1, 17))


def test_a_checkpoint_that_the_run_starts_from_is_not_removed_by_it(ended):
    kept = ended / "run" / "checkpoints" / "kept" / "step-00000012"
    shutil.copytree(ended / "run" / "checkpoints" / "step-00000012", kept)
    with pytest.raises(ConfigError, match=r"resume\n  is .* overwrite=true would remove"):
        _go_on(ended, f"resume={kept}", "overwrite=true")
    assert kept.is_dir()


def test_the_best_model_comes_back_from_between_two_names(ended, whole):
    (ended / "run" / "best").rename(ended / "run" / ".best.old")
    run = _go_on(ended)
    _assert_same(run, whole)
    assert not (run / ".best.old").exists()


def _forge(checkpoint, change):
    """Another trainer.json, which the manifest then vouches for."""
    trainer, manifest = checkpoint / "trainer.json", checkpoint / "manifest.json"
    values = json.loads(trainer.read_text(encoding="utf-8"))
    change(values)
    content = json.dumps(values).encode()
    trainer.write_bytes(content)
    said = json.loads(manifest.read_text(encoding="utf-8"))
    said["files"]["trainer.json"] = {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
    manifest.write_text(json.dumps(said), encoding="utf-8")


@pytest.mark.parametrize(
    "change, message",
    [
        (
            lambda values: values["trainer"]["loop"].update(step=10**6),
            "its loop is at step 1000000, its manifest at 12",
        ),
        (lambda values: values["trainer"]["loop"].update(consumed_rows=95), "after 95 rows, expected 96 rows"),
        (lambda values: values["trainer"]["loop"].update(num_worse=-1), "does not say where its run stood"),
        (lambda values: values["trainer"].pop("loop"), "does not say where its run stood: 'loop'"),
        (lambda values: values["scalars"].update(loss_scale=0.0), "loss_scale is 0.0"),
        (lambda values: values["scalars"].pop("num_skipped"), "num_skipped"),
    ],
)
def test_a_place_that_no_run_comes_to_is_refused(ended, change, message):
    _forge(ended / "run" / "checkpoints" / "step-00000012", change)
    with pytest.raises(RunError, match=message):
        _go_on(ended)
    assert (ended / "run" / "best").is_dir()


def test_a_best_model_that_was_damaged_is_made_again(ended, whole):
    path = ended / "run" / "best" / "model.safetensors"
    content = bytearray(path.read_bytes())
    content[-3] ^= 64
    path.write_bytes(content)
    _assert_same(_go_on(ended), whole)


ODD_LINES = (
    "[" * 100_000,
    '{"kind": "train", "step": 1}',
    '{"kind": "train", "step": 1, "loss": 1' + "0" * 400 + "}",
    '{"kind": "evaluate", "step": 1, "split": "\\ud800"}',
    '{"kind": "evaluate", "step": "1"}',
    '{"kind": "shown", "step": 1}',
    '{"kind": "train", "step"',
)


def test_lines_of_the_log_that_are_none_are_left_out(ended, whole, caplog):
    with open(ended / "run" / "log.jsonl", "a", encoding="utf-8") as file:
        file.write("\n".join(ODD_LINES))
        file.write('\n{"kind": "evaluate", "step": 2}\n')
    run = _go_on(ended)
    assert (run / "report.html").is_file() and len(_figures(run)) == len(_figures(whole / "run")) + 1
    assert f"{len(ODD_LINES)} lines cannot be read and are left out" in caplog.text


@pytest.mark.parametrize("name", ["log.jsonl", "run.log"])
def test_a_log_that_is_a_pipe_is_told(ended, name):
    (ended / "run" / name).unlink()
    os.mkfifo(ended / "run" / name)
    with pytest.raises(RunError, match=rf"{name}\n  cannot be (read|written)"):
        _go_on(ended)


def test_a_model_folder_with_another_config_is_another_model(ended, tmp_path):
    model = tmp_path / "model"
    shutil.copytree(ended / "run" / "best", model)
    words = (f"model.path={model}", f"output_dir={tmp_path / 'other'}", "train.max_steps=6", "cls.baseline=false")
    config = sample_run.write_config(ended, {"model": {"sizes": None}})
    sample_run.train_here(config, *words)
    (tmp_path / "other" / "report.html").unlink()
    values = json.loads((model / "config.json").read_text(encoding="utf-8"))
    (model / "config.json").write_text(json.dumps({**values, "hidden_act": "relu"}), encoding="utf-8")
    with pytest.raises(RunError, match=r"another config\.json:\n  hidden_act: 'gelu' there, 'relu' now"):
        sample_run.train_here(config, *words)


def test_a_run_with_nothing_left_to_train_is_finished_by_two_processes(ended, whole):
    run = ended / "run"
    shutil.rmtree(run / "checkpoints")
    shutil.copytree(whole / "run" / "checkpoints", run / "checkpoints")
    shutil.copyfile(whole / "run" / "log.jsonl", run / "log.jsonl")
    words = ("parallel.stages=2", "profile.timeline=true", *WORDS)
    done = sample_run.train(sample_run.write_config(ended), *words)
    assert done.returncode == 0, done.stderr
    assert "24 steps are done" in done.stderr and (run / "report.html").is_file()
    assert _figures(run) == _figures(whole / "run")
