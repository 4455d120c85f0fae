"""The sample data of every recipe that classifies texts: balanced, honest, and as the config reads it.

The folder is walked, so a recipe added later is held to the same rules.
"""

import csv
import json
from collections import Counter
from pathlib import Path

import pytest

from ernie_pp.config import load_config
from ernie_pp.text.tokenizer import Tokenizer

CONFIGS = sorted((Path(__file__).resolve().parents[3] / "tasks").glob("*/config.yaml"))
SETS = [path.parent for path in CONFIGS if "task: cls\n" in path.read_text(encoding="utf-8")]
MOST_CHARACTERS = 120


def _rows(recipe, name):
    with open(recipe / "data" / f"{name}.tsv", encoding="utf-8", newline="") as file:
        header, *rows = csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
    assert header == ["label", "text_a"]
    assert all(len(row) == 2 for row in rows)
    return rows


def _pieces(text):
    return {text[i : i + 4] for i in range(len(text) - 3)}


@pytest.fixture(params=SETS, ids=lambda recipe: recipe.name)
def recipe(request):
    return request.param


@pytest.fixture
def splits(recipe):
    return {name: _rows(recipe, name) for name in ("train", "dev")}


def test_sentiment_is_among_the_recipes():
    assert "sentiment" in {recipe.name for recipe in SETS}


def test_split_sizes_and_balance(splits):
    assert len(splits["train"]) >= 350
    assert len(splits["dev"]) >= 80
    for rows in splits.values():
        counts = Counter(label for label, _ in rows)
        assert max(counts.values()) - min(counts.values()) <= 0.02 * len(rows)


def test_labels_are_those_of_the_config(recipe, splits):
    labels = set(load_config(recipe / "config.yaml").labels)
    for rows in splits.values():
        assert {label for label, _ in rows} == labels


def test_no_text_comes_twice(splits):
    texts = [text for rows in splits.values() for _, text in rows]
    assert [text for text, count in Counter(texts).items() if count > 1] == []


def test_no_dev_text_is_nearly_a_training_text(splits):
    train = [_pieces(text) for _, text in splits["train"]]
    for _, text in splits["dev"]:
        pieces = _pieces(text)
        closest = max(len(pieces & other) / max(len(pieces | other), 1) for other in train)
        assert closest < 0.3, text


def test_texts_are_clean_and_of_many_lengths(splits):
    for rows in splits.values():
        lengths = [len(text) for _, text in rows]
        assert all(text == text.strip() for _, text in rows)
        assert 8 <= min(lengths) < 12 and 60 < max(lengths) <= MOST_CHARACTERS
        # No class gives itself away by its length.
        means = {label: [len(text) for other, text in rows if other == label] for label, _ in rows}
        averages = [sum(values) / len(values) for values in means.values()]
        assert max(averages) < 1.25 * min(averages)


def test_both_classes_use_negation(splits):
    """A model that only counts 不 and 没 must not win."""
    for rows in splits.values():
        shares = Counter(label for label, text in rows if "不" in text or "没" in text)
        assert min(shares.values()) > 0.2 * len(rows) / len(shares)


def test_vocabulary_knows_nearly_every_token(recipe, splits):
    tokenizer = Tokenizer.from_vocab(load_config(recipe / "config.yaml").model.sizes.vocab)
    encoded = tokenizer.encode_rows([text for _, text in splits["dev"]], max_length=192, truncate="error")
    assert (encoded.ids == tokenizer.unk_id).mean() < 0.001


def test_unlabelled_rows_have_an_id_and_a_text(recipe, splits):
    lines = (recipe / "data" / "unlabelled.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    assert len({row["id"] for row in rows}) == len(rows) >= 8
    known = {text for split in splits.values() for _, text in split}
    # The field has the name of the training column, so predict needs no option.
    text = load_config(recipe / "config.yaml").data.text
    assert all(row[text] and row[text] not in known for row in rows)
