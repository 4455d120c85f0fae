"""Gold entities through tokens, windows, targets and decoding come back as they were."""

from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ernie_pp.data.batches import order_for_evaluation
from ernie_pp.data.entities.document import Document, Entity
from ernie_pp.data.entities.findings import entity_findings
from ernie_pp.data.entities.reading import EntityOptions, read_documents
from ernie_pp.data.faults import Faults
from ernie_pp.data.readers import ReadSettings, read_rows
from ernie_pp.data.rows import Place
from ernie_pp.data.token_rows import TokenRows
from ernie_pp.tasks.ner import features
from ernie_pp.tasks.ner.decode import DecodeSettings, decode
from ernie_pp.tasks.ner.example import find_overlaps, without
from ernie_pp.tasks.ner.spans import row_spans
from ernie_pp.text.new_vocabulary import build_vocabulary
from ernie_pp.text.portable import build_portable
from ernie_pp.text.tokenizer import Tokenizer

TEXT = "甲乙丙丁戊，己。庚辛\n壬癸"
FILES = {
    "cluener2020": ("train.json",),
    "msra_ner": ("train_8000.txt", "dev_1500.txt"),
    "resume_ner": ("train.char.bmes", "dev.char.bmes"),
    "weibo_ner": ("weiboNER_2nd_conll.train", "weiboNER_2nd_conll.dev"),
    "cail2021_ie": ("xxcq_small.json",),
    "fddc_contracts": ("train.jsonl", "dev.jsonl"),
}
# Entities that begin or end inside a token of the vocabulary, as "GSL" does in "GSLA": no head can express them.
INSIDE_TOKENS = {"cluener2020": 12, "weibo_ner": 1}


def _encode(documents, tokenizer, *, max_length, overlap):
    keep = [[(e.start, e.end) for e in one.entities] for one in documents]
    limits = {"max_length": max_length, "overlap": overlap}
    return TokenRows.from_encoded(features.encode([d.text for d in documents], None, tokenizer, limits, keep))


def _by_tags(documents, rows, settings):
    """What a perfect token head's emissions give."""
    targets = features.tag_targets(rows, documents, settings.tags)
    answers = [None] * len(rows)
    for batch in order_for_evaluation(rows.lengths, max_tokens=16_384):
        tags = targets[batch].padded()
        emissions = np.eye(settings.num_outputs)[np.maximum(tags, 0)] * 20.0
        for row, answer in zip(batch, settings.tags.decode(emissions, rows.lengths[batch], None), strict=True):
            answers[row] = answer
    return answers


def _by_spans(documents, rows, settings):
    """What a perfect span head finds."""
    targets = features.span_targets(rows, documents, settings.labels)
    parts = (targets.values[start:end] for start, end in zip(targets.starts, targets.starts[1:], strict=False))
    return [row_spans([(first, last, kind, 0.9) for kind, first, last in part.tolist()]) for part in parts]


def _come_back(documents, tokenizer, *, head, scheme="bio", max_length=64, overlap=16):
    labels = tuple(sorted({e.label for one in documents for e in one.entities})) or ("甲",)
    is_pointer = head == "global_pointer"
    thresholds = (0.5,) * len(labels) if is_pointer else ()
    settings = DecodeSettings(labels, head, scheme, thresholds, is_nested=is_pointer)
    rows = _encode(documents, tokenizer, max_length=max_length, overlap=overlap)
    answers = (_by_spans if is_pointer else _by_tags)(documents, rows, settings)
    found = decode(answers, rows, [one.text for one in documents], settings)
    lost = {(id(document), entity) for document, entity in features.inexpressible(rows, documents)}
    return found, lost


def _flat(document):
    return without(document, find_overlaps(document))


@st.composite
def random_documents(draw):
    text = "".join(draw(st.lists(st.sampled_from(TEXT), min_size=1, max_size=120))) + "终"
    spans = draw(
        st.lists(st.tuples(st.integers(0, len(text) - 1), st.integers(1, 14), st.sampled_from("AB")), max_size=12)
    )
    entities = {Entity(start, min(start + length, len(text)), label) for start, length, label in spans}
    # A token has no blank: what begins or ends with one cannot come back.
    kept = {e for e in entities if text[e.start : e.end].strip() == text[e.start : e.end] != ""}
    return Document(Place("x", 1), text, tuple(sorted(kept)))


@pytest.fixture(scope="module")
def small_tokenizer():
    return Tokenizer(build_portable(build_vocabulary([TEXT + "终"], min_count=1, table="none")))


@settings(max_examples=120, deadline=None)
@given(document=random_documents(), overlap=st.integers(0, 10))
def test_any_entities_come_back_from_overlapping_windows(small_tokenizer, document, overlap):
    for head, one in (("global_pointer", document), ("crf", _flat(document))):
        for scheme in ("bio", "bioes"):
            found, lost = _come_back([one], small_tokenizer, head=head, scheme=scheme, max_length=18, overlap=overlap)
            assert not lost
            assert {(m.start, m.end, m.label) for m in found[0].mentions} == {
                (e.start, e.end, e.label) for e in one.entities
            }


CASES = [(name, "crf", "bioes" if name in ("weibo_ner", "resume_ner") else "bio") for name in FILES]
CASES += [(name, "global_pointer", "bio") for name in FILES]


@pytest.mark.parametrize("name, head, scheme", CASES)
def test_the_entities_of_public_sets_come_back(shared_data, tiny_ernie, name, head, scheme):
    tokenizer = Tokenizer.from_vocab(tiny_ernie / "vocab.txt")
    num_inside = 0
    for file in FILES[name]:
        documents = _documents(shared_data / name / file)
        gold = documents if head == "global_pointer" else [_flat(one) for one in documents]
        found, lost = _come_back(gold, tokenizer, head=head, scheme=scheme, max_length=128)
        for document, prediction in zip(gold, found, strict=True):
            kept = [e for e in document.entities if (id(document), e) not in lost]
            places = [(m.start, m.end, m.label) for m in prediction.mentions]
            assert places == [(e.start, e.end, e.label) for e in kept], document.place
        num_inside += len(lost)
    assert num_inside == INSIDE_TOKENS.get(name, 0)


def _documents(path):
    faults = Faults()
    rows = read_rows(path, settings=ReadSettings(kind="entities"), faults=faults)
    read = partial(read_documents, options=EntityOptions(), faults=faults, findings=entity_findings())
    return read(rows)
