"""Entities from one format to another and back, with nothing lost that the format has room for."""

import json

import pytest

from ernie_pp.errors import ConfigError, DataError
from ernie_pp.jobs.convert import ConvertOptions, convert_file

# An emoji and a rare character outside the basic plane, nested and touching entities.
ROWS = [
    {"id": 1, "text": "😀张三在𠮷林市工作。", "entities": [(1, 3, "人"), (4, 7, "地点"), (4, 6, "地点")]},
    {"id": 2, "text": "李四王五来了", "entities": [(0, 2, "人"), (2, 4, "人")]},
    {"id": 3, "text": "没有人", "entities": []},
]
FLAT = [{**row, "entities": [one for one in row["entities"] if one != (4, 6, "地点")]} for row in ROWS]
NESTED = ("entities", "cluener", "cail", "doccano", "label_studio", "brat")
TOKENS = ("bio", "bioes", "bmes")


def _write(path, rows):
    lines = []
    for row in rows:
        entities = [{"start": s, "end": e, "label": label, "text": row["text"][s:e]} for s, e, label in row["entities"]]
        lines.append(json.dumps({**row, "entities": entities}, ensure_ascii=False) + "\n")
    path.write_text("".join(lines), encoding="utf-8")
    return path


def _convert(source, target, kind, **words):
    return convert_file(ConvertOptions(str(source), str(target), kind, **words))


def _read(path):
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return [(row["text"], sorted((e["start"], e["end"], e["label"]) for e in row["entities"])) for row in rows]


@pytest.mark.parametrize("kind", [*NESTED, *TOKENS])
@pytest.mark.parametrize("source_format", ["auto", "named"])
def test_what_goes_out_comes_back(tmp_path, kind, source_format):
    rows = ROWS if kind in NESTED else FLAT
    source = _write(tmp_path / "own.jsonl", rows)
    summary = _convert(source, tmp_path / "other", kind)
    assert summary.startswith(f"3 documents, {sum(len(row['entities']) for row in rows)} entities: 人 3")
    named = {"source_format": kind} if source_format == "named" else {}
    _convert(tmp_path / "other", tmp_path / "back.jsonl", "entities", **named)
    assert _read(tmp_path / "back.jsonl") == [(row["text"], sorted(row["entities"])) for row in rows]


def test_each_format_is_what_its_tool_takes(tmp_path):
    source = _write(tmp_path / "own.jsonl", ROWS[:1])
    written = {}
    for kind in NESTED[1:5]:
        _convert(source, tmp_path / kind, kind)
        written[kind] = json.loads((tmp_path / kind).read_text(encoding="utf-8"))
    assert written["cluener"]["label"] == {"人": {"张三": [[1, 2]]}, "地点": {"𠮷林": [[4, 5]], "𠮷林市": [[4, 6]]}}
    assert written["cail"]["entities"] == [{"label": "人", "span": ["1;3"]}, {"label": "地点", "span": ["4;6", "4;7"]}]
    assert written["doccano"] == {
        "id": 1,
        "text": ROWS[0]["text"],
        "label": [[1, 3, "人"], [4, 6, "地点"], [4, 7, "地点"]],
    }
    (result, *_) = written["label_studio"][0]["annotations"][0]["result"]
    assert result["value"] == {"start": 1, "end": 3, "text": "张三", "labels": ["人"]}
    assert (result["from_name"], result["to_name"], result["type"]) == ("label", "text", "labels")


def test_tags_are_those_of_the_scheme(tmp_path):
    source = _write(tmp_path / "own.jsonl", FLAT[1:2])
    tags = {}
    for kind in TOKENS:
        _convert(source, tmp_path / kind, kind)
        lines = (tmp_path / kind).read_text(encoding="utf-8").splitlines()
        tags[kind] = [line.split(" ")[1] for line in lines if line]
    assert tags["bio"] == ["B-人", "I-人", "B-人", "I-人", "O", "O"]
    assert tags["bioes"] == tags["bmes"] == ["B-人", "E-人", "B-人", "E-人", "O", "O"]


def test_predictions_become_pre_annotations_with_their_scores(tmp_path):
    entity = {"start": 0, "end": 2, "label": "人", "text": "李四", "score": 0.75, "source": "model"}
    row = {"text": "李四来了", "entities": [entity], "true_entities": []}
    source = tmp_path / "predicted.jsonl"
    source.write_text(json.dumps(row, ensure_ascii=False) + "\n", encoding="utf-8")
    _convert(source, tmp_path / "tasks.json", "label_studio")
    (task,) = json.loads((tmp_path / "tasks.json").read_text(encoding="utf-8"))
    assert "annotations" not in task and task["predictions"][0]["result"][0]["score"] == 0.75
    summary = _convert(source, tmp_path / "doccano.jsonl", "doccano")
    assert "left behind: scores and sources of 1 entities, which doccano has no room for" in summary


@pytest.mark.parametrize(
    "rows, match",
    [
        (ROWS, "own.jsonl line 1\n  has entities that overlap"),
        ([{"text": "张 三", "entities": []}], r"holds U\+0020"),
        ([{"text": "张\n三", "entities": []}], r"holds U\+000A"),
    ],
)
def test_what_tags_cannot_hold_is_told_and_nothing_is_written(tmp_path, rows, match):
    source = _write(tmp_path / "own.jsonl", rows)
    with pytest.raises(DataError, match=match):
        _convert(source, tmp_path / "tags.txt", "bio")
    assert not (tmp_path / "tags.txt").exists()


def test_the_input_is_never_written_over(tmp_path):
    source = _write(tmp_path / "own.jsonl", ROWS)
    with pytest.raises(ConfigError, match="which is the input"):
        _convert(source, source, "cluener")


def test_wrong_places_are_told_or_moved(tmp_path):
    shifted = [{"text": "😀张三来了", "entities": [(2, 4, "人")]}]
    source = tmp_path / "own.jsonl"
    entity = {"start": 2, "end": 4, "label": "人", "text": "张三"}
    source.write_text(json.dumps({**shifted[0], "entities": [entity]}) + "\n", encoding="utf-8")
    with pytest.raises(DataError, match="counted from 1"):
        _convert(source, tmp_path / "x.jsonl", "entities")
    summary = _convert(source, tmp_path / "x.jsonl", "entities", repair_offsets=True)
    assert _read(tmp_path / "x.jsonl") == [("😀张三来了", [(1, 3, "人")])]
    assert "moved to where their text is" in summary


def test_a_brat_folder_has_safe_names_of_its_own(tmp_path):
    rows = [{**ROWS[2], "id": name} for name in ("../up", "../up", "a/b", "好")]
    _convert(_write(tmp_path / "own.jsonl", rows), tmp_path / "brat", "brat")
    names = sorted(path.name for path in (tmp_path / "brat").iterdir())
    assert len(names) == 8 and all("/" not in name and not name.startswith(".") for name in names)
    assert [path.name for path in tmp_path.iterdir() if path.name not in ("brat", "own.jsonl")] == []
