"""Keys of questions to documents, lists of files, and rows held out: what they take, and what is told of them."""

import pytest

from ernie_pp.config import RunConfig, check_config, dump_config, load_config
from ernie_pp.config.fields import all_keys
from ernie_pp.config.task_rules import task_rules
from ernie_pp.errors import ConfigError

BASE = """
task: docqa
output_dir: runs/x
model: {sizes: {vocab: vocab.txt}}
data: {train: [a.json, more/b.json], dev_share: 0.1}
"""
FIELD = {"name": "f", "labels": ["A"]}


@pytest.fixture
def load(tmp_path):
    def load_text(text, *overrides):
        (tmp_path / "config.yaml").write_text(text, encoding="utf-8")
        return load_config(tmp_path / "config.yaml", overrides)

    return load_text


def _told(load, text, *overrides):
    config = load(text, *overrides)
    try:
        check_config(config, source="config.yaml")
    except ConfigError as error:
        return str(error)
    return ""


def test_a_list_of_files_is_taken_relative_to_the_file_that_names_them(load, tmp_path):
    data = load(BASE).data
    assert data.train == data.sources("train") == (str(tmp_path / "a.json"), str(tmp_path / "more/b.json"))
    assert data.sources("dev") == data.sources("test") == ()


@pytest.mark.parametrize("word", ["[x.json, sub/y.json]", "['x.json', \"sub/y.json\"]"])
def test_a_list_on_the_command_line_is_taken_relative_to_the_working_directory(load, tmp_path, monkeypatch, word):
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    data = load(BASE, f"data.train={word}", "data.test=t.json").data
    assert data.train == (str(tmp_path / "here/x.json"), str(tmp_path / "here/sub/y.json"))
    assert data.sources("test") == (str(tmp_path / "here/t.json"),)


def test_a_list_replaces_what_an_earlier_source_names(load, tmp_path):
    (tmp_path / "base").mkdir()
    (tmp_path / "base/base.yaml").write_text("data: {train: [one.json, two.json], dev: dev.json}\n", encoding="utf-8")
    data = load("extends: base/base.yaml\n" + BASE).data
    assert data.train == (str(tmp_path / "a.json"), str(tmp_path / "more/b.json"))
    assert data.dev == str(tmp_path / "base/dev.json")


def test_a_dataset_in_a_list_is_no_path(load, tmp_path):
    data = load(BASE, "data.train=[datasets:cmrc2018, datasets:clue:drcd]").data
    assert data.train == ("datasets:cmrc2018", "datasets:clue:drcd")


def test_lists_come_back_from_the_resolved_config(load, tmp_path):
    config = load(BASE, "review.questions=[合同金额是多少？, '谁付款: 甲方, 还是乙方？']", "docqa.threshold=0.25")
    assert config.review.questions == ("合同金额是多少？", "谁付款: 甲方, 还是乙方？")
    assert load(dump_config(config)) == config


@pytest.mark.parametrize(
    "word, told",
    [
        ("data.train=[]", "at least 1 item"),
        ("data.train=[a.json, 3]", "data.train is 3"),
        ("data.train=[[a.json]]", "data.train is"),
        ("data.train=[a.json", "not valid YAML"),
        ("data.dev_share=0", "data.dev_share is 0"),
        ("data.dev_share=1.0", "expected less than 1"),
        ("data.dev_share=half", "data.dev_share is 'half'"),
        ("text.ranked_windows=0", "text.ranked_windows is 0"),
        ("docqa.contradictions=first", "docqa.contradictions is 'first'"),
        ("docqa.max_answer=0", "docqa.max_answer is 0"),
        ("docqa.empty_windows=-1", "docqa.empty_windows is -1"),
        ("docqa.num_best=0", "docqa.num_best is 0"),
        ("docqa.num_best=51", "docqa.num_best is 51"),
        ("docqa.threshold=1.5", "docqa.threshold is 1.5"),
        ("docqa.threshold=tunes", "docqa.threshold is 'tunes'"),
        ("docqa.metric=squad", "docqa.metric is 'squad'"),
        ("docqa.longest=3", "unknown key docqa.longest"),
        ("review.questions=甲方是谁？", "review.questions is '甲方是谁？'"),
    ],
)
def test_a_value_that_is_none_is_refused_with_its_word(load, word, told):
    with pytest.raises(ConfigError, match="command line") as caught:
        load(BASE, word)
    assert told in str(caught.value)


SOUND = [
    (),
    (
        "docqa.max_answer=40",
        "docqa.empty_windows=null",
        "docqa.num_best=1",
        "docqa.threshold=0",
        "docqa.baseline=false",
    ),
    ("docqa.empty_windows=0", "docqa.threshold=1.0", "docqa.metric=dureader_robust", "docqa.contradictions=majority"),
    ("text.max_length=512", "text.overlap=128", "text.ranked_windows=8"),
    ("review.questions=[甲方是谁？, 乙方是谁？]", "data.format=squad"),
    ("data.dev=[c.json, d.json]", "data.dev_share=null", "data.test=[e.json]"),
]


@pytest.mark.parametrize("words", SOUND, ids=str)
def test_a_sound_config_of_questions_has_nothing_to_say(load, words):
    assert _told(load, BASE, *words) == ""


@pytest.mark.parametrize(
    "words, told",
    [
        (["data.dev=d.json"], "data.dev_share has no effect: data.dev names the rows"),
        (["data.dev_share=null"], "data.dev is missing: a run chooses its best checkpoint on it; name a file, or hold"),
        (["data.train=null"], "data.train is missing"),
        (["data.dev_split=validation2"], "data.dev_split has no effect: data.dev is not given"),
        (["data.train=[a.json, b.json, a.json]"], "a.json 2 times"),
        (["data.train=[a.json, datasets:b]", "data.format=squad"], "data.format is squad, but a datasets: source"),
        (["data.header=false"], "data.header has no effect: it is about TSV and CSV"),
        (["data.format=conll"], "data.format is conll, which holds entities, and task is docqa"),
        (["data.text=body"], "data.text has no effect: task is docqa"),
        (["data.text_pair=body"], "data.text_pair has no effect: task is docqa"),
        (["data.label=kind"], "data.label has no effect: task is docqa"),
        (["data.dialect=cail"], "data.dialect has no effect: task is docqa"),
        (["text.truncate=tail"], "text.truncate has no effect: task is docqa"),
        (["text.max_length=42", "text.overlap=21"], "text.overlap is 21, expected at most half of the 40 tokens"),
        (["text.max_length=4"], "text.max_length is 4, expected 5 or more: [CLS] question [SEP] document [SEP]"),
        (["train.rdrop_alpha=0.5"], "train.rdrop_alpha has no effect: task is docqa"),
        (["cls.loss=focal"], "cls.loss has no effect: task is docqa"),
        (["ner.head=softmax"], "ner.head has no effect: task is docqa"),
        (["labels=[span, none]"], "labels has no effect: task is docqa, whose answers are spans, yes or no, or none"),
        (["labels=[]"], "labels has no effect: task is docqa, whose answers are spans, yes or no, or none"),
        (["review.fields=[{name: f, labels: [A]}]"], "review.fields has no effect: task is docqa, and a field is"),
        (["review.questions=[甲方是谁？, ' ']"], "review.questions holds ' ', expected a text that can be seen"),
        (["review.questions=[甲方是谁？, 甲方是谁？]"], "review.questions holds '甲方是谁？' 2 times"),
    ],
    ids=str,
)
def test_one_contradiction_is_told_once(load, words, told):
    # The place, the contradiction, and where keys are explained.
    place, *found, _ = _told(load, BASE, *words).split("\n")
    assert place == "config.yaml" and len(found) == 1
    assert told in found[0]


@pytest.mark.parametrize("task", ["cls", "ner"])
@pytest.mark.parametrize(
    "sections, told",
    [
        ({"text": {"ranked_windows": 4}}, "text.ranked_windows has no effect: task is {}"),
        ({"data": {"format": "squad"}}, "data.format is squad, which holds questions, and task is {}"),
        (
            {"review": {"questions": ["甲方是谁？"]}},
            "review.questions has no effect: task is {}, and questions are asked by docqa",
        ),
    ],
)
def test_what_is_about_questions_is_told_in_other_tasks(task, sections, told):
    config = RunConfig.model_validate({"task": task, "output_dir": "run", **sections})
    assert list(task_rules(config)) == [told.format(task)]


@pytest.mark.parametrize("section, task", [("docqa", "cls"), ("docqa", "ner"), ("cls", "docqa"), ("ner", "docqa")])
def test_every_key_of_a_section_is_told_in_tasks_that_do_not_read_it(section, task):
    config = RunConfig.model_validate({"task": task, "output_dir": "run"})
    names = {key.split(".")[1] for key in all_keys() if key.startswith(f"{section}.")}
    assert len(names) > 3
    for name in names:
        odd = getattr(config, section).model_copy(update={name: "another value"})
        told = list(task_rules(config.model_copy(update={section: odd})))
        assert told == [f"{section}.{name} has no effect: task is {task}"]


@pytest.mark.parametrize("task", ["cls", "ner"])
def test_rows_are_held_out_in_every_task(load, task):
    assert _told(load, BASE.replace("docqa", task)) == ""


@pytest.mark.parametrize("override", ["data.train=", "data.dev=", "data.train=['a.json', '']", "model.sizes.vocab="])
def test_an_empty_path_is_told_and_is_no_folder(load, override):
    name = override.partition("=")[0]
    assert f"{name} is empty, expected the path of what is read" in _told(load, BASE, override)
