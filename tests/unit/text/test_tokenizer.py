import subprocess
import sys
import unicodedata
from concurrent.futures import ThreadPoolExecutor
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ernie_pp.errors import DataError, ModelError
from ernie_pp.text import Normalization, Tokenizer, normalize

# Known and unknown ideographs, letters of three widths, emoji and joiners, marks, controls, blanks, line breaks.
ODD = (
    "中国鑫龘𠮷aBÉ12Ａｂ１，。！$￥㎡℃😀👨👧\u200d\ufe0f\u0301\u0308\u0307İſ≠ﬁ[MASK]"
    "\u00ad\ufeff\u202e\x00\x1f \t\n\r\u3000\u2028\xa0"
)
TEXTS = st.text(st.one_of(st.sampled_from(ODD), st.characters(exclude_categories=("Cs",))), max_size=40)
NORMALIZATIONS = [Normalization(*switches) for switches in product((False, True), repeat=4)]


@pytest.fixture(scope="module")
def tokens(tokenizer):
    return tokenizer.tokens()


@pytest.fixture(scope="module")
def tokenizers_by_normalization(vocab_path):
    return {one: Tokenizer.from_vocab(vocab_path, normalization=one) for one in NORMALIZATIONS}


def _encode(tokenizer, text, **changes):
    return tokenizer.encode([text], **({"max_length": 10_000, "truncate": "error"} | changes))[0]


def _spans(tokenizer, text):
    return [text[start:end] for start, end in _encode(tokenizer, text).offsets[1:-1].tolist()]


def _is_blank(char):
    return char in " \t\n\r" or unicodedata.category(char)[0] == "Z"


def _is_dropped(char):
    return char == "\ufffd" or (unicodedata.category(char)[0] == "C" and not _is_blank(char))


def _normal(span):
    """The span in the vocabulary's spelling: lower case, no marks, nothing invisible."""
    kept = "".join(char for char in span if not _is_dropped(char))
    decomposed = unicodedata.normalize("NFD", "".join(char.lower() for char in kept))
    return "".join(char for char in decomposed if unicodedata.category(char) != "Mn")


def _is_syllable(char):
    """Whether the character is taken apart into several that are no marks."""
    return len(_normal(char)) > 1


@settings(max_examples=400, deadline=None)
@given(TEXTS)
def test_each_offset_pair_names_the_characters_of_its_piece(tokenizer, tokens, text):
    encoding = _encode(tokenizer, text)
    for index, (start, end) in zip(encoding.ids[1:-1].tolist(), encoding.offsets[1:-1].tolist(), strict=True):
        span = text[start:end]
        assert 0 <= start < end <= len(text)
        if index != tokenizer.unk_id and not any(map(_is_syllable, span)):
            assert tokens[index].removeprefix("##" if len(tokens[index]) > 2 else "") == _normal(span)


@settings(max_examples=400, deadline=None)
@given(TEXTS)
def test_pieces_are_in_order_and_lose_no_character(tokenizer, text):
    spans = _encode(tokenizer, text).offsets[1:-1].tolist()
    covered = np.zeros(len(text), int)
    for (start, end), (next_start, _) in zip(spans, [*spans[1:], (len(text), 0)], strict=False):
        assert end <= next_start or _is_syllable(text[next_start])
        covered[start:end] += 1
    base = False
    for char, times in zip(text, covered.tolist(), strict=True):
        mark = not _normal(char) and not _is_dropped(char) and not _is_blank(char)
        if not _is_dropped(char):
            base = not _is_blank(char) and (base or not mark)
        if not (_is_dropped(char) or _is_blank(char) or (mark and not base)):
            assert times == 1 or _is_syllable(char)


@settings(max_examples=300, deadline=None)
@given(TEXTS, st.sampled_from(NORMALIZATIONS))
def test_offsets_of_a_normalized_text_point_to_the_raw_text(tokenizers_by_normalization, text, normalization):
    tokenizer = tokenizers_by_normalization[Normalization()]
    changed = normalize(text, normalization)
    plain = _encode(tokenizer, changed.text)
    encoding = _encode(tokenizers_by_normalization[normalization], text)
    assert encoding.ids.tolist() == plain.ids.tolist()
    for (start, end), (normal_start, normal_end) in zip(
        encoding.offsets[1:-1].tolist(), plain.offsets[1:-1].tolist(), strict=True
    ):
        assert (start, end) == (changed.starts[normal_start], changed.ends[normal_end - 1])


@settings(max_examples=100, deadline=None)
@given(st.lists(TEXTS, max_size=6))
def test_a_batch_gives_what_its_texts_give_alone(tokenizer, texts):
    together = tokenizer.encode(texts, max_length=10_000, truncate="error")
    for text, encoding in zip(texts, together, strict=True):
        alone = _encode(tokenizer, text)
        assert encoding.ids.tolist() == alone.ids.tolist()
        assert encoding.offsets.tolist() == alone.offsets.tolist()


@pytest.mark.parametrize(
    ("text", "spans"),
    [
        ("甲方 鑫龘公司", ["甲", "方", "鑫", "龘", "公", "司"]),
        ("ＡＢ１２", ["Ａ", "Ｂ", "１", "２"]),
        ("好\u0301a\u0308b。", ["好\u0301", "a\u0308", "b", "。"]),
        ("👨\u200d👩\u200d👧❤\ufe0f吧", ["👨", "👩", "👧", "❤\ufe0f", "吧"]),
        ("iPh\u200bone", ["iPh\u200bone"]),
        ("第一\r\n\u3000第\u2028二\t ", ["第", "一", "第", "二"]),
        ("\ufeff价￥5", ["价", "￥", "5"]),
        ("\u0301 \u0301好", ["好"]),
        ("好 \u0301吧", ["好", "吧"]),
    ],
)
def test_places_of_odd_characters(tokenizer, text, spans):
    assert _spans(tokenizer, text) == spans


def test_mark_that_begins_a_text_is_not_of_the_text_before(tokenizer):
    assert tokenizer.encode(["好", "\u0301"], max_length=9, truncate="error")[0].offsets.tolist()[1] == [0, 1]


def test_word_begins_anew_after_a_symbol_or_an_ideograph(tokenizer, tokens):
    ids = _encode(tokenizer, "￥5中a1，b").ids[1:-1].tolist()
    assert [tokens[index] for index in ids] == ["￥", "5", "中", "a", "##1", "，", "b"]


def test_pieces_of_a_hangul_syllable_share_it(tmp_path):
    path = tmp_path / "vocab.txt"
    path.write_text("[PAD]\n[CLS]\n[SEP]\n[MASK]\n[UNK]\n\u1112\n##\u1161\n##\u11ab\n", encoding="utf-8")
    encoding = _encode(Tokenizer.from_vocab(path), "\ud55c")
    assert encoding.ids.tolist() == [1, 5, 6, 7, 2]
    assert encoding.offsets[1:-1].tolist() == [[0, 1]] * 3


@pytest.mark.parametrize("text", ["[MASK]", "[SEP]", "[UNK]"])
def test_special_token_typed_by_a_user_is_text(tokenizer, text):
    special = {tokenizer.cls_id, tokenizer.sep_id, tokenizer.mask_id, tokenizer.pad_id}
    assert not special & set(_encode(tokenizer, f"好{text}坏").ids[1:-1].tolist())
    assert "".join(_spans(tokenizer, text)) == text


def test_word_of_more_than_100_characters_is_one_unknown_piece(tokenizer):
    encoding = _encode(tokenizer, "a" * 101 + "好")
    assert encoding.ids[1] == tokenizer.unk_id and encoding.offsets[1:3].tolist() == [[0, 101], [101, 102]]


def test_no_rows_and_empty_text(tokenizer):
    assert tokenizer.encode([], max_length=8, truncate="head") == []
    assert len(tokenizer.count_tokens([])) == 0
    assert _encode(tokenizer, "").ids.tolist() == [tokenizer.cls_id, tokenizer.sep_id]
    assert _encode(tokenizer, " \u200b").offsets.tolist() == [[-1, -1], [-1, -1]]


def test_pair_has_both_texts_with_their_own_places(tokenizer):
    encoding = tokenizer.encode(["甲方"], ["乙 方"], max_length=16, truncate="error")[0]
    assert encoding.type_ids.tolist() == [0, 0, 0, 0, 1, 1, 1]
    assert encoding.offsets.tolist() == [[-1, -1], [0, 1], [1, 2], [-1, -1], [0, 1], [2, 3], [-1, -1]]
    assert encoding.ids[[3, 6]].tolist() == [tokenizer.sep_id] * 2


@pytest.mark.parametrize("normalization", [Normalization(), Normalization(True, True, True, True)])
def test_lone_surrogate_is_named_with_its_row(tokenizers_by_normalization, normalization):
    tokenizer = tokenizers_by_normalization[normalization]
    with pytest.raises(DataError, match=r"row 2 .*character 1 of the second text\n.*U\+D83D"):
        tokenizer.encode(["一", "二", "三"], ["一", "二", "三\ud83d"], max_length=8, truncate="head")


def test_rows_beyond_one_batch_are_the_same(tokenizer, monkeypatch):
    texts = [f"第{number}个句子，好！" * (number % 5) for number in range(50)]
    whole = tokenizer.encode_rows(texts, texts[::-1], max_length=20, truncate="middle", offsets=True)
    monkeypatch.setattr("ernie_pp.text.tokenizer.BATCH_CHARACTERS", 64)
    parts = tokenizer.encode_rows(texts, texts[::-1], max_length=20, truncate="middle", offsets=True)
    for name in ("ids", "type_ids", "offsets", "row_starts", "num_cut"):
        assert np.array_equal(getattr(whole, name), getattr(parts, name)), name


def test_many_words_do_not_fill_the_memory(vocab_path, monkeypatch):
    monkeypatch.setattr("ernie_pp.text.wordpiece.MAX_REMEMBERED_WORDS", 10)
    tokenizer = Tokenizer.from_vocab(vocab_path)
    texts = [f"word{number}" for number in range(100)]
    before = tokenizer.encode_rows(texts, max_length=16, truncate="head").ids
    assert len(tokenizer._word_pieces._remembered) <= 10
    assert np.array_equal(before, tokenizer.encode_rows(texts, max_length=16, truncate="head").ids)


def test_saved_folder_gives_the_same_tokenizer(tokenizer, vocab_path, tmp_path):
    normalization = Normalization(width=True, blanks=True)
    Tokenizer.from_vocab(vocab_path, normalization=normalization).save(tmp_path / "bundle")
    again = Tokenizer.from_folder(tmp_path / "bundle")
    assert again.normalization == normalization and again.tokens() == tokenizer.tokens()
    assert (tmp_path / "bundle" / "vocab.txt").read_bytes() == vocab_path.read_bytes()
    text = "ｉＰｈｏｎｅ　 好"
    assert _spans(again, text) == ["ｉＰｈｏｎｅ", "好"]
    again.save(tmp_path / "again")
    assert (tmp_path / "again" / "tokenizer.json").read_bytes() == (tmp_path / "bundle" / "tokenizer.json").read_bytes()


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("tokenizer.json", None, "cannot be read"),
        ("tokenizer.json", "{}", "not a tokenizer file"),
        ("text.json", '{"normalization": {"color": true}}', "text settings"),
        ("text.json", '{"normalization": {"width": "yes"}}', "text settings"),
    ],
)
def test_damaged_folder_is_named(vocab_path, tmp_path, name, content, message):
    Tokenizer.from_vocab(vocab_path).save(tmp_path)
    (tmp_path / name).unlink() if content is None else (tmp_path / name).write_text(content)
    with pytest.raises(ModelError, match=f"(?s){name}.*{message}"):
        Tokenizer.from_folder(tmp_path)


def test_folder_opens_without_paddle(vocab_path, tmp_path):
    Tokenizer.from_vocab(vocab_path).save(tmp_path)
    code = (
        "import sys; from ernie_pp.text import Tokenizer\n"
        f"assert Tokenizer.from_folder({str(tmp_path)!r}).encode(['好'], max_length=4, truncate='head')[0].ids[1] > 4\n"
        "assert not [name for name in sys.modules if name.split('.')[0] in ('paddle', 'paddlenlp', 'jieba', 'opencc')]"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


@pytest.fixture
def hasty_threads():
    """Threads that give way to each other about as often as Python can let them."""
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(interval)


@pytest.mark.parametrize("overlap", [0, 1500])
def test_threads_may_share_a_tokenizer(vocab_path, hasty_threads, overlap):
    tokenizer = Tokenizer.from_vocab(vocab_path)
    texts = [chr(0x4E00 + number % (3000 - overlap)) + f"word{number}\u00e9\ufb01" for number in range(3000)]
    expected = Tokenizer.from_vocab(vocab_path).encode_rows(texts, max_length=16, truncate="head").ids
    batches = [texts[start : start + 100] for start in range(0, len(texts), 100)]
    with ThreadPoolExecutor(8) as pool:
        parts = list(pool.map(lambda batch: tokenizer.encode_rows(batch, max_length=16, truncate="head").ids, batches))
    assert np.array_equal(np.concatenate(parts), expected)


@pytest.mark.parametrize("name", ["tokenizer.json", "text.json"])
def test_a_file_of_a_folder_that_is_far_too_large_is_not_read(tokenizer, tmp_path, name):
    tokenizer.save(tmp_path)
    with open(tmp_path / name, "r+b") as file:
        file.truncate(100 << 20)  # a hole: it takes no room
    with pytest.raises(ModelError, match=f"{name}\n  is larger than"):
        Tokenizer.from_folder(tmp_path)
