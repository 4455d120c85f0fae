import pytest

from ernie_pp.config import check_config, dump_config, load_config
from ernie_pp.config.fields import all_keys, find_field
from ernie_pp.errors import ConfigError

BASE = """
task: cls
output_dir: runs/x
data: {train: train.tsv, dev: dev.tsv}
model: {sizes: {vocab: vocab.txt}}
train: {learning_rate: 3e-5}
"""


@pytest.fixture
def load(tmp_path):
    def load_text(text, *overrides, **options):
        path = tmp_path / "config.yaml"
        path.write_text(text, encoding="utf-8")
        return load_config(path, overrides, **options)

    return load_text


def test_exponent_without_a_point_is_a_number(load):
    assert load(BASE).train.learning_rate == 3e-5


def test_yes_no_dates_and_times_stay_text(load):
    config = load(BASE + "labels: [no, yes, 2024-01-01, 12:30:45]")
    assert config.labels == ("no", "yes", "2024-01-01", "12:30:45")


def test_a_number_as_label_is_its_text(load):
    assert load(BASE + "labels: {0: 差评, 1: 好评}").labels == {"0": "差评", "1": "好评"}


def test_the_command_line_wins_over_the_file_and_the_file_over_what_it_extends(load, tmp_path):
    (tmp_path / "base.yaml").write_text("train: {batch_size: 8, epochs: 9}\nseed: 1", encoding="utf-8")
    config = load("extends: base.yaml\n" + BASE + "\nseed: 2", "seed=3", "train.epochs=1.5")
    assert (config.train.batch_size, config.train.epochs, config.seed) == (8, 1.5, 3)


def test_paths_start_at_their_file_and_on_the_command_line_at_the_working_directory(load, tmp_path, monkeypatch):
    monkeypatch.chdir("/")
    config = load(BASE, "data.dev=other.tsv")
    assert config.data.train == str(tmp_path / "train.tsv")
    assert config.data.dev == "/other.tsv"
    assert config.model.sizes.vocab == str(tmp_path / "vocab.txt")
    assert load(BASE, "data.train=datasets:clue:tnews").data.train == "datasets:clue:tnews"


def test_a_model_named_later_replaces_the_one_named_before(load):
    config = load(BASE, "model.name=ernie-3.0-nano-zh")
    assert (config.model.name, config.model.sizes) == ("ernie-3.0-nano-zh", None)


def test_a_resolved_config_loads_to_the_same_settings(load):
    config = load(BASE + "labels: {0: 差评, 1: 好评}", "cls.class_weights=[1, 2]")
    assert load(dump_config(config)) == config


@pytest.mark.parametrize(
    "line, message",
    [
        ("trian: {epochs: 1}", "config.yaml:7:1\n  unknown key trian; did you mean train?"),
        ("seed: 1\nseed: 2", "config.yaml:8:1\n  gives seed twice, first at line 7:1"),
        ("cls: {threshhold: 0.3}", "unknown key cls.threshhold; did you mean cls.threshold?"),
        ("seed: '1'", "seed is '1'"),
        ("seed: -1", "expected greater than or equal to 0"),
        ("cls: {threshold: 2}", "cls.threshold is 2"),
        ("labels: &a [x, y]", "anchor"),
        ("labels: [[a]", "is not valid YAML"),
        ("labels: !!python/name:os.system x", "is not valid YAML"),
        ("cls: " + "[" * 30 + "]" * 30, "nested more than 20 levels"),
        ("text: {max_length: 3.5}", "text.max_length is 3.5"),
        ("device: tpu", "'auto', 'cpu' or 'gpu'"),
    ],
)
def test_a_fault_is_named_with_its_place(load, line, message):
    with pytest.raises(ConfigError) as caught:
        load(BASE + line)
    assert message in str(caught.value)


def test_all_problems_come_in_one_report(load):
    with pytest.raises(ConfigError) as caught:
        load(BASE, "seed=x", "train.epoch=1")
    assert "seed is 'x'" in str(caught.value) and "did you mean train.epochs?" in str(caught.value)


@pytest.mark.parametrize("word", ["seed", "=3", "nothing=1"])
def test_a_bad_word_on_the_command_line_is_named(load, word):
    with pytest.raises(ConfigError, match=word.strip("=") or "key=value"):
        load(BASE, word)


def test_a_config_of_another_task_is_refused(load):
    with pytest.raises(ConfigError, match="this command runs ner"):
        load(BASE, task="ner")


def test_a_missing_file_a_second_extends_and_other_encodings_are_refused(load, tmp_path):
    (tmp_path / "a.yaml").write_text("extends: b.yaml", encoding="utf-8")
    (tmp_path / "gbk.yaml").write_bytes("labels: [好, 坏]".encode("gbk"))
    for name, message in (("none.yaml", "cannot be read"), ("a.yaml", "one level"), ("gbk.yaml", "not UTF-8")):
        with pytest.raises(ConfigError, match=message):
            load(f"extends: {name}\n" + BASE)


@pytest.mark.parametrize(
    "overrides, message",
    [
        (["model.sizes=null"], "exactly one of name, path and sizes, got none"),
        (["data.dev=null"], "data.dev is missing"),
        (["cls.threshold=0.3"], "cls.threshold has no effect"),
        (["cls.focal_gamma=1.0"], "cls.focal_gamma has no effect"),
        (["train.amp_level=O2"], "train.amp_level has no effect"),
        (["data.label_separator=|"], "data.label_separator has no effect"),
        (["data.format=jsonl", "data.header=false"], "data.header has no effect"),
        (["cls.class_weights=[1, 2, 3]", "labels=[a, b]"], "3 numbers for 2 labels"),
        (["cls.class_weights=[1, 2]"], "needs `labels`"),
        (["text.max_length=4096"], "over model.sizes.max_positions"),
        (["labels=[a, a]"], "'a' twice"),
        (["labels=[a]"], "labels has 1 entries; classification needs at least 2"),
        (["labels=[]", "cls.multi_label=true"], "classification needs at least 1"),
        (["data.train_split=all"], "data.train_split has no effect: data.train is"),
        (["data.dev_split=all", "data.train=datasets:clue:tnews"], "data.dev_split has no effect: data.dev is"),
        (["data.test_split=all"], "data.test_split has no effect: data.test is not given"),
        (["data.header=false", "data.train=a.jsonl", "data.dev=b.json"], "data.header has no effect"),
        (["data.quoting=none", "data.train=a.ndjson", "data.dev=datasets:x"], "data.quoting has no effect"),
        (["model.name=ernie-3.0-nano-zh", "model.allow_pickle=true"], "model.allow_pickle has no effect"),
        (["train.rdrop_alpha=1.0", "model.dropout=0.0"], "train.rdrop_alpha has no effect"),
    ],
)
def test_contradictions_and_keys_without_effect_are_refused(load, overrides, message):
    with pytest.raises(ConfigError) as caught:
        check_config(load(BASE, *overrides), source="config.yaml")
    assert message in str(caught.value)


@pytest.mark.parametrize(
    "overrides",
    [
        ["data.header=false", "data.train=a.jsonl"],  # data.dev is a TSV file
        ["data.quoting=double", "data.train=a.jsonl", "data.dev=rows.dat"],  # may be one
        ["data.dev_split=all", "data.dev=datasets:clue:tnews"],
        ["data.train_split=all", "data.train=."],  # a folder, as save_to_disk writes it
        ["data.train_split=all", "data.format=datasets"],
        ["train.rdrop_alpha=1.0"],
        ["labels=[a]", "cls.multi_label=true", "data.label_separator=|"],
    ],
)
def test_keys_with_an_effect_are_allowed(load, overrides):
    check_config(load(BASE, *overrides), source="config.yaml")


@pytest.mark.parametrize(
    "word, message",
    [
        ("seed=" + "9" * 5000, "a number of 5000 digits"),
        ("seed=" + "9" * 999, "expected less than"),
        ("train.epochs=1e999", "expected a finite number"),
        ("train.learning_rate=1e999", "expected a finite number"),
        ("cls.class_weights=[1.0, 1e999]", "expected a finite number"),
        ("cpu.threads=99999999999", "expected less than or equal to 4096"),
        ("data.label_separator=", "at least 1 character"),
        ("seed=1\nfoo: 2", "is more than one key=value"),
        ("train.epochs=1\nvalue: 2", "gives value twice"),
    ],
)
def test_a_value_no_run_could_use_is_refused(load, word, message):
    with pytest.raises(ConfigError) as caught:
        load(BASE, word.replace("\\n", "\n"))
    assert message in str(caught.value)


def test_an_empty_value_is_null(load):
    assert load(BASE, "train.clip_norm=").train.clip_norm is None


def test_every_key_has_a_meaning():
    assert [key for key in all_keys() if not find_field(key.split(".")).description] == []
