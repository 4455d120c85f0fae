"""Models, settings and vocabularies of evil intent, by the command line: no code runs, memory stays, all is told."""

import shutil

import hostile_files
import pytest
import sample_run
import yaml
from grid_run import GridRun
from injection import at_micro_batch, write_injection
from many_commands import run_commands
from safetensors.numpy import load_file

WORDS = ("train.max_steps=1", "export.enabled=false", "overwrite=true", "model.allow_pickle=true")
HOSTILE = {**hostile_files.PICKLES, **hostile_files.FOLDERS}
SOUND = {
    "the model itself": lambda _: None,
    "a sound .pdparams": hostile_files.as_pickle(lambda _, arrays: arrays),
    "keys of no ERNIE": hostile_files.with_config(**hostile_files.KEYS),
}
# By name: what stands in the file, and what is told: its place as line:column and a piece of the message.
SETTINGS = {
    "an object of Python": (
        "task: cls\nlabels: !!python/object/apply:os.system ['touch {marker}']\n",
        "2:9",
        "a YAML tag",
    ),
    "a key twice": ("task: cls\ntrain:\n  epochs: 1\n  epochs: 2\n", "4:3", "twice"),
    "a billion laughs": ("a: &a [x, x]\nb: &b [*a, *a]\nc: [*b, *b]\n", "1:4", "anchor or alias"),
    "great depth": (f"a: {'[' * 5000}\n", "1:23", "20 levels"),
    "great size": ("#" * 2_000_000, None, "larger than 1048576 bytes"),
    "no YAML": ("task: cls\n  train: 'x\n", "2:8", "not valid YAML"),
    "an unknown key": ("task: cls\ntrain:\n  epoch: 1\n", "3:3", "epochs"),
    "a number as a text": ("task: cls\ntrain: {learning_rate: '3e-5'}\n", "2:9", "learning_rate"),
}


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """The folder of a sound model, and the config that trains on from `model.path`."""
    folder = tmp_path_factory.mktemp("hostile")
    config = sample_run.write_sample(folder)
    sample_run.train_here(config, "train.max_steps=1", "export.enabled=false")
    values = yaml.safe_load(config.read_text("utf-8"))
    values["model"] = {"path": "nowhere"}
    config.write_text(yaml.safe_dump(values), encoding="utf-8")
    return folder, config


@pytest.fixture(scope="module")
def answers(made):
    """What training said to each model folder and each config, in one process."""
    folder, config = made
    names = [*SOUND, *HOSTILE]
    commands = []
    for number, name in enumerate(names):
        spoilt = folder / f"{number:02}"
        shutil.copytree(folder / "run" / "best", spoilt)
        (SOUND.get(name) or HOSTILE[name][0])(spoilt)
        commands.append(["train", "--config", str(config), *WORDS, f"model.path={spoilt}", f"output_dir={spoilt}-run"])
    for name, (text, _, _) in SETTINGS.items():
        path = folder / f"{name}.yaml"
        path.write_text(text.replace("{marker}", str(folder / hostile_files.MARKER)), encoding="utf-8")
        commands.append(["train", "--config", str(path)])
    return dict(zip([*names, *SETTINGS], run_commands(commands), strict=True))


@pytest.mark.parametrize("name", SOUND)
def test_a_sound_model_is_trained_on_and_kept_as_safetensors(made, answers, name):
    assert answers[name].code == 0, answers[name].errors
    run = made[0] / f"{[*SOUND].index(name):02}-run"
    assert "ernie.embeddings.word_embeddings.weight" in load_file(run / "best" / "model.safetensors")
    assert not list(run.rglob("*.pdparams"))


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_model_is_refused_without_running_and_in_little_memory(made, answers, name):
    answer, piece = answers[name], HOSTILE[name][1]
    assert answer.code == 1 and piece in answer.errors, answer.errors[-2000:]
    assert "ModelError: " in answer.errors and "Traceback" not in answer.errors and len(answer.errors) < 5000
    assert not list(made[0].glob(f"*{hostile_files.MARKER}"))
    assert answer.more_bytes < 200_000_000


@pytest.mark.parametrize("name", SETTINGS)
def test_hostile_settings_are_refused_at_their_place(made, answers, name):
    answer, (_, place, piece) = answers[name], SETTINGS[name]
    where = f"{name}.yaml" + (f":{place}" if place else "")
    assert answer.code == 2 and where in answer.errors and piece in answer.errors, answer.errors[-2000:]
    assert "Traceback" not in answer.errors and not (made[0] / hostile_files.MARKER).exists()
    assert answer.more_bytes < 50_000_000


def test_a_secret_of_the_environment_is_nowhere_in_the_run_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("MY_SECRET_TOKEN", "s3cr3t-of-the-user")
    words = ("parallel.stages=2", "train.eval_every=1", "checkpoint.every=1")
    # The run has kept a best model by then.
    path = write_injection(tmp_path, at_micro_batch(5, "raise ValueError('boom')"))
    run = GridRun(sample_run.write_sample(tmp_path), *words, path=path)
    errors, _ = run.end()
    assert run.process.returncode == 1 and "boom" in errors
    files = [path for path in (tmp_path / "run").rglob("*") if path.is_file()]
    assert len(files) > 5
    assert not [path for path in files if b"s3cr3t" in path.read_bytes() or b"MY_SECRET" in path.read_bytes()]
