"""The contracts of the recipe: every entity, every field and what the normalisers make of them."""

import json
import re
from decimal import Decimal
from pathlib import Path

import pytest
import regex

from ernie_pp.config import load_config
from ernie_pp.data.entities.document import Mention
from ernie_pp.review.amounts import parse_amount
from ernie_pp.review.dates import parse_dates
from ernie_pp.review.evaluate import compare_field, read_gold
from ernie_pp.review.fields import fill_fields

RECIPE = Path(__file__).resolve().parents[3] / "tasks" / "contract_review"
CONFIG = load_config(RECIPE / "config.yaml")
ROWS = {
    row["id"]: row
    for name in ("train", "dev")
    for row in map(json.loads, (RECIPE / "data" / f"{name}.jsonl").read_text(encoding="utf-8").splitlines())
}
# What a reader of the contract would write down.
TOTALS = {
    "lease-01": "658600",
    "lease-03": "3240000",
    "purchase-02": "4315000",
    "purchase-06": "126000000",
    "works-01": "214875300",
    "works-02": "5086000",
    "loan-02": "200000",
    "loan-05": "150000000",
}


def texts_of(row, label):
    return [row["text"][one["start"] : one["end"]] for one in row["entities"] if one["label"] == label]


@pytest.mark.parametrize("name", ROWS)
def test_entities_are_of_the_recipes_labels_whole_and_without_blanks_at_their_ends(name):
    text, entities = ROWS[name]["text"], ROWS[name]["entities"]
    places = [(one["start"], one["end"], one["label"]) for one in entities]
    assert places == sorted(set(places))
    for start, end, label in places:
        assert 0 <= start < end <= len(text)
        assert label in CONFIG.labels
        assert text[start:end] == text[start:end].strip() and text[end - 1] not in "，。；：（"


@pytest.mark.parametrize("name", ROWS)
def test_no_two_entities_cross(name):
    places = [(one["start"], one["end"]) for one in ROWS[name]["entities"]]
    crossing = [(a, b) for a in places for b in places if a[0] < b[0] < a[1] < b[1]]
    assert crossing == []


@pytest.mark.parametrize("name", ROWS)
def test_amounts_and_dates_can_be_read(name):
    row = ROWS[name]
    unread = [text for label in ("金额", "合同金额") for text in texts_of(row, label) if parse_amount(text) is None]
    unread += [text for label in ("日期", "签订日期") for text in texts_of(row, label) if len(parse_dates(text)) != 1]
    assert unread == []
    # In words and in figures the total is the same.
    assert len({str(parse_amount(text)) for text in texts_of(row, "合同金额")}) <= 1


@pytest.mark.parametrize("name", ROWS)
def test_the_rules_find_what_is_marked_and_nothing_else(name):
    text = ROWS[name]["text"]
    found = {}
    for rule in CONFIG.ner.rules:
        for match in regex.finditer(rule.pattern, text):
            found.setdefault(rule.label, set()).add(match[1 if match.re.groups else 0])
    for label in ("金额", "日期", "证件号"):
        assert found.get(label, set()) == set(texts_of(ROWS[name], label))


@pytest.mark.parametrize("name", ROWS)
def test_true_fields_are_those_the_true_entities_fill(name):
    row = ROWS[name]
    mentions = [Mention(one["start"], one["end"], one["label"]) for one in row["entities"]]
    fields = fill_fields(row["text"], mentions, CONFIG.review.fields)
    for field, config in zip(fields, CONFIG.review.fields, strict=True):
        gold = read_gold(row["fields"].get(field.name), where=name)
        assert all(one in row["text"] for one in gold)
        outcome = compare_field(field, gold, config)
        assert (outcome.extra, outcome.lost) == ((), ()), field.name
    assert row["fields"].keys() <= {config.name for config in CONFIG.review.fields}


@pytest.mark.parametrize("name", TOTALS)
def test_the_total_is_the_amount_a_reader_would_write_down(name):
    amount = parse_amount(ROWS[name]["fields"]["合同金额"])
    assert amount is not None and (amount.value, amount.currency) == (Decimal(TOTALS[name]), "CNY")


def test_the_samples_are_as_varied_as_contracts_are():
    totals = [row["fields"].get("合同金额", "") for row in ROWS.values()]
    marked = [text for row in ROWS.values() for text in texts_of(row, "合同金额")]
    assert len(ROWS) == 30 and len({row["text"] for row in ROWS.values()}) == 30
    assert sum(bool(re.search("[壹贰叁肆伍陆柒捌玖]", text)) for text in marked) >= 2
    assert any(re.search("[０-９]", text) for text in totals)
    assert sum(len(set(texts_of(row, "金额"))) > 2 for row in ROWS.values() if "合同金额" in row["fields"]) >= 10
    assert "USD" in {amount.currency for amount in map(parse_amount, totals) if amount is not None}
    assert all(300 <= len(row["text"]) <= 2500 for row in ROWS.values())
    assert {name.split("-")[0] for name in ROWS} == {"lease", "labour", "purchase", "works", "loan"}


def test_the_label_guide_explains_every_label():
    guide = (RECIPE / "annotation.md").read_text(encoding="utf-8")
    cells = re.findall(r"^\| ([^|]+) \|", guide, flags=re.MULTILINE)
    assert set(CONFIG.labels) <= {name for cell in cells for name in cell.split(" / ")}
    assert set(re.findall(r'<Label value="([^"]+)"/>', guide)) == set(CONFIG.labels)
