"""Bad data by the command line: told by file and line with code 3, in little memory; odd but sound files are read."""

import os

import pytest
import sample_run
from many_commands import run_commands

GOOD = '{"text": "房间很干净", "label": 1}\n{"text": "太差了", "label": 0}\n'
WORDS = ("train.max_steps=1", "export.enabled=false")
# By name: ending, content, the line that is told (None: the file is read) and a piece of the message.
FILES = {
    "a byte order mark": ("jsonl", b"\xef\xbb\xbf" + GOOD.encode(), None, ""),
    "lines that end in CRLF": ("jsonl", GOOD.replace("\n", "\r\n").encode(), None, ""),
    "a text NA": ("tsv", "text\tlabel\nNA\t1\n太差了\t0\n".encode(), None, ""),
    "GBK": ("jsonl", (GOOD * 3).encode("gbk"), 1, "GBK/GB18030"),
    "bytes that are not UTF-8": ("jsonl", GOOD.encode() + b'{"text": "a\xff\xfeb", "label": 1}\n', 3, "UTF-8"),
    "NUL": ("jsonl", GOOD.encode() + '{"text": "好\0坏", "label": 1}\n'.encode(), 3, "NUL"),
    "half of a pair": ("jsonl", GOOD.encode() + b'{"text": "\\ud83d", "label": 1}\n', 3, "ud83d"),
    "a line of 100 MB": ("jsonl", GOOD.encode() + b'{"text": "' + b"a" * 100_000_000 + b'"}\n', 3, "1,048,576 bytes"),
    "100,000 brackets": ("jsonl", GOOD.encode() + b"[" * 100_000 + b"\n", 3, "64 levels"),
    "a key twice": ("jsonl", GOOD.encode() + b'{"text": "a", "label": 1, "text": "b"}\n', 3, 'key "text"'),
    "a missing label": ("jsonl", GOOD.encode() + '{"text": "好"}\n'.encode(), 3, "label"),
    "an open quote": ("csv", 'text,label\n好,1\n"坏,0\n好,1\n'.encode(), 3, "quote"),
}


@pytest.fixture(scope="module")
def answers(tmp_path_factory):
    """A good run, then one for each file, in one process."""
    folder = tmp_path_factory.mktemp("bad")
    config = sample_run.write_sample(folder)
    commands = [["train", "--config", str(config), *WORDS]]
    for number, (name, (ending, content, _, _)) in enumerate(FILES.items()):
        path = folder / f"{number}.{ending}"
        path.write_bytes(content)
        commands.append([*commands[0], f"data.dev={path}", f"output_dir={folder / name}"])
    answers = dict(zip(["good", *FILES], run_commands(commands), strict=True))
    assert answers["good"].code == 0, answers["good"].errors
    return folder, answers


@pytest.mark.parametrize("name", [name for name, (_, _, line, _) in FILES.items() if line is None])
def test_an_odd_but_sound_file_is_read(answers, name):
    folder, answer = answers[0], answers[1][name]
    assert answer.code == 0, answer.errors
    texts = [row["text"] for row in sample_run.read_jsonl(folder / name / "predictions.jsonl")]
    assert texts == ["NA" if name == "a text NA" else "房间很干净", "太差了"]


@pytest.mark.parametrize("name", [name for name, (_, _, line, _) in FILES.items() if line is not None])
def test_a_bad_file_is_code_3_with_its_line_and_little_memory(answers, name):
    answer, (ending, _, line, piece) = answers[1][name], FILES[name]
    number = list(FILES).index(name)
    assert answer.code == 3, answer.errors
    message = answer.errors[answer.errors.index("DataError: ") :]
    assert f"{number}.{ending} line {line}\n" in message and piece in message
    assert "Traceback" not in answer.errors and len(message) < 5000
    assert answer.more_bytes < 200_000_000


def test_a_file_edited_under_its_old_time_is_read_and_tokenized_anew(tmp_path):
    config, path, cache = sample_run.write_sample(tmp_path), tmp_path / "edited.jsonl", tmp_path / "cache"
    for number, piece in enumerate(("净", "a b")):  # of three bytes each
        path.write_text(GOOD.replace("净", piece), encoding="utf-8")
        os.utime(path, (1_600_000_000, 1_600_000_000))
        output = tmp_path / str(number)
        sample_run.train_here(config, *WORDS, f"data.dev={path}", f"data.cache_dir={cache}", f"output_dir={output}")
        assert sample_run.read_jsonl(output / "predictions.jsonl")[0]["text"] == f"房间很干{piece}"
        assert len(list(cache.glob("tokens-*"))) == 2 + number  # of train, and of each dev file there was
