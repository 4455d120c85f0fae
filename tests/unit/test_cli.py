"""The command line: exit codes and messages; the work itself is put aside."""

import argparse
import os
import shlex
import subprocess
import sys

import pytest
import sample_run

from ernie_pp import cli, verbs
from ernie_pp.errors import ConfigError, DataError, ModelError, NumericError, RunError
from ernie_pp.jobs import doctor, evaluate


@pytest.fixture
def main(monkeypatch):
    """(exit code, what was run) of `ernie-pp doctor` whose job is replaced by `job`."""
    monkeypatch.setattr(cli.signal, "signal", lambda *_: None)

    def run(job, *words):
        def add(parser):
            verbs.add_config(parser, required=False)
            parser.set_defaults(run=job)

        monkeypatch.setitem(cli.VERBS, "doctor", (add, "a job of the test"))
        return cli.main(["doctor", *words])

    return run


def _raise(error):
    def job(_):
        raise error

    return job


@pytest.mark.parametrize(
    "kind, code", [(ConfigError, 2), (DataError, 3), (NumericError, 4), (ModelError, 1), (RunError, 1)]
)
def test_an_error_of_the_user_is_one_message_and_its_code(main, capsys, kind, code):
    assert main(_raise(kind("a.tsv line 3", 'label "好评" is unknown', "Correct it."))) == code
    out, err = capsys.readouterr()
    assert out == ""
    assert err == f'{kind.__name__}: a.tsv line 3\n  label "好评" is unknown\n  Correct it.\n'


def test_an_error_of_ours_keeps_its_traceback(main):
    with pytest.raises(ZeroDivisionError):
        main(lambda _: 1 // 0)


def test_ctrl_c_is_130(main, capsys):
    assert main(_raise(KeyboardInterrupt())) == 130
    assert capsys.readouterr().err == "stopped\n"


def test_words_are_passed_on(main):
    seen = []

    def job(arguments):
        seen.append((arguments.config, arguments.overrides))
        return 0

    assert main(job, "--config", "a.yaml", "train.epochs=2", "labels=[a, b]") == 0
    assert seen == [("a.yaml", ["train.epochs=2", "labels=[a, b]"])]


@pytest.mark.parametrize("word", ["0", "-1", "1.5", "x", "", "９９九"])
def test_counts_are_whole_numbers_above_zero(word):
    with pytest.raises(argparse.ArgumentTypeError, match="expected a whole number above 0"):
        verbs.positive(word)
    assert verbs.positive("12") == 12


@pytest.mark.parametrize("words", [[], ["dance"], ["predict", "--bundle", "b"], ["evaluate", "--run", "r"]])
def test_wrong_words_are_2(words, capsys):
    with pytest.raises(SystemExit) as caught:
        cli.main(words)
    assert caught.value.code == 2
    assert "usage: ernie-pp" in capsys.readouterr().err


def test_predict_says_that_rows_are_answered_in_chunks(capsys):
    with pytest.raises(SystemExit):
        cli.main(["predict", "--help"])
    assert "answered in chunks of up to 1,024" in " ".join(capsys.readouterr().out.split())


def test_every_verb_has_help(capsys):
    for verb in cli.VERBS:
        with pytest.raises(SystemExit) as caught:
            cli.main([verb, "--help"])
        assert caught.value.code == 0
        assert cli.VERBS[verb][1] in " ".join(capsys.readouterr().out.split())


def test_a_missing_config_is_2(capsys):
    assert cli.main(["train"]) == 2
    assert "--config\n  is missing" in capsys.readouterr().err


def test_doctor_ends_with_the_code_of_what_it_found(monkeypatch, capsys):
    findings = doctor.Findings(("Machine",), ("a.tsv line 3",), exit_code=3)
    monkeypatch.setattr(doctor, "diagnose", lambda *_: findings)
    assert cli.main(["doctor"]) == 3
    assert "Machine" in capsys.readouterr().out


def test_evaluate_passes_the_split_on(monkeypatch):
    seen = {}
    monkeypatch.setattr(evaluate, "evaluate_run", lambda run, **words: seen.update(words, run=run))
    assert cli.main(["evaluate", "--run", "r", "--data", "datasets:x", "--split", "dev"]) == 0
    assert seen == {"run": "r", "data": "datasets:x", "split": "dev", "output": None, "device": "auto"}


def test_more_threads_than_any_machine_has_are_refused():
    with pytest.raises(argparse.ArgumentTypeError, match="at most 1024"):
        verbs.num_threads("99999999999")


@pytest.mark.parametrize(
    "error, told",
    [
        (PermissionError(13, "Permission denied", "/a/b"), "PermissionError: /a/b: Permission denied\n"),
        (OSError(28, "No space left on device"), "OSError: No space left on device\n"),
        (OSError("odd"), "OSError: odd\n"),
        (MemoryError(), "MemoryError: there is not enough memory\n"),
    ],
)
def test_what_the_system_refuses_is_one_line(main, capsys, error, told):
    assert main(_raise(error)) == 1
    assert capsys.readouterr().err == told


@pytest.mark.parametrize(
    "words", [["--config", "f", "a=1", "--quiet", "b=2"], ["a=1", "--config", "f", "b=2"], ["--quiet", "a=1", "b=2"]]
)
def test_settings_may_stand_anywhere_among_the_words(main, words):
    seen = []
    assert main(lambda arguments: seen.append(arguments.overrides) or 0, *words) == 0
    assert seen == [["a=1", "b=2"]]


@pytest.mark.parametrize("words", [["--config", "f", "a=1", "--nope", "b=2"], ["a=1", "--quiet", "b"]])
def test_words_that_mean_nothing_are_2(main, capsys, words):
    with pytest.raises(SystemExit) as caught:
        main(lambda _: 0, *words)
    assert caught.value.code == 2 and "unrecognized arguments" in capsys.readouterr().err


def _in_shell(redirection, *words):
    command = f"{shlex.join(sample_run.command(*words))} {redirection}"
    return subprocess.run(["sh", "-c", command], capture_output=True, text=True, env=sample_run.environment())


def test_a_full_standard_output_is_told_in_one_message():
    done = _in_shell(">/dev/full", "train", "--keys")
    assert done.returncode == 1
    assert done.stderr.startswith("RunError: standard output\n  cannot be written: No space left")
    assert "Traceback" not in done.stderr and "Exception" not in done.stderr


@pytest.mark.parametrize("redirection", ["2>/dev/full", "2>&-", ">&-", "<&- >&- 2>&-"])
@pytest.mark.parametrize("words, code", [(["train", "--keys"], 0), (["train"], 2), (["doctor", "--config", "none"], 2)])
def test_streams_that_take_nothing_change_no_exit_code(redirection, words, code):
    done = _in_shell(redirection, *words)
    assert done.returncode == code and "Traceback" not in done.stderr


def test_what_a_run_left_in_the_environment_is_told_in_one_message(tmp_path):
    words = [sys.executable, "-m", "ernie_pp.cli", "train", "--config", str(tmp_path / "c.yaml")]
    environment = {**os.environ, "ERNIE_PP_RANK": "0"}
    done = subprocess.run(words, env=environment, capture_output=True, text=True, timeout=60)
    assert done.returncode == 1
    assert done.stderr.startswith("RunError: variable ERNIE_PP_RANK=0") and "Traceback" not in done.stderr


def test_only_training_is_the_work_of_ranks(main, monkeypatch):
    monkeypatch.setenv("ERNIE_PP_RANK", "0")
    assert main(lambda _: 0) == 0
