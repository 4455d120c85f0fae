"""The program in docs/bundle.md answers as ernie_pp does, and imports nothing of it."""

import re
import subprocess
import sys

from ernie_pp.export.formats import FORMATS
from ernie_pp.serving import Predictor

TEXTS = ["房间很干净，服务员也很热情。", "太差了", "一般，价格 ￥99，不会再来！"]


def _page(repository):
    return (repository / "docs" / "bundle.md").read_text(encoding="utf-8")


def test_the_python_program_gives_the_predictors_labels(repository, small_run, tmp_path):
    (program,) = re.findall(r"```python\n(.*?)```", _page(repository), re.DOTALL)
    assert "ernie_pp" not in program
    path = tmp_path / "program.py"
    path.write_text(program, encoding="utf-8")
    command = [sys.executable, "-I", str(path), str(small_run / "bundle"), *TEXTS]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    expected = [
        f"{one.labels[0]} {text}" for one, text in zip(Predictor(small_run / "bundle")(TEXTS), TEXTS, strict=True)
    ]
    assert done.stdout.splitlines() == expected


def test_the_table_of_formats_is_that_of_the_code(repository):
    rows = re.findall(
        r"^\| `([a-z][a-z-]+)`(?: \(the default\))? \| (.*?) \|.*\| (.*?) \|$", _page(repository), re.MULTILINE
    )
    told = {name: (set(re.findall("`(.*?)`", files)), set(re.findall("`(.*?)`", kinds))) for name, files, kinds in rows}
    assert told == {name: (set(one.files), set(one.precisions)) for name, one in FORMATS.items()}
