"""The same ids as PaddleNLP's ErnieTokenizer, on real texts of every set and on characters of every kind."""

import csv
import io
import json
import random

import pytest
import tokenizers

from ernie_pp.text import Tokenizer, read_vocab
from ernie_pp.text.vocabulary import write_vocab

TEXTS_OF_A_FILE = 150
ENDINGS = {".json", ".jsonl", ".csv", ".tsv", ".txt", ".train", ".dev", ".bmes", ".conll"}


@pytest.fixture(scope="module")
def ernie_tokenizer():
    return pytest.importorskip("paddlenlp.transformers", reason="PaddleNLP is not installed").ErnieTokenizer


@pytest.fixture(scope="module", params=["vocab_ernie_3.0", "vocab_ernie_1.0", "vocab_bert_base_chinese"])
def both(request, shared_data, ernie_tokenizer, tmp_path_factory):
    """Ours, and PaddleNLP's with the same vocabulary in the layout it reads."""
    source = shared_data / request.param / "vocab.txt"
    plain = tmp_path_factory.mktemp("vocab") / "vocab.txt"
    write_vocab(read_vocab(source), plain)
    return Tokenizer.from_vocab(source), ernie_tokenizer(str(plain))


def _strings(value):
    if isinstance(value, str):
        yield value
    elif isinstance(value, (dict, list)):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _strings(item)


def _texts(path):
    content = path.read_text(encoding="utf-8")
    if path.suffix in (".json", ".jsonl"):
        try:
            yield from _strings(json.loads(content))
        except json.JSONDecodeError:
            for line in filter(str.strip, content.split("\n")):
                yield from _strings(json.loads(line))
    elif path.suffix == ".csv":
        for row in csv.reader(io.StringIO(content, newline="")):
            yield from row
    else:
        yield from (field for line in content.split("\n") for field in line.split("\t"))
        for block in content.split("\n\n"):  # sentences of one character a line
            yield "".join(line.split("\t")[0].split(" ")[0] for line in block.split("\n"))


def _sample(folder):
    rng = random.Random(0)
    for path in sorted(folder.rglob("*")):
        if path.suffix in ENDINGS and path.name != "SOURCE.txt" and "vocab" not in str(path.relative_to(folder)):
            texts = sorted(set(_texts(path)))
            yield from rng.sample(texts, min(TEXTS_OF_A_FILE, len(texts)))


def _different(tokenizer, reference, texts):
    encodings = tokenizer.encode(texts, max_length=10**6, truncate="error")
    return [
        text[:80]
        for text, encoding in zip(texts, encodings, strict=True)
        if encoding.ids[1:-1].tolist() != reference.convert_tokens_to_ids(reference.tokenize(text))
    ]


def test_ids_are_equal_on_a_sample_of_every_data_set(shared_data, both):
    texts = list(_sample(shared_data))
    assert len(texts) > 3000
    assert _different(*both, texts) == []


def test_ids_are_equal_on_characters_of_every_kind(both):
    codes = [code for code in (*range(0x3000), *range(0x3000, 0x30000, 37)) if not 0xD800 <= code < 0xE000]
    odd = [f"a{chr(code)}b 中{chr(code)}" for code in codes]
    rng = random.Random(0)
    mixed = ["".join(chr(rng.choice(codes)) for _ in range(20)) for _ in range(500)]
    assert _different(*both, [*odd, *mixed, "[MASK]好[SEP]", "[mask] [UNK]", "ΟΔΟΣ", "a" * 100, "a" * 101]) == []


def test_tokenizer_file_alone_gives_our_ids(shared_data, both, tmp_path):
    tokenizer, _ = both
    tokenizer.save(tmp_path)
    portable = tokenizers.Tokenizer.from_file(str(tmp_path / "tokenizer.json"))
    texts = list(_sample(shared_data))[::5]
    encodings = tokenizer.encode(texts, max_length=10**6, truncate="error")
    assert [one.ids for one in portable.encode_batch(texts)] == [one.ids.tolist() for one in encodings]


def test_paddlenlp_reads_the_saved_folder(both, ernie_tokenizer, tmp_path):
    tokenizer, reference = both
    tokenizer.save(tmp_path)
    text = "价格￥100，iPhone 15 很好！"
    assert ernie_tokenizer.from_pretrained(str(tmp_path))(text)["input_ids"] == reference(text)["input_ids"]
    assert tokenizer.encode([text], max_length=99, truncate="error")[0].ids.tolist() == reference(text)["input_ids"]


@pytest.mark.parametrize(("least_ratio", "exit_code"), [(0.0, 0), (1e9, 1)])
def test_benchmark_compares_ids_and_ends_with_the_ratio(
    ernie_tokenizer, vocab_path, load_tool, tmp_path, monkeypatch, capsys, least_ratio, exit_code
):
    bench = load_tool("bench_tokenizer")
    monkeypatch.setattr(bench, "LEAST_RATIO", least_ratio)
    text = tmp_path / "text.tsv"
    text.write_text("1\t酒店的环境不错，价格￥300\n0\t龘龘\n" * 10, encoding="utf-8")
    assert bench.main(["--text", str(text), "--vocab", str(vocab_path), "--rows", "20"]) == exit_code
    lines = capsys.readouterr().out.splitlines()
    assert "rows with different ids: 0" in lines and lines[-1].startswith("ratio ")
