import json

import pytest

from ernie_pp.errors import DataError, RunError
from ernie_pp.text import Tokenizer, new_vocabulary, read_vocab
from ernie_pp.text.new_vocabulary import build_vocabulary, read_texts, table_characters
from ernie_pp.text.vocabulary import write_vocab


@pytest.fixture(scope="module")
def make_vocab(load_tool):
    return load_tool("make_vocab")


def _ideographs(chars):
    return [char for char in chars if "\u4e00" <= char <= "\u9fff"]


def test_tables_hold_the_characters_of_the_standards():
    gb2312 = _ideographs(table_characters("gb2312"))
    assert len(gb2312) == len(set(gb2312)) == 3755 + 3008
    assert (gb2312[0], gb2312[3754], gb2312[3755], gb2312[-1]) == ("啊", "座", "亍", "齄")
    assert len(set(_ideographs(table_characters("gbk")))) == 20902
    assert table_characters("none") == ""


def test_vocabulary_begins_with_special_tokens_and_has_no_duplicate():
    tokens = build_vocabulary([])
    assert tokens[:5] == ("[PAD]", "[CLS]", "[SEP]", "[MASK]", "[UNK]")
    assert len(tokens) == len(set(tokens)) and "" not in tokens
    assert {"啊", "齄", "a", "##a", "##9", "，", "ａ", "##１", "~", "「"} <= set(tokens)
    assert "龘" not in tokens and "A" not in tokens


def test_frequent_characters_and_words_of_the_texts_are_tokens():
    texts = ["iPhone 龘", "IPHONE 龘 鱻", "Привет", "привет"]
    tokens = build_vocabulary(texts, min_count=2, table="none")
    assert {"龘", "iphone", "привет", "##р"} <= set(tokens)
    assert "鱻" not in tokens and "鱻" in build_vocabulary(texts, min_count=1, table="none")
    assert "привет" not in build_vocabulary(texts, table="none", max_words=1)


def test_same_texts_give_the_same_tokens_in_any_number_of_pieces(monkeypatch):
    texts = [f"word{number % 7} 字{chr(0x4E00 + number % 50)}" for number in range(200)]
    whole = build_vocabulary(texts, table="none")
    monkeypatch.setattr("ernie_pp.text.new_vocabulary._LINES_AT_ONCE", 7)
    assert build_vocabulary(iter(texts), table="none") == whole


def test_written_file_has_no_unknown_piece_for_its_own_texts(make_vocab, tmp_path):
    text = tmp_path / "train.tsv"
    text.write_text("label\ttext\n1\t这款耳机Ｎｏ．１，iPhone15也能用👍\n0\t龘龘！\n", encoding="utf-8")
    output = tmp_path / "made" / "vocab.txt"
    assert make_vocab.main(["--text", str(text), "--output", str(output), "--min-count", "1"]) == 0
    tokenizer = Tokenizer.from_vocab(output)
    rows = tokenizer.encode_rows(text.read_text(encoding="utf-8").split("\n"), max_length=99, truncate="error")
    assert tokenizer.unk_id not in rows.ids.tolist()
    first = output.read_bytes()
    assert make_vocab.main(["--text", str(text), "--output", str(output), "--min-count", "1"]) == 0
    assert output.read_bytes() == first and len(read_vocab(output)) == first.count(b"\n")


def test_output_that_is_no_vocabulary_is_not_overwritten(make_vocab, tmp_path, capsys):
    text = tmp_path / "train.tsv"
    text.write_text("1\t好\n", encoding="utf-8")
    assert make_vocab.main(["--text", str(text), "--output", str(text)]) == 1
    assert text.read_text(encoding="utf-8") == "1\t好\n" and "not a vocabulary" in capsys.readouterr().err


def test_json_gives_its_strings_and_other_files_their_lines(tmp_path):
    value = {"id": 1, "文": ["好", {"text": "坏\u2028"}]}
    (tmp_path / "a.jsonl").write_text(json.dumps(value) + "\n[1, not json\n", encoding="utf-8")
    (tmp_path / "b.json").write_text(json.dumps([value, "\ud800"], indent=1), encoding="utf-8")
    assert list(read_texts(tmp_path / "a.jsonl")) == ["好", "坏\u2028", "[1, not json", ""]
    assert list(read_texts(tmp_path / "b.json")) == ["好", "坏\u2028", "?"]


def test_bad_file_is_named_with_its_line(make_vocab, tmp_path, capsys):
    (tmp_path / "gbk.txt").write_bytes("good\n好\n".encode("gbk"))
    with pytest.raises(DataError, match=r"gbk.txt line 2\n.*not UTF-8"):
        list(read_texts(tmp_path / "gbk.txt"))
    assert make_vocab.main(["--text", str(tmp_path / "none"), "--output", str(tmp_path / "v.txt")]) == 3
    assert "cannot be read" in capsys.readouterr().err


def test_a_corpus_beyond_the_limit_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(new_vocabulary, "MAX_BYTES", 5)
    (tmp_path / "a.txt").write_text("房间很干净\n", encoding="utf-8")
    with pytest.raises(DataError, match="is larger than 5 bytes"):
        list(read_texts(tmp_path / "a.txt"))


def test_a_vocabulary_that_cannot_be_written_leaves_the_old_one(tmp_path, monkeypatch):
    path = tmp_path / "vocab.txt"
    path.write_text("old\n", encoding="utf-8")

    def no_room(_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", no_room)
    with pytest.raises(RunError, match="No space left"):
        write_vocab(("[PAD]",), path)
    assert path.read_text(encoding="utf-8") == "old\n"
