"""The true answers of public sets through windows, targets and decoding come back as they were."""

from collections import Counter
from dataclasses import dataclass

import numpy as np
import pytest

from ernie_pp.data.batches import order_for_evaluation
from ernie_pp.data.faults import Faults
from ernie_pp.data.questions.reading import question_findings, read_questions
from ernie_pp.data.readers import ReadSettings, read_rows
from ernie_pp.data.token_rows import TokenRows
from ernie_pp.tasks.docqa import features
from ernie_pp.tasks.docqa.decode import condense, decode
from ernie_pp.tasks.docqa.settings import ALL_KINDS, DecodeSettings
from ernie_pp.text.tokenizer import Tokenizer

TEXT = {"max_length": 512, "overlap": 128}


@dataclass(frozen=True)
class PublicSet:
    """What a file holds, and which of its answers come back longer: they begin or end inside a token (80 in 80%被)."""

    file: str
    kinds: dict
    longer: dict
    empty_windows: int | None = None


SETS = [
    PublicSet(
        "cmrc2018/squad-style-data__cmrc2018_trial.json",
        {"span": 1000},
        {"TRIAL_749_QUERY_0": "JAXR"},
    ),
    PublicSet("drcd/DRCD_dev.json", {"span": 3524}, {"1180-23-1": "80", "1194-6-3": "81"}),
    PublicSet("drcd_long/dev.json", {"span": 3524}, {"1180-23-1": "80", "1194-6-3": "81"}, empty_windows=3),
    PublicSet(
        "cail2019_mrc/dev_ground_truth.json",
        {"span": 4135, "none": 1189, "yes": 457, "no": 219},
        {
            "85_3": "女儿徐x820",
            "119_3": "2013年",
            "143_4": "2008年",
            "329_1": "6.1320",
            "336_1": "12010年",
            "342_1": "2009年9月",
            "483_1": "60151920",
            "485_5": "1997",
            "985_4": "X10%",
        },
    ),
]


def _read(path):
    faults, findings = Faults(on_error="skip"), question_findings()
    rows = read_rows(path, settings=ReadSettings(kind="questions"), faults=faults)
    return read_questions(rows, contradictions="answers", faults=faults, findings=findings)


def _perfect_answers(rows, targets, settings):
    """What a head that has learned all targets is condensed to."""
    answers = [None] * len(rows)
    for batch in order_for_evaluation(rows.lengths, max_tokens=16_384):
        part = rows.select(batch)
        logits = np.zeros((len(batch), int(part.lengths.max()), settings.num_outputs), np.float32)
        for row, (first, last) in enumerate(targets[batch].tolist()):
            if first < 0:
                logits[row, 0, 1 - first] = 20.0
            else:
                logits[row, first, 0] = logits[row, last, 1] = 20.0
        for row, answer in zip(batch, condense(logits, part, settings), strict=True):
            answers[row] = answer
    return answers


def _longest(questions):
    return max(one.end - one.start for question in questions for one in question.answers if one.start is not None)


def _true_place(question):
    return Counter((one.start, one.end) for one in question.answers if one.start is not None).most_common(1)[0][0]


@pytest.mark.parametrize("public", SETS, ids=lambda one: one.file.split("/")[0])
def test_the_answers_of_public_sets_come_back_at_their_places(shared_data, tiny_ernie, public):
    questions, tokenizer = _read(shared_data / public.file), Tokenizer.from_vocab(tiny_ernie / "vocab.txt")
    assert Counter(one.kind for one in questions) == public.kinds
    encoded = features.encode_for_training(questions, tokenizer, TEXT, empty_windows=public.empty_windows)
    rows, settings = TokenRows.from_encoded(encoded), DecodeSettings(ALL_KINDS, _longest(questions), 5, 0.5)
    assert features.inexpressible(rows, questions) == []
    answers = _perfect_answers(rows, features.answer_targets(rows, questions), settings)
    found = decode(answers, rows, [one.document.text for one in questions], settings)
    assert [one.kind for one in found] == [one.kind for one in questions]
    longer = {}
    for question, prediction in zip(questions, found, strict=True):
        if question.kind != "span":
            continue
        start, end = _true_place(question)
        if (prediction.answer.start, prediction.answer.end) == (start, end):
            assert prediction.given == question.document.text[start:end]
        else:
            assert prediction.answer.start <= start and end <= prediction.answer.end
            longer[question.id] = prediction.given
    assert longer.keys() == public.longer.keys()
    assert all(part in longer[name] for name, part in public.longer.items())


# (file, places of the answers): longer than what neighbouring windows share, and cut by a border.
CUT = [
    ("cmrc2018/squad-style-data__cmrc2018_trial.json", [(53, 488), (332, 515)]),
    ("cail2019_mrc/dev_ground_truth.json", [(160, 515)]),
]


@pytest.mark.parametrize("file, places", CUT, ids=lambda one: str(one).split("/")[0])
def test_windows_that_know_no_answers_cut_few_of_them(shared_data, tiny_ernie, file, places):
    questions, tokenizer = _read(shared_data / file), Tokenizer.from_vocab(tiny_ernie / "vocab.txt")
    texts, documents = [one.text for one in questions], [one.document.text for one in questions]
    rows = TokenRows.from_encoded(features.encode(texts, documents, tokenizer, TEXT))
    assert [_true_place(one) for one in features.inexpressible(rows, questions)] == places
