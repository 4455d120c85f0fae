"""Windows as rows of tokens."""

import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ernie_pp.text.window_rows import encode_windows, tokens_of_span

TEXTS = st.lists(st.text(alphabet="合同甲乙，。；\n ”😀a1", max_size=90), max_size=5)


def _rows(rows):
    return [(one.ids.tolist(), one.offsets.tolist()) for one in rows.encodings()]


@settings(deadline=None)
@given(texts=TEXTS, max_length=st.integers(4, 40), overlap=st.integers(0, 20))
def test_every_token_of_every_text_stands_in_windows_of_its_own(tokenizer, texts, max_length, overlap):
    rows = encode_windows(texts, tokenizer, max_length=max_length, overlap=overlap)
    whole = tokenizer.encode_rows(texts, max_length=1 << 20, truncate="error", offsets=True)
    seen = [{} for _ in texts]
    owners = np.asarray(rows.text_index)
    for owner, (ids, offsets) in zip(owners.tolist(), _rows(rows), strict=True):
        assert len(ids) <= max_length
        assert (ids[0], ids[-1]) == (tokenizer.cls_id, tokenizer.sep_id)
        assert offsets[0] == offsets[-1] == [-1, -1]
        seen[owner].update(((start, end), token) for token, (start, end) in zip(ids[1:-1], offsets[1:-1], strict=True))
    for found, (ids, offsets) in zip(seen, _rows(whole), strict=True):
        assert found == {tuple(place): token for token, place in zip(ids[1:-1], offsets[1:-1], strict=True)}
    assert sorted(set(owners.tolist())) == list(range(len(texts)))
    assert (np.diff(owners) >= 0).all()


def test_a_text_that_fits_is_the_row_the_tokenizer_gives(tokenizer):
    texts = ["甲方与乙方", "", "iphone 合同"]
    rows = encode_windows(texts, tokenizer, max_length=20, overlap=4)
    whole = tokenizer.encode_rows(texts, max_length=20, truncate="error", offsets=True)
    assert _rows(rows) == _rows(whole)
    assert np.asarray(rows.text_index).tolist() == [0, 1, 2] and rows.num_cut.tolist() == [0, 0, 0]


def test_the_limit_counts_both_special_tokens(tokenizer):
    assert len(encode_windows(["甲" * 8], tokenizer, max_length=10, overlap=2)) == 1
    assert len(encode_windows(["甲" * 9], tokenizer, max_length=10, overlap=2)) == 2


def test_a_kept_span_of_characters_stands_whole_in_a_window(tokenizer):
    text = "甲 " * 40  # a blank behind each token: characters are no tokens
    for start in range(0, 78, 2):
        rows = encode_windows([text], tokenizer, max_length=12, overlap=0, keep=[[(start, min(start + 19, 79))]])
        windows = [offsets[1:-1] for _, offsets in _rows(rows)]
        assert any(one[0][0] <= start and min(start + 19, 79) <= one[-1][1] for one in windows), start


def test_no_texts_are_no_rows(tokenizer):
    rows = encode_windows([], tokenizer, max_length=10, overlap=2)
    assert len(rows) == 0 and rows.row_starts.tolist() == [0]


@pytest.mark.parametrize(
    "span, tokens",
    [((0, 2), (0, 1)), ((1, 2), (0, 1)), ((2, 3), (1, 1)), ((1, 5), (0, 2)), ((3, 9), (1, 3)), ((8, 9), (3, 3))],
)
def test_a_span_touches_the_tokens_it_shares_characters_with(span, tokens):
    assert tokens_of_span(np.array([0, 3, 6]), np.array([2, 6, 8]), span) == tokens


def test_a_long_text_with_tens_of_thousands_of_kept_spans_takes_seconds(tokenizer):
    text = "甲方乙方合同，甲乙丙丁。" * 30_000
    keep = [[(place, place + 2) for place in range(0, len(text) - 2, 6)]]
    start = time.process_time()
    assert len(encode_windows([text], tokenizer, max_length=256, overlap=64, keep=keep)) > 1000
    assert time.process_time() - start < 8  # each look-up once copied all places: minutes
