"""`ernie-pp plan` as a user runs it: what it prints, and settings that a config takes."""

import shlex

import pytest
import sample_run
import yaml

from ernie_pp.config import check_config, load_config

WORDS = ("--devices", "4", "--memory", "16GiB", "--device-kind", "t4", "--link", "25GB/s")


@pytest.fixture(scope="module")
def sample(tmp_path_factory):
    return sample_run.write_sample(tmp_path_factory.mktemp("sample"))


@pytest.fixture(scope="module")
def planned(sample):
    """The process that planned, and the folder of what it wrote."""
    folder = sample.parent
    files = ("--output", str(folder / "grid.yaml"), "--report", str(folder / "plan.html"))
    done = sample_run.run("plan", "--config", str(sample), *WORDS, *files, "train.batch_size=64")
    assert done.returncode == 0, done.stderr
    return done, folder


def test_it_tells_plans_the_case_for_one_device_and_draws(planned):
    lines = planned[0].stdout.splitlines()
    assert "4 x t4, 16 GiB each, 23.3 GiB/s between them" in planned[0].stdout
    assert [line.split()[0] for line in lines if line.startswith(("1 ", "2 ", "3 "))] == ["1", "2", "3"]
    assert any(line.startswith("One device ") for line in lines)
    assert any(line.startswith("stage 0 ") for line in lines)


def test_what_it_writes_is_taken_by_extends_and_by_the_command_line(planned, sample):
    done, folder = planned
    extending = folder / "extending.yaml"
    extending.write_text(f"extends: grid.yaml\n{sample.read_text(encoding='utf-8')}", encoding="utf-8")
    config = load_config(extending, ["train.batch_size=64"])
    check_config(config, source=str(extending))
    (line,) = [line for line in done.stdout.splitlines() if line.startswith("settings:")]
    words = shlex.split(line.removeprefix("settings:"))
    assert load_config(sample, ["train.batch_size=64", *words]).parallel == config.parallel
    given = yaml.safe_load((folder / "grid.yaml").read_text(encoding="utf-8"))
    assert set(given) == {"parallel"} and given["parallel"]["stages"] == config.parallel.stages


def test_its_page_draws_the_plan(planned):
    page = (planned[1] / "plan.html").read_text(encoding="utf-8")
    assert 'id="plan"' in page and "Simulated step" in page and "Memory of each stage" in page


def test_it_needs_no_rows_and_no_grid(tmp_path, sample):
    values = yaml.safe_load(sample.read_text(encoding="utf-8"))
    del values["data"]
    values["parallel"] = {"stages": 3, "micro_batches": 5}
    values["model"]["sizes"]["vocab"] = str(sample.parent / "vocab.txt")
    (tmp_path / "config.yaml").write_text(yaml.safe_dump(values), encoding="utf-8")
    done = sample_run.run("plan", "--config", str(tmp_path / "config.yaml"), "--top", "1", *WORDS)
    assert done.returncode == 0, done.stderr
    assert "\n2 " not in done.stdout


@pytest.mark.parametrize(
    "words, parts",
    [
        (["--memory", "16"], ["--memory", "is '16', expected a number with a unit"]),
        (["--link", "25GB"], ["--link", "expected a size a second"]),
        (["--length", "100"], ["--length", "is 100, and the model has 64 positions"]),
        (["--memory", "1MiB"], ["parallel.memory", "a stage still needs"]),
        (["--measure"], ["--device-kind", "is t4, and costs are measured here"]),
        (["train.batch_size=0"], ["train.batch_size is 0"]),
    ],
)
def test_what_it_cannot_do_is_told(sample, words, parts):
    given = dict(zip(WORDS[::2], WORDS[1::2], strict=True))
    extra = [word for name, value in given.items() if name not in words for word in (name, value)]
    done = sample_run.run("plan", "--config", str(sample), *words, *extra)
    assert done.returncode == 2 and "Traceback" not in done.stderr, done.stderr
    assert all(part in done.stderr for part in parts), done.stderr


def test_layers_are_measured_here_if_wanted(sample, tmp_path):
    done = sample_run.run(
        *("plan", "--config", str(sample), "--devices", "1", "--measure", "device=cpu"),
        XDG_CACHE_HOME=str(tmp_path),
    )
    assert done.returncode == 0, done.stderr
    assert "measured here" in done.stdout
    assert (tmp_path / "ernie_pp" / "layer_times.json").is_file()


@pytest.mark.parametrize("word", ["--output", "--report"])
def test_it_does_not_replace_what_it_reads(sample, word):
    before = sample.read_bytes()
    done = sample_run.run("plan", "--config", str(sample), "--devices", "2", word, str(sample))
    assert done.returncode == 2 and f"ConfigError: {word}" in done.stderr
    assert sample.read_bytes() == before
