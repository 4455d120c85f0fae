import pytest

from ernie_pp.errors import ModelError
from ernie_pp.text import Tokenizer, read_vocab
from ernie_pp.text.vocabulary import MAX_BYTES, ids_by_token

SPECIAL = "[PAD]\n[CLS]\n[SEP]\n[MASK]\n[UNK]\n"


def _write(tmp_path, content):
    path = tmp_path / "vocab.txt"
    path.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8"))
    return path


def test_line_number_is_the_id(tmp_path):
    assert read_vocab(_write(tmp_path, SPECIAL + "好\n##坏"))[5:] == ("好", "##坏")


def test_crlf_and_byte_order_mark_are_no_part_of_a_token(tmp_path):
    tokens = read_vocab(_write(tmp_path, b"\xef\xbb\xbf" + (SPECIAL + "好\n").replace("\n", "\r\n").encode()))
    assert tokens[0] == "[PAD]" and tokens[-1] == "好"


def test_id_column_is_the_id_in_any_order_of_lines(tmp_path):
    lines = ["[UNK]\t5", "[PAD]\t0", "[CLS]\t1", "[SEP]\t2", "[MASK]\t3", "好\t4"]
    assert read_vocab(_write(tmp_path, "\n".join(lines))) == ("[PAD]", "[CLS]", "[SEP]", "[MASK]", "好", "[UNK]")


def test_line_separator_character_is_a_token(tmp_path):
    assert read_vocab(_write(tmp_path, SPECIAL + "\u2028\n好\n"))[5:] == ("\u2028", "好")


def test_duplicate_keeps_later_ids_and_the_last_place_counts(tmp_path):
    path = _write(tmp_path, SPECIAL + "$\n好\n$\n坏\n")
    tokenizer = Tokenizer.from_vocab(path)
    assert ids_by_token(read_vocab(path))["$"] == 7
    assert tokenizer.encode(["$好坏"], max_length=8, truncate="head")[0].ids.tolist() == [1, 7, 6, 8, 2]
    assert tokenizer.vocab_size == 9 and tokenizer.tokens() == read_vocab(path)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "empty"),
        ("[PAD]\n[CLS]\n[SEP]\n好\n", r"no \[UNK\] \[MASK\]"),
        (SPECIAL.encode() + b"\xb0\xa1\n", "line 6\n.*0xb0 is not UTF-8"),
        ("[PAD]\t0\n[CLS]\t1\n[SEP]\t2\n[MASK]\t3\n[UNK]\t5\n", "line 5\n.*id 5 .*gap"),
        ("[PAD]\t0\n[CLS]\t1\n[SEP]\t2\n[MASK]\t3\n[UNK]\t3\n", "line 5\n.*id 3 stands twice"),
        ("[PAD]\t0\n[CLS]\t1\n[SEP]\n", r"line 3\n.*'\[SEP\]' has no id"),
        ("[PAD]\t0\n[CLS]\t" + "9" * 5000 + "\n", "line 2\n.*gap"),
    ],
)
def test_fault_is_named(tmp_path, content, message):
    with pytest.raises(ModelError, match=message):
        read_vocab(_write(tmp_path, content))


def test_missing_and_huge_files_are_refused(tmp_path):
    with pytest.raises(ModelError, match="cannot be read"):
        read_vocab(tmp_path / "none.txt")
    with (tmp_path / "huge.txt").open("wb") as file:
        file.truncate(MAX_BYTES + 1)
    with pytest.raises(ModelError, match="is larger than"):
        read_vocab(tmp_path / "huge.txt")


@pytest.mark.parametrize(
    ("folder", "size", "unk_id"),
    [("vocab_ernie_3.0", 39980, 39979), ("vocab_ernie_1.0", 17964, 17963), ("vocab_bert_base_chinese", 21128, 100)],
)
def test_public_vocabularies_load_with_their_ids(shared_data, folder, size, unk_id):
    tokenizer = Tokenizer.from_vocab(shared_data / folder / "vocab.txt")
    assert (tokenizer.vocab_size, tokenizer.unk_id) == (size, unk_id)


def test_both_places_of_the_dollar_sign_stay(shared_data):
    tokens = read_vocab(shared_data / "vocab_ernie_3.0" / "vocab.txt")
    assert [index for index, token in enumerate(tokens) if token == "$"] == [12084, 18005]
