"""What doctor finds: all of it is shown whatever is wrong with one part."""

import sample_run

from ernie_pp.jobs.doctor import diagnose


def _add_bad_row(folder):
    with open(folder / "train.jsonl", "a", encoding="utf-8") as file:
        file.write('{"text": " ", "label": 1}\n')


def test_a_sound_config_has_no_problem(tmp_path):
    findings = diagnose(str(sample_run.write_sample(tmp_path)), [])
    assert "train: " in findings.text
    # In this process Paddle was loaded by another test.
    assert [problem for problem in findings.problems if "loaded before" not in problem] == []


def test_bad_rows_are_problems_and_hide_nothing(tmp_path):
    config = sample_run.write_sample(tmp_path)
    _add_bad_row(tmp_path)
    findings = diagnose(str(config), [])
    assert findings.exit_code == 3
    assert "Machine" in findings.text and "rows               48" in findings.text and "Training" in findings.text
    assert "PROBLEM: " + str(tmp_path / "train.jsonl") + " line 49: text" in findings.text


def test_bad_rows_that_a_run_would_skip_are_listed_and_no_problem(tmp_path):
    config = sample_run.write_sample(tmp_path)
    _add_bad_row(tmp_path)
    findings = diagnose(str(config), ["data.on_error=skip"])
    assert findings.exit_code != 3
    assert "Bad rows left out" in findings.text and "train.jsonl line 49: text" in findings.text


def test_what_stops_the_reading_is_told_beside_the_machine(tmp_path):
    config = sample_run.write_sample(tmp_path)
    findings = diagnose(str(config), ["train.micro_batch_tokens=8"])
    assert findings.exit_code == 2
    assert "Machine" in findings.text and "PROBLEM: train.micro_batch_tokens" in findings.text


def test_a_named_cache_is_left_alone(tmp_path):
    diagnose(str(sample_run.write_sample(tmp_path)), [f"data.cache_dir={tmp_path / 'cache'}"])
    assert not (tmp_path / "cache").exists()
