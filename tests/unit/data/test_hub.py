import pytest

from ernie_pp.data.faults import Faults
from ernie_pp.data.readers import ReadSettings, dataset_fingerprint, is_dataset, read_rows
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

    monkeypatch.setattr(datasets, "load_dataset", fail)
    with pytest.raises(DataError, match=r"no network[\s\S]*save_to_disk"):
        read("datasets:owner/name:subset")


def test_name_subset_and_split_reach_datasets(monkeypatch):
    asked = {}

    def load(name, subset, *, split):
        asked.update(name=name, subset=subset, split=split)
        return datasets.Dataset.from_dict({"text": ["好"]})

    monkeypatch.setattr(datasets, "load_dataset", load)
    assert len(read("datasets:clue:tnews", split="validation")) == 1
    assert asked == {"name": "clue", "subset": "tnews", "split": "validation"}


def test_the_fingerprint_follows_the_content(saved):
    before = dataset_fingerprint(str(saved / "many"), split="train")
    other = datasets.Dataset.from_dict({"text": ["别的"]})
    other.save_to_disk(saved / "other")
    assert is_dataset(saved / "other", settings=ReadSettings())
    assert dataset_fingerprint(str(saved / "other"), split="train") != before
