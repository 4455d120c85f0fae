"""`ernie-pp review`: documents of every kind become one folder, with the figures where true values are known."""

import csv
import json
import logging
import os
import re

import pytest
import sample_run
import yaml

from ernie_pp.config.ner import FieldConfig
from ernie_pp.data.entities.document import Mention
from ernie_pp.errors import ConfigError, DataError, RunError
from ernie_pp.export.bundle import TOKENIZER_FILES, write_manifest
from ernie_pp.export.formats import FORMATS
from ernie_pp.jobs import review as job
from ernie_pp.jobs.review import review_documents
from ernie_pp.jobs.review_options import ReviewOptions
from ernie_pp.review.addresses import page_name
from ernie_pp.review.settings import check_labels

FIELDS = [{"name": "甲方", "labels": ["甲方"]}, {"name": "金额", "labels": ["金额"], "kind": "amount"}]
_PATTERNS = {"甲方": r"甲方[:：]?(\w{2,8}公司)", "金额": r"(\d+万?元)"}


def find(texts):
    """The part of the model."""
    found = []
    for text in texts:
        places = [(match.span(1), label) for label, one in _PATTERNS.items() for match in re.finditer(one, text)]
        found.append(tuple(Mention(start, end, label, 0.9) for (start, end), label in sorted(places)))
    return found


@pytest.fixture
def bundle(tmp_path):
    """A bundle that opens and cannot answer."""

    def build(task="ner", **values):
        folder = tmp_path / f"bundle-{task}"
        folder.mkdir()
        for name in (*FORMATS["inference"].files, *TOKENIZER_FILES):
            (folder / name).write_text("x")
        columns = {"text": "text", "text_pair": None, "header": True, "quoting": "auto"}
        rest = {
            "format": "inference",
            "precision": "fp32",
            "task": task,
            "text": {},
            "columns": columns,
            "decode": {},
            "inputs": [],
            "review": {"fields": FIELDS},
        }
        write_manifest(folder, rest | values)
        return str(folder)

    return build


def run(bundle, source, output, **options):
    return review_documents(ReviewOptions(bundle, str(source), str(output), **options), find)


def rows(tmp_path, *values):
    return sample_run.write_jsonl(tmp_path / "rows.jsonl", values)


ONE = {"id": "一号", "text": "甲方：青禾公司，总价100万元。", "truth": {"甲方": "青禾公司", "金额": "壹佰万元整"}}
TWO = {"id": "二号", "text": "甲方云帆公司", "truth": {"甲方": "别的公司"}}


def test_rows_become_pages_json_and_a_sheet_that_say_the_same(bundle, tmp_path):
    told = run(bundle(), rows(tmp_path, ONE, TWO), tmp_path / "out")
    review = json.loads((tmp_path / "out/review.json").read_text(encoding="utf-8"))
    assert [one["id"] for one in review] == ["一号", "二号"]
    amount = review[0]["fields"]["金额"]["values"][0]
    assert (amount["value"], amount["text"]) == ("1000000.00", "100万元")
    place = amount["mentions"][0]
    assert ONE["text"][place["start"] : place["end"]] == "100万元"
    with open(tmp_path / "out/review.csv", encoding="utf-8-sig", newline="") as file:
        sheet = list(csv.DictReader(file))
    assert [row["甲方"] for row in sheet] == ["青禾公司", "云帆公司"]
    assert sheet[1]["金额 状态"] == "missing"
    pages = sorted(path.name for path in (tmp_path / "out/documents").iterdir())
    assert pages == ["000001-一号.html", "000002-二号.html"]
    index = (tmp_path / "out/index.html").read_text(encoding="utf-8")
    assert all(f'href="documents/{name}"' in index for name in pages)
    assert not (tmp_path / "out/figures.json").exists()
    assert told.startswith("2 documents reviewed, 1 of them to look at")


def test_true_values_give_figures_and_an_error_list(bundle, tmp_path):
    told = run(bundle(), rows(tmp_path, ONE, TWO), tmp_path / "out", gold="truth")
    figures = json.loads((tmp_path / "out/figures.json").read_text(encoding="utf-8"))
    assert figures["micro"]["f1"] == pytest.approx(2 / 3)
    assert figures["fields"]["金额"]["f1"] == 1.0
    assert [(one["document"], one["field"], one["kind"]) for one in figures["errors"]] == [("二号", "甲方", "wrong")]
    assert "F1 0.667" in told
    assert "甲方【云帆公司】" in (tmp_path / "out/index.html").read_text(encoding="utf-8")


def test_text_files_keep_their_line_ends_and_their_places(bundle, tmp_path):
    folder = tmp_path / "contracts"
    folder.mkdir()
    (folder / "乙.txt").write_bytes("\ufeff第一行\r\n甲方：青禾公司".encode())
    (folder / "甲.TXT").write_text("甲方：云帆公司", encoding="utf-8")
    (folder / "notes.md").write_text("甲方：别的公司")
    run(bundle(), folder, tmp_path / "out")
    review = json.loads((tmp_path / "out/review.json").read_text(encoding="utf-8"))
    assert [one["id"] for one in review] == ["乙", "甲"]
    assert review[0]["fields"]["甲方"]["values"][0]["mentions"][0]["start"] == len("第一行\r\n甲方：")


def test_one_text_file_is_one_document(bundle, tmp_path):
    (tmp_path / "a.txt").write_text("甲方：云帆公司\n甲方：云帆公司", encoding="utf-8")
    assert run(bundle(), tmp_path / "a.txt", tmp_path / "out").startswith("1 document reviewed")


def test_fields_of_a_file_take_the_place_of_the_bundles(bundle, tmp_path):
    for name, values in (
        ("a.yaml", {"fields": FIELDS[:1]}),
        ("b.yaml", {"task": "ner", "review": {"fields": FIELDS[1:]}}),
    ):
        (tmp_path / name).write_text(yaml.safe_dump(values, allow_unicode=True), encoding="utf-8")
    folder = bundle(review={"fields": []})
    for name, field in (("a.yaml", "甲方"), ("b.yaml", "金额")):
        run(folder, rows(tmp_path, ONE), tmp_path / name[0], fields=str(tmp_path / name))
        review = json.loads((tmp_path / name[0] / "review.json").read_text(encoding="utf-8"))
        assert list(review[0]["fields"]) == [field]


BAD_FIELDS = [
    ({"fields": []}, "has no fields to fill"),
    ({"fields": [{"name": "甲方"}]}, "review.fields.0.labels"),
    ({"fields": [{"name": "甲方", "labels": ["甲方"], "kind": "sum"}]}, "kind is 'sum'"),
    ({"fields": [FIELDS[0], dict(FIELDS[0], labels=["乙方"])]}, 'has two fields "甲方"'),
    ({"task": "ner"}, "has neither `fields` nor"),
]


@pytest.mark.parametrize(("values", "told"), BAD_FIELDS)
def test_fields_that_are_none_are_told(bundle, tmp_path, values, told):
    (tmp_path / "f.yaml").write_text(yaml.safe_dump(values, allow_unicode=True), encoding="utf-8")
    with pytest.raises(ConfigError, match=re.escape(told)):
        run(bundle(), rows(tmp_path, ONE), tmp_path / "out", fields=str(tmp_path / "f.yaml"))


def test_a_bundle_without_fields_or_of_another_task_is_refused(bundle, tmp_path):
    with pytest.raises(ConfigError, match=r"Give them: --fields FILE"):
        run(bundle(review={"fields": []}), rows(tmp_path, ONE), tmp_path / "out")
    with pytest.raises(ConfigError, match="is of task cls"):
        run(bundle("cls"), rows(tmp_path, ONE), tmp_path / "out")


def test_a_row_that_stops_the_job_leaves_the_old_review_as_it_was(bundle, tmp_path):
    folder = bundle()
    run(folder, rows(tmp_path, ONE), tmp_path / "out")
    before = (tmp_path / "out/review.json").read_bytes()
    with pytest.raises(DataError, match=r"rows.jsonl line 2"):
        run(folder, rows(tmp_path, TWO, {"text": ""}), tmp_path / "out")
    with pytest.raises(DataError, match=r"truth: is list, expected an object"):
        run(folder, rows(tmp_path, TWO | {"truth": []}), tmp_path / "out", gold="truth")
    with pytest.raises(DataError, match=r"rows.jsonl line 1 truth.甲方(.|\n)*is 5"):
        run(folder, rows(tmp_path, TWO | {"truth": {"甲方": 5}}), tmp_path / "out", gold="truth")
    assert (tmp_path / "out/review.json").read_bytes() == before


@pytest.mark.parametrize("name", ["thesis.txt", "index.html"])
def test_a_folder_with_other_files_is_not_replaced(bundle, tmp_path, name):
    (tmp_path / "out").mkdir()
    (tmp_path / f"out/{name}").write_text("x")
    with pytest.raises(RunError, match="is a folder with other files in it"):
        run(bundle(), rows(tmp_path, ONE), tmp_path / "out")
    assert (tmp_path / f"out/{name}").exists()


def test_rows_left_out_and_true_values_of_no_field_are_told(bundle, tmp_path, caplog):
    bad, odd = {"text": 5, "truth": {}}, ONE | {"truth": {"甲 方": "青禾公司"}}
    with caplog.at_level(logging.WARNING, logger="ernie_pp"):
        told = run(bundle(), rows(tmp_path, bad, odd), tmp_path / "out", gold="truth", on_error="skip")
    assert "1 left out" in told and "rows.jsonl line 1" in caplog.text
    assert "true values of no field are not counted: 甲 方" in caplog.text


def test_true_values_of_text_files_are_refused(bundle, tmp_path):
    (tmp_path / "a.txt").write_text("甲方：云帆公司")
    with pytest.raises(ConfigError, match="--gold"):
        run(bundle(), tmp_path / "a.txt", tmp_path / "out", gold="truth")
    empty = tmp_path / "empty"
    empty.mkdir()
    with pytest.raises(DataError, match=r"has no file that ends in \.txt"):
        run(str(tmp_path / "bundle-ner"), empty, tmp_path / "out")


EVIL = [
    "../../etc/passwd",
    "a/b\\c",
    "",
    ".",
    "..",
    "CON",
    "字" * 500,
    "a\x1bb\n",
    "同",
    "同",
    "=1+1",
    "a:b*?<>|",
]


def test_no_id_leaves_the_folder_or_takes_anothers_page(bundle, tmp_path):
    run(bundle(), rows(tmp_path, *({"id": name, "text": "甲方：云帆公司"} for name in EVIL)), tmp_path / "out")
    pages = os.listdir(tmp_path / "out/documents")
    assert len(pages) == len(EVIL) == len({name.lower() for name in pages})
    assert sorted(os.listdir(tmp_path)) == ["bundle-ner", "out", "rows.jsonl"]
    assert all(re.fullmatch(r"[0-9]{6}(-[\w.-]+)?\.html", name) and len(name.encode()) < 200 for name in pages)


def test_a_row_without_an_id_is_called_by_its_place(bundle, tmp_path):
    run(bundle(), rows(tmp_path, {"text": "甲方：云帆公司"}, {"id": True, "text": "无"}), tmp_path / "out")
    review = json.loads((tmp_path / "out/review.json").read_text(encoding="utf-8"))
    assert [one["id"] for one in review] == ["rows.jsonl-1", "rows.jsonl-2"]


def test_no_more_than_a_chunk_of_documents_is_held(bundle, tmp_path, monkeypatch):
    monkeypatch.setattr(job, "CHUNK_DOCUMENTS", 3)
    sizes = []

    def counted(texts):
        sizes.append(len(texts))
        return find(texts)

    source = rows(tmp_path, *({"id": number, "text": "甲方：云帆公司"} for number in range(8)))
    review_documents(ReviewOptions(bundle(), str(source), str(tmp_path / "out")), counted)
    assert sizes == [3, 3, 2]
    monkeypatch.setattr(job, "CHUNK_CHARACTERS", 10)
    sizes.clear()
    review_documents(ReviewOptions(str(tmp_path / "bundle-ner"), str(source), str(tmp_path / "out")), counted)
    assert sizes == [2, 2, 2, 2]


def test_a_page_is_named_by_number_and_id():
    assert page_name(12, "2023 采购合同（一）") == "000012-2023_采购合同_一.html"
    assert page_name(1, "x\ud800y") == "000001-x_y.html"


def test_a_field_about_a_type_that_the_bundle_does_not_find_is_refused():
    fields = (FieldConfig(name="甲方", labels=("甲方", "甲芳")),)
    check_labels(fields, known=["甲方", "甲芳"], source="f.yaml")
    with pytest.raises(ConfigError, match="is about '甲芳', and the bundle finds 甲方"):
        check_labels(fields, known=["甲方"], source="f.yaml")
