import pytest

from ernie_pp.data.faults import Faults
from ernie_pp.data.readers import ReadSettings, is_dataset, read_rows
from ernie_pp.errors import DataError

datasets = pytest.importorskip("datasets")


@pytest.fixture
def saved(tmp_path, monkeypatch):
    monkeypatch.setenv("HF_HOME", str(tmp_path / "home"))
    features = datasets.Features(
        {
            "text": datasets.Value("string"),
            "label": datasets.ClassLabel(names=["差评", "好评"]),
            "tags": datasets.Sequence(datasets.ClassLabel(names=["快", "慢"])),
        }
    )
    rows = {"text": ["NA", "很好"], "label": [-1, 1], "tags": [[], [1, 0]]}
    split = datasets.Dataset.from_dict(rows, features=features)
    split.save_to_disk(tmp_path / "one")
    datasets.DatasetDict({"train": split, "validation": split}).save_to_disk(tmp_path / "many")
    return tmp_path


def read(source, **settings):
    return list(read_rows(source, settings=ReadSettings(**settings), faults=Faults()))


@pytest.mark.parametrize("prefix", ["", "datasets:"])
@pytest.mark.parametrize("folder", ["one", "many"])
def test_a_saved_folder_gives_rows_with_labels_by_name(saved, prefix, folder):
    rows = read(f"{prefix}{saved / folder}", columns=("text", "label"))
    assert [dict(row.fields) for row in rows] == [
        {"text": "NA", "label": None, "tags": []},
        {"text": "很好", "label": "好评", "tags": ["慢", "快"]},
    ]
    assert str(rows[1].place).endswith("split train line 2")


def test_a_missing_split_or_column_is_named(saved):
    with pytest.raises(DataError, match=r'no split "valid"[\s\S]*"validation"'):
        read(saved / "many", split="valid")
    with pytest.raises(DataError, match=r'a column "lable"[\s\S]*"label"'):
        read(saved / "many", columns=("lable",))


def test_a_folder_of_plain_files_is_not_given_to_datasets(tmp_path):
    (tmp_path / "train.csv").write_text("text\nNA\n", encoding="utf-8")
    with pytest.raises(DataError, match="save_to_disk"):
        read(f"datasets:{tmp_path}")


def test_a_name_that_cannot_be_loaded_says_what_to_do_offline(tmp_path, monkeypatch):
    def fail(*_args, **_options):
        raise ConnectionError("no network")

    monkeypatch.setattr(datasets.load, "load_dataset", fail)
    with pytest.raises(DataError, match=r"no network[\s\S]*save_to_disk"):
        read("datasets:owner/name:subset")


def test_name_subset_and_split_reach_datasets(monkeypatch):
    asked = {}

    def load(name, subset, **options):
        asked.update(options, name=name, subset=subset)
        return datasets.Dataset.from_dict({"text": ["好"]})

    monkeypatch.setattr(datasets.load, "load_dataset", load)
    assert len(read("datasets:clue:tnews", split="validation")) == 1
    assert asked == {"name": "clue", "subset": "tnews", "split": "validation", "trust_remote_code": False}


def test_a_data_set_that_is_a_program_is_not_run_and_says_what_to_do(tmp_path, monkeypatch):
    monkeypatch.setenv("HF_DATASETS_TRUST_REMOTE_CODE", "1")
    (tmp_path / "rows").mkdir()
    mark = tmp_path / "mark"
    (tmp_path / "rows" / "rows.py").write_text(f"open({str(mark)!r}, 'w')", encoding="utf-8")
    load = datasets.load.load_dataset
    monkeypatch.setattr(
        datasets.load, "load_dataset", lambda _, *rest, **options: load(str(tmp_path / "rows"), **options)
    )
    with pytest.raises(DataError, match=r"a program of its author[\s\S]*save_to_disk"):
        read("datasets:owner/rows")
    assert not mark.exists()


def test_a_loader_that_another_library_put_in_place_is_not_used(saved, monkeypatch):
    def runs_code(*_args, **_options):
        raise AssertionError("PaddleNLP's own, which trusts all code")

    monkeypatch.setattr(datasets, "load_dataset", runs_code)
    monkeypatch.setattr(datasets.load, "load_dataset", lambda *_, **__: datasets.Dataset.from_dict({"text": ["好"]}))
    assert len(read("datasets:owner/name")) == 1


def test_a_saved_folder_is_known_as_a_dataset(saved):
    assert is_dataset(saved / "one", settings=ReadSettings())
    assert not is_dataset(saved, settings=ReadSettings())
