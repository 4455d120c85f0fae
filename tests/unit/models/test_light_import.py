"""The light import, each in a process of its own."""

import subprocess
import sys

import pytest

START = """
import sys
import warnings
warnings.filterwarnings("ignore")
from ernie_pp.models.light_import import import_ernie
"""


def run(code, repository):
    done = subprocess.run([sys.executable, "-c", START + code], cwd=repository, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]


def test_light_import_leaves_the_package_out_and_a_later_real_import_works(repository):
    code = """
code = import_ernie()
assert "paddlenlp" not in sys.modules and "paddlenlp.transformers.bert.modeling" not in sys.modules
import paddlenlp
assert paddlenlp.transformers.ErnieModel is code.modeling.ErnieModel
from paddlenlp.transformers import AutoTokenizer
assert import_ernie().modeling is code.modeling
"""
    run(code, repository)


def test_another_layout_falls_back_to_the_ordinary_import(repository):
    code = """
import ernie_pp.models.light_import as module
def broken(stand_ins): raise AttributeError("moved")
module._fill = broken
assert import_ernie().modeling.ErnieModel.__name__ == "ErnieModel"
import paddlenlp
assert paddlenlp.transformers.ErnieModel is import_ernie().modeling.ErnieModel
"""
    run(code, repository)


@pytest.mark.parametrize(
    "name, place", [("HOME", "/proc/none"), ("PPNLP_HOME", "/proc/none"), ("PPNLP_HOME", __file__)]
)
def test_a_home_that_cannot_be_written_is_no_hindrance(repository, name, place):
    code = f"""
import os
os.environ["{name}"] = {place!r}
assert import_ernie().modeling.ErnieModel.__name__ == "ErnieModel"
assert os.environ["{name}"] == {place!r}
"""
    run(code, repository)
