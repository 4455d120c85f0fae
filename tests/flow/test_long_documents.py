"""Entities of texts far longer than the model: what each window finds alone is what the whole text gets."""

import random
import tracemalloc

import entity_run
import pytest
import sample_run

from ernie_pp.serving import Predictor
from ernie_pp.text.merging import judging_window

HEADS = ({"head": "crf"}, {"head": "global_pointer", "pointer_size": 16})


@pytest.fixture(scope="module", params=HEADS, ids=lambda ner: ner["head"])
def predictor(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("long")
    short = {"train": {"epochs": 12, "batch_size": 12, "learning_rate": 5e-3}}
    sample_run.train_here(entity_run.write_entities(folder, short, **request.param))
    return Predictor(folder / "run" / "bundle", threads=1)


def _long_text(num_characters):
    rng, text = random.Random(3), ""
    while len(text) < num_characters:
        text += str(entity_run.document(rng, num_sentences=7, nested=True)["text"]) + "\n"
    return text


def _windows(predictor, text):
    rows = predictor.encode([text])
    bounds = zip(rows.row_starts[:-1], rows.row_starts[1:], strict=True)
    return [(int(rows.offsets[start + 1, 0]), int(rows.offsets[end - 2, 1])) for start, end in bounds]


def test_a_long_text_gets_what_its_windows_get_one_by_one(predictor):
    text = _long_text(30_000)
    windows = _windows(predictor, text)
    begins, ends = [begin for begin, _ in windows], [end for _, end in windows]
    expected = set()
    for number, (begin, end) in enumerate(windows):
        for one in predictor([text[begin:end]])[0].mentions:
            span = (begin + one.start, begin + one.end)
            if judging_window(span, begins, ends) == number:
                expected.add((*span, one.label))
    found = {(one.start, one.end, one.label) for one in predictor([text])[0].mentions}
    assert len(windows) > 500 and len(found) > 1000
    # Where entities may not overlap, one of two that different windows see at one place is left out.
    assert found <= expected and len(expected - found) <= 0.01 * len(expected)


def test_what_is_held_grows_with_the_entities_only(predictor):
    peaks = []
    for size in (4_000, 16_000):
        text = _long_text(size)
        tracemalloc.start()
        predictor([text])
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    # Tokens, offsets and entities of a character take some hundred bytes; the model's output for it far more.
    assert peaks[1] - peaks[0] < 600 * 12_000
