import os
import random

import pytest

from ernie_pp.config import check_config, dump_config, load_config
from ernie_pp.config.fields import all_keys, find_field
from ernie_pp.config.yaml_reader import parse_yaml, write_yaml
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
        ("labels: !!python/name:os.system x", "config.yaml:7:9\n  uses a YAML tag"),
        ("seed: !!int abc", "uses a YAML tag"),
        ("seed: !!timestamp x", "uses a YAML tag"),
        ("labels: [a, 'b\x01']", "config.yaml:7:15\n  holds the control character U+0001"),
        ("\n\0", "config.yaml:8:1\n  holds the control character U+0000"),
        ('labels: [a, "b\\ud800"]', "labels.1 is 'b\\ud800': U+D800 is not UTF-8"),
        ('labels: {a: x, "b\\0": y}', "U+0000 is NUL"),
        ('text: {truncate: "a\\0"}', "text.truncate is 'a\\x00': U+0000 is NUL"),
        ('extends: "a\\0b"', "cannot be read"),
        ("cls.threshold: 0.3", "unknown key cls.threshold; write cls: {threshold: ...}"),
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
        (["data.label=text"], "data.text and data.label name the same column 'text'"),
        (["data.text_pair=label"], "data.text_pair and data.label name the same column 'label'"),
        (["labels=[a, ' ']"], "labels holds ' ', expected a name that can be seen"),
        (['labels={0: "", 1: b}'], "labels holds '', expected"),
        (["labels=['1 ', '2']"], "labels holds '1 ': labels are read without the blanks"),
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
        ("cpu.threads=99999999999", "expected less than or equal to 1024"),
        ("data.label_separator=", "at least 1 character"),
        ("seed=1\nfoo: 2", "is more than one key=value"),
        ("train.epochs=1\nvalue: 2", "gives value twice"),
    ],
)
def test_a_value_no_run_could_use_is_refused(load, word, message):
    with pytest.raises(ConfigError) as caught:
        load(BASE, word.replace("\\n", "\n"))
    assert message in str(caught.value)


ODD_TEXTS = [
    *(
        "1e5",
        "2E5",
        "1.5e3",
        ".5",
        "-.5e-3",
        "0x1F",
        "0b1",
        "1_000",
        "1:30",
        "017",
        "+1",
        "-0",
        "1.",
        "~",
        "null",
        "Null",
    ),
    *(
        "true",
        "False",
        "yes",
        "NO",
        "on",
        "",
        " ",
        "a ",
        "\t",
        "a: b",
        "a #b",
        "- a",
        "? a",
        "!x",
        "&a",
        "*a",
        "%",
        "@",
        "`",
    ),
    *(
        "2024-01-01",
        "<<",
        "=",
        ".inf",
        ".nan",
        "\u2028",
        "\x85",
        "\ufeff",
        "\x7f",
        "\x9f",
        "\n",
        "a\nb",
        "\r",
        "👍",
        "'",
        '"',
    ),
    *("---", "...", "[", "{a", "|", ">", "x" * 300, "字 " * 200),
]


def test_any_text_reads_back_as_that_text():
    source = random.Random(1)
    texts = ["".join(source.choices("0123456789.eE+-_: #'\"~tn\n\t,[]{}好\x85\u2028", k=9)) for _ in range(3000)]
    values = {"list": [*ODD_TEXTS, *texts], "mapping": {text: text for text in [*ODD_TEXTS, *texts]}}
    assert parse_yaml(write_yaml(values), source="x").values == values


def test_labels_that_look_like_numbers_stay_text_in_a_resolved_config(load):
    config = load(BASE + "labels: {'1e5': '2E5', b: '1.5e3'}", "output_dir=1e5", "data.text=1.0")
    assert load(dump_config(config)) == config


def test_truth_values_as_labels_are_their_texts(load):
    assert load(BASE + "labels: [true, false]").labels == ("true", "false")


@pytest.mark.parametrize(
    "words, message",
    [
        (["seed=1", "seed=2"], "command line seed=2\n  gives seed a second time, after seed=1"),
        (["model.name=a", "model.path=b"], "command line model.path=b\n  contradicts model.name=a"),
        (["model.sizes.vocab=a", "model.path=b"], "contradicts model.sizes.vocab=a"),
    ],
)
def test_two_words_that_undo_each_other_are_refused(load, words, message):
    with pytest.raises(ConfigError) as caught:
        load(BASE, *words)
    assert message in str(caught.value)


def test_several_sizes_may_come_on_the_command_line(load):
    assert load(BASE, "model.sizes.num_layers=3", "model.sizes.hidden_size=64").model.sizes.num_layers == 3


def test_a_size_that_would_replace_a_model_folder_says_so(load):
    text = BASE.replace("{sizes: {vocab: vocab.txt}}", "{path: ernie}")
    with pytest.raises(ConfigError, match=r"replaces model\.path .*ernie by random weights, and model\.sizes\.vocab"):
        load(text, "model.sizes.num_layers=3")


def test_a_value_in_a_sections_place_is_not_hidden_by_a_later_source(load, tmp_path):
    (tmp_path / "base.yaml").write_text("cls: 3", encoding="utf-8")
    with pytest.raises(ConfigError, match=r"base\.yaml:1:1\n  cls is 3, expected keys"):
        load("extends: base.yaml\n" + BASE + "cls: {threshold: 0.3}")


@pytest.mark.parametrize("sizes", ["{}", "3", "[]"])
def test_sizes_that_are_none_are_not_hidden_by_a_model_on_the_command_line(load, sizes):
    with pytest.raises(ConfigError, match=r"config\.yaml:5:9\n  model\.sizes is .* expected keys"):
        load(BASE.replace("{vocab: vocab.txt}", sizes), "model.path=ernie")


def test_a_link_keeps_its_name_which_tells_the_format(load, tmp_path):
    (tmp_path / "blob").write_text("", encoding="utf-8")
    (tmp_path / "train.tsv").symlink_to("blob")
    (tmp_path / "real" / "sub").mkdir(parents=True)
    (tmp_path / "link").symlink_to("real/sub")
    assert load(BASE).data.train == str(tmp_path / "train.tsv")
    assert load(BASE.replace("train: train.tsv", "train: link/../a.tsv")).data.train == str(tmp_path / "real" / "a.tsv")


@pytest.mark.parametrize("name", ["loop/a.tsv", "x" * 300 + ".tsv", "loop"])
def test_an_odd_name_is_left_to_the_reader_of_the_file(load, tmp_path, name):
    (tmp_path / "loop").symlink_to("loop")
    config = load(BASE.replace("train: train.tsv", f"train: {name}"))
    check_config(config, source="config.yaml")
    assert config.data.train.endswith(name)


def test_a_folder_whose_name_is_not_utf8_is_refused_before_training(load, tmp_path, monkeypatch):
    with pytest.raises(ConfigError, match=r"output_dir is .*not UTF-8"):
        load(BASE, "output_dir=" + os.fsdecode("结果".encode("gbk")))
    folder = tmp_path / os.fsdecode("结果".encode("gbk"))
    folder.mkdir()
    config = load(BASE)
    monkeypatch.chdir(folder)
    with pytest.raises(ConfigError, match=r"output_dir is 'runs/x' in .*not UTF-8"):
        check_config(config, source="config.yaml")


def test_an_empty_value_is_null(load):
    assert load(BASE, "train.clip_norm=").train.clip_norm is None


def test_every_key_has_a_meaning():
    assert [key for key in all_keys() if not find_field(key.split(".")).description] == []
