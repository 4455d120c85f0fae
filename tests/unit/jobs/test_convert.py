"""Entities from one format to another and back, with nothing lost that the format has room for."""

import json

import pytest

from ernie_pp.errors import ConfigError, DataError, RunError
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


def _predicted(path, *rows):
    """Rows as `predict` writes them, (text, [(start, end, label, score, source)], other fields) each."""
    names = ("start", "end", "label", "score", "source")
    lines = []
    for text, entities, fields in rows:
        marked = [{**dict(zip(names, one, strict=True)), "text": text[one[0] : one[1]]} for one in entities]
        lines.append(json.dumps({**fields, "text": text, "entities": marked}, ensure_ascii=False) + "\n")
    path.write_text("".join(lines), encoding="utf-8")
    return path


def test_what_a_target_has_no_room_for_is_counted(tmp_path):
    found = [(0, 2, "人", 0.75, "model"), (2, 3, "动作", 1.0, "rule:verb")]
    source = _predicted(tmp_path / "own.jsonl", ("李四来了", found, {"id": 1, "year": 2020}), ("没有", [], {}))
    with open(source, "a", encoding="utf-8") as file:
        file.write(json.dumps({"text": "王五"}, ensure_ascii=False) + "\n")
    lost = {
        kind: [line.split(", which")[0] for line in summary.splitlines() if line.startswith("left behind: ")]
        for kind in ("entities", "label_studio", "doccano", "brat", "bio")
        for summary in [_convert(source, tmp_path / kind, kind)]
    }
    scores, sources = "left behind: scores of 2 predicted entities", "left behind: sources of 1 entity of rules"
    fields, unmarked = "left behind: other fields of 1 document", "left behind: that nothing is marked of 1 document"
    assert lost == {
        "entities": [],
        "label_studio": [sources],
        "doccano": [scores, sources, unmarked],
        "brat": [scores, sources, fields, unmarked],
        "bio": [scores, sources, fields, unmarked],
    }


def test_predictions_win_over_labels_that_their_rows_came_with(tmp_path):
    gold = {"label": {"人": {"王五": [[3, 4]]}}}
    source = _predicted(tmp_path / "own.jsonl", ("李四和王五", [(0, 2, "人", 0.75, "model")], gold))
    _convert(source, tmp_path / "tasks.json", "label_studio")
    (task,) = json.loads((tmp_path / "tasks.json").read_text(encoding="utf-8"))
    assert [one["value"]["text"] for one in task["predictions"][0]["result"]] == ["李四"]
    assert task["data"] == {**gold, "text": "李四和王五"}


@pytest.mark.parametrize("is_compact", [False, True])
def test_predictions_in_label_studio_come_back_as_predictions(tmp_path, is_compact):
    found = [("李四", [(0, 2, "人", 0.75, "model")], {}), ("王五", [(0, 2, "人", 0.5, "model")], {})]
    source = _predicted(tmp_path / "own.jsonl", *found)
    tasks = tmp_path / "tasks.json"
    _convert(source, tasks, "label_studio")
    if is_compact:  # every task in one line, as its export has them
        tasks.write_text(json.dumps(json.loads(tasks.read_text(encoding="utf-8"))), encoding="utf-8")
    _convert(tasks, tmp_path / "back.jsonl", "entities")
    assert (tmp_path / "back.jsonl").read_text(encoding="utf-8") == _reordered(source)
    _convert(tasks, tmp_path / "again.json", "label_studio")
    again = json.loads((tmp_path / "again.json").read_text(encoding="utf-8"))
    assert all("predictions" in task and "annotations" not in task for task in again)


def _reordered(path):
    """The rows with the fields of entities in the order in which `convert` writes them."""
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    names = ("start", "end", "label", "text", "score", "source")
    return "".join(
        json.dumps(
            {**row, "entities": [{name: one[name] for name in names} for one in row["entities"]]}, ensure_ascii=False
        )
        + "\n"
        for row in rows
    )


def test_annotations_of_label_studio_are_no_predictions(tmp_path):
    def results(start, end):
        return [{"value": {"start": start, "end": end, "labels": ["人"]}, "score": 0.5}]

    task = {
        "data": {"text": "李四王五"},
        "annotations": [{"result": results(0, 2)}],
        "predictions": [{"result": results(2, 4)}],
    }
    (tmp_path / "tasks.json").write_text(json.dumps([task]), encoding="utf-8")
    _convert(tmp_path / "tasks.json", tmp_path / "own.jsonl", "entities")
    (row,) = [json.loads(line) for line in (tmp_path / "own.jsonl").read_text(encoding="utf-8").splitlines()]
    assert row["entities"] == [{"start": 0, "end": 2, "label": "人", "text": "李四"}]


def test_scores_follow_entities_that_are_moved(tmp_path):
    text = "😀李四和王五"
    source = _predicted(tmp_path / "own.jsonl", (text, [(1, 3, "人", 0.25, "model"), (4, 6, "人", 0.5, "model")], {}))
    shifted = source.read_text(encoding="utf-8")
    for place in (6, 4, 3, 1):  # as UTF-16 counts
        shifted = shifted.replace(f": {place},", f": {place + 1},")
    source.write_text(shifted, encoding="utf-8")
    _convert(source, tmp_path / "back.jsonl", "entities", repair_offsets=True)
    (row,) = [json.loads(line) for line in (tmp_path / "back.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [(one["start"], one["text"], one["score"]) for one in row["entities"]] == [
        (1, "李四", 0.25),
        (4, "王五", 0.5),
    ]


@pytest.mark.parametrize("score", ["0.5", None, True, 1.5, -1])
def test_a_score_that_is_none_is_told_or_its_row_left_out(tmp_path, score):
    rows = [("王五", [(0, 2, "人", 0.5, "model")], {}), ("李四", [(0, 2, "人", score, "model")], {})]
    source = _predicted(tmp_path / "own.jsonl", *rows)
    with pytest.raises(DataError, match=r"line 2\n  score: found .*expected a number from 0 to 1"):
        _convert(source, tmp_path / "x.jsonl", "entities")
    summary = _convert(source, tmp_path / "x.jsonl", "entities", on_error="skip")
    assert summary.startswith("1 document, 1 entity: 人 1\n1 bad row left out, the first: ")


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


@pytest.mark.parametrize(
    "name, kind, target, source_format",
    [
        ("own.jsonl", "cluener", "own.jsonl", "auto"),
        ("own.jsonl", "cluener", "link.jsonl", "auto"),
        ("own.jsonl", "cluener", "hard.jsonl", "auto"),
        ("folder", "bio", "folder/1.txt", "auto"),
        ("folder", "bio", "folder/new.txt", "brat"),
        ("folder/1.ann", "bio", "folder/1.txt", "auto"),
        ("folder/1.txt", "bio", "folder/1.ann", "brat"),
    ],
)
def test_the_input_is_never_written_over(tmp_path, name, kind, target, source_format):
    source = _write(tmp_path / "own.jsonl", FLAT)
    (tmp_path / "link.jsonl").symlink_to(source)
    (tmp_path / "hard.jsonl").hardlink_to(source)
    _convert(_write(tmp_path / "other.jsonl", [{"text": "张三", "entities": []}]), tmp_path / "folder", "brat")
    before = source.read_bytes(), (tmp_path / "folder/1.txt").read_bytes()
    with pytest.raises(ConfigError, match="which is the input"):
        _convert(tmp_path / name, tmp_path / target, kind, source_format=source_format)
    assert (source.read_bytes(), (tmp_path / "folder/1.txt").read_bytes()) == before


@pytest.mark.parametrize(
    "target, kind, words, match",
    [
        ("x", "xml", {}, "--to\n  is 'xml', which is no format of entities\n  There are: entities, "),
        ("x", "auto", {}, "--to\n  is 'auto'"),
        ("x", "bio", {"source_format": "xml"}, "--from\n  is 'xml'.*\n  There are: auto, entities"),
        ("-", "bio", {}, "--output\n  is -"),
        ("taken", "brat", {}, "is a folder with files in it"),
        ("own.jsonl/x", "bio", {}, "cannot be written|which is the input"),
        ("none/x", "bio", {}, "there is no folder"),
    ],
)
def test_words_that_cannot_be_meant_are_told_before_anything_is_read(tmp_path, monkeypatch, target, kind, words, match):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "taken").mkdir()
    (tmp_path / "taken/file").touch()
    (tmp_path / "own.jsonl").write_text("no JSON")
    with pytest.raises((ConfigError, RunError), match=match):
        _convert("own.jsonl", target, kind, **words)


def test_advice_names_the_words_of_the_command(tmp_path):
    source = tmp_path / "own.jsonl"
    entity = {"start": 0, "end": 2, "label": "人", "text": "张三"}
    rows = [{"text": "从张三来了", "entities": [entity]}, {"content": "张三", "entities": []}]
    source.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    with pytest.raises(DataError) as told:
        _convert(source, tmp_path / "x.jsonl", "entities")
    assert all(word in str(told.value) for word in ("--repair-offsets", "--text", "--on-error skip"))
    assert not any(key in str(told.value) for key in ("ner.", "data."))
    summary = _convert(source, tmp_path / "x.jsonl", "entities", repair_offsets=True, on_error="skip")
    assert "moved to where their text is (--repair-offsets): 1" in summary


def test_wrong_places_are_told_or_moved(tmp_path):
    shifted = [{"text": "😀张三来了", "entities": [(2, 4, "人")]}]
    source = tmp_path / "own.jsonl"
    entity = {"start": 2, "end": 4, "label": "人", "text": "张三"}
    source.write_text(json.dumps({**shifted[0], "entities": [entity]}) + "\n", encoding="utf-8")
    with pytest.raises(DataError, match="UTF-16 units"):
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
