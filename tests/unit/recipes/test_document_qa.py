"""The contracts and questions of the recipe: every answer's place, and what cannot be told from the question alone."""

import json
import re
from collections import defaultdict
from pathlib import Path

import pytest

from ernie_pp.config import check_config, load_config

RECIPE = Path(__file__).resolve().parents[3] / "tasks" / "document_qa"
FILES = {
    name: [json.loads(line) for line in (RECIPE / "data" / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()]
    for name in ("train", "dev")
}
DOCUMENTS = {one["id"]: one for documents in FILES.values() for one in documents}
# What a reader of the contract would answer.
KNOWN = {
    "purchase-01-1": ["人民币贰拾贰万肆仟元整", "￥224,000.00"],
    "loan-01-1": ["人民币捌拾万元整", "800，000元"],
    "service-01-3": ["临溪仲裁委员会"],
    "tech-02-3": ["安澜海事仲裁院"],
    "lease-03-3": ["乙方"],
    "lease-03-5": [],
}


def questions_of(name):
    return [question for document in FILES[name] for question in document["qas"]]


@pytest.mark.parametrize("name", DOCUMENTS)
def test_every_answer_stands_where_the_file_says(name):
    context = DOCUMENTS[name]["context"]
    for question in DOCUMENTS[name]["qas"]:
        for answer in question["answers"]:
            start, text = answer["answer_start"], answer["text"]
            assert context[start : start + len(text)] == text != ""
            assert text == text.strip() and text[0] not in "，。；：" and text[-1] not in "，。；："


@pytest.mark.parametrize("name", DOCUMENTS)
def test_questions_without_an_answer_have_none_and_all_others_do(name):
    assert [bool(one["answers"]) for one in DOCUMENTS[name]["qas"]] == [
        not one["is_impossible"] for one in DOCUMENTS[name]["qas"]
    ]


@pytest.mark.parametrize(("name", "num_questions"), [("train", 60), ("dev", 18)])
def test_a_third_of_the_questions_has_no_answer(name, num_questions):
    flags = [question["is_impossible"] for question in questions_of(name)]
    assert (len(flags), sum(flags)) == (num_questions, num_questions // 3)


def test_ids_and_questions_of_a_document_are_its_own():
    ids = [question["id"] for name in FILES for question in questions_of(name)]
    assert len(set(ids)) == len(ids) and len(DOCUMENTS) == 20
    for document in DOCUMENTS.values():
        assert len({question["question"] for question in document["qas"]}) == len(document["qas"])
        assert all(question["id"].startswith(document["id"] + "-") for question in document["qas"])


def test_a_question_alone_does_not_tell_whether_there_is_an_answer():
    flags = defaultdict(set)
    for name in FILES:
        for question in questions_of(name):
            flags[question["question"]].add(question["is_impossible"])
    assert flags["争议由哪家仲裁委员会仲裁？"] == flags["定金是多少？"] == flags["保证金是多少？"] == {True, False}


@pytest.mark.parametrize("name", KNOWN)
def test_answers_are_those_a_reader_would_give(name):
    by_id = {question["id"]: question for part in FILES for question in questions_of(part)}
    assert [answer["text"] for answer in by_id[name]["answers"]] == KNOWN[name]


def test_contracts_are_as_varied_as_contracts_are():
    texts = [document["context"] for document in DOCUMENTS.values()]
    assert len({document["id"].split("-")[0] for document in DOCUMENTS.values()}) >= 9
    assert all(400 <= len(text) <= 1_500 or len(text) >= 3_000 for text in texts)
    assert sum(len(text) >= 3_000 for text in texts) == 2
    assert all(any(len(one["context"]) > 3_000 for one in documents) for documents in FILES.values())
    assert any("\f" in text for text in texts) and any(re.search("[０-９]", text) for text in texts)
    assert any(len(question["answers"]) > 1 for question in questions_of("train"))


def test_no_contract_is_one_of_the_review_recipe():
    others = {
        line
        for path in (RECIPE.parent / "contract_review" / "data").glob("*.jsonl")
        for row in map(json.loads, path.read_text(encoding="utf-8").splitlines())
        for line in row["text"].splitlines()
        if len(line) > 20
    }
    assert not others & {line for one in DOCUMENTS.values() for line in one["context"].splitlines()}


def test_the_config_has_no_contradiction_and_names_files_that_are_there():
    config = load_config(RECIPE / "config.yaml")
    check_config(config, source="config.yaml")
    assert config.task == "docqa"
    assert [Path(str(path)).is_file() for path in (config.data.train, config.data.dev)] == [True, True]


@pytest.mark.parametrize("name", FILES)
def test_the_readme_counts_what_is_there(name):
    lengths = [len(document["context"]) for document in FILES[name]]
    flags = [question["is_impossible"] for question in questions_of(name)]
    row = f"| `data/{name}.jsonl` | {len(lengths)}, of {min(lengths):,} to {max(lengths):,} characters "
    assert row + f"| {len(flags)} | {sum(flags)} |" in (RECIPE / "README.md").read_text(encoding="utf-8")


def test_the_sample_of_the_readme_is_the_files_own():
    readme = (RECIPE / "README.md").read_text(encoding="utf-8")
    first = json.dumps(DOCUMENTS["lease-01"]["qas"][0], ensure_ascii=False)
    assert first in readme and json.dumps(DOCUMENTS["lease-01"]["qas"][3], ensure_ascii=False) in readme
