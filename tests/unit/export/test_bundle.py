"""A bundle that is not as it was exported is refused, and the message names the file."""

import hashlib
import json
import shutil

import pytest

from ernie_pp.errors import ModelError
from ernie_pp.export.bundle import MANIFEST, TOKENIZER_FILES, open_bundle
from ernie_pp.export.formats import FORMATS

NEEDED = (*FORMATS["inference"].files, *TOKENIZER_FILES)
KIND = '"version": 2, "format": "inference", "precision": "fp32"'


@pytest.fixture
def bundle(small_run, tmp_path):
    """A copy that a test may spoil."""
    return shutil.copytree(small_run / "bundle", tmp_path / "bundle")


def _refused(bundle, match):
    with pytest.raises(ModelError, match=match) as caught:
        open_bundle(bundle)
    assert str(bundle) in caught.value.where


def _rewrite(bundle, **files):
    """The manifest with these files changed (None: not named) and a hash that fits, as an attacker would write it."""
    values = json.loads((bundle / MANIFEST).read_text(encoding="utf-8"))
    del values["sha256"]
    values["files"] = {name: value for name, value in {**values["files"], **files}.items() if value is not None}
    digest = hashlib.sha256(json.dumps(values, sort_keys=True).encode("ascii")).hexdigest()
    (bundle / MANIFEST).write_text(json.dumps({**values, "sha256": digest}), encoding="utf-8")


def test_a_whole_bundle_opens_and_says_what_it_is(bundle):
    opened = open_bundle(bundle)
    assert opened.task == "cls"
    assert set(opened.manifest["files"]) == set(NEEDED)
    assert opened.manifest["parity"]["max_logit_difference"] <= opened.manifest["parity"]["tolerance"]
    assert {"paddle", "tokenizers", "ernie_pp"} <= set(opened.manifest["versions"])


@pytest.mark.parametrize("name", [*NEEDED, MANIFEST])
def test_a_flipped_bit_is_found(bundle, name):
    content = bytearray((bundle / name).read_bytes())
    content[len(content) // 2] ^= 1
    (bundle / name).write_bytes(content)
    _refused(bundle, name)


@pytest.mark.parametrize("name", [*NEEDED, MANIFEST])
def test_a_cut_file_is_found(bundle, name):
    content = (bundle / name).read_bytes()
    (bundle / name).write_bytes(content[:-7])
    _refused(bundle, name)


@pytest.mark.parametrize("name", [*NEEDED, MANIFEST])
def test_a_missing_file_is_found(bundle, name):
    (bundle / name).unlink()
    _refused(bundle, name)


@pytest.mark.parametrize("name", [*NEEDED, MANIFEST])
def test_a_link_in_place_of_a_file_is_refused(bundle, tmp_path, name):
    shutil.move(bundle / name, tmp_path / name)
    (bundle / name).symlink_to(tmp_path / name)
    _refused(bundle, name)


def test_a_link_to_the_whole_bundle_opens(bundle, tmp_path):
    (tmp_path / "latest").symlink_to(bundle)
    assert open_bundle(tmp_path / "latest").task == "cls"


@pytest.mark.parametrize("name", ["../outside.json", "{}/outside.json", "sub/inside.json", "..", ".", ""])
def test_a_file_of_another_folder_is_refused(bundle, name):
    name = name.format(bundle.parent)
    (bundle / "sub").mkdir()
    for path in (bundle.parent / "outside.json", bundle / "sub" / "inside.json"):
        path.write_text("x", encoding="utf-8")
    _rewrite(bundle, **{name: {"bytes": 1, "sha256": hashlib.sha256(b"x").hexdigest()}})
    with pytest.raises(ModelError, match="not a plain file of this folder"):
        open_bundle(bundle)


@pytest.mark.parametrize("described", [{}, 3, {"bytes": 1}, {"bytes": 1, "sha256": "0", "more": 1}])
def test_a_file_that_is_not_described_is_refused(bundle, described):
    _rewrite(bundle, **{"vocab.txt": described})
    _refused(bundle, "does not say size and sha256 of vocab.txt")


@pytest.mark.parametrize(
    "text, match",
    [
        ("", "cannot be read"),
        ("[]", "version list"),
        ('{"version": 99}', "version 99, expected 2"),
        ('{"version": 2, "format": "tflite", "precision": "fp32"}', "format 'tflite'"),
        ('{"version": 2, "format": "lite", "precision": "int8"}', "precision 'int8'"),
        ('{"version": 2, "format": ["lite"], "precision": "fp32"}', "format"),
        (f"{{{KIND}}}", "lacks task, files"),
        ("[" * 200_000, "cannot be read"),
        (
            f'{{{KIND}, "task": "cls", "files": [], "text": {{}}, "columns": {{}}, "decode": {{}}, "inputs": []}}',
            "lacks files",
        ),
        (
            f'{{{KIND}, "task": "cls", "files": {{}}, "text": {{}}, "columns": {{}}, "decode": {{}}, "inputs": []}}',
            "other content",
        ),
    ],
)
def test_a_manifest_of_another_shape_is_refused(bundle, text, match):
    (bundle / MANIFEST).write_text(text, encoding="utf-8")
    _refused(bundle, match)


def test_a_manifest_that_is_not_utf8_or_too_large_is_refused(bundle):
    (bundle / MANIFEST).write_bytes(b"\xff\xfe\x00")
    _refused(bundle, "cannot be read")
    (bundle / MANIFEST).write_bytes(b" " * (9 << 20))
    _refused(bundle, "is larger than")


def test_a_manifest_without_a_needed_file_is_refused(bundle):
    _rewrite(bundle, **{"vocab.txt": None})
    _refused(bundle, "does not name vocab.txt")


def test_a_manifest_that_does_not_say_how_rows_were_read_is_refused(bundle):
    values = json.loads((bundle / MANIFEST).read_text(encoding="utf-8"))
    del values["sha256"], values["columns"]["quoting"]
    digest = hashlib.sha256(json.dumps(values, sort_keys=True).encode("ascii")).hexdigest()
    (bundle / MANIFEST).write_text(json.dumps({**values, "sha256": digest}), encoding="utf-8")
    _refused(bundle, "has columns header, text, text_pair, expected header, quoting, text, text_pair")


def test_no_bundle_at_all_says_what_to_give(tmp_path):
    (tmp_path / "file").write_text("x", encoding="utf-8")
    for path in (tmp_path, tmp_path / "none", tmp_path / "file"):
        with pytest.raises(ModelError, match=r"has no manifest\.json\n.*ernie-pp export"):
            open_bundle(path)


@pytest.mark.parametrize("name", ["x" * 300, "a\0b", "loop"])
def test_a_name_the_system_refuses_is_told(tmp_path, name):
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises(ModelError, match=r"cannot be opened|has no manifest"):
        open_bundle(tmp_path / name)


def test_a_folder_one_may_not_enter_is_told(bundle, monkeypatch):
    def refuse(*_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("pathlib.Path.is_symlink", refuse)
    _refused(bundle, "cannot be opened: Permission denied")


def test_without_verify_only_sizes_are_compared(bundle):
    content = bytearray((bundle / "model.pdiparams").read_bytes())
    content[5] ^= 1
    (bundle / "model.pdiparams").write_bytes(content)
    assert open_bundle(bundle, verify=False).task == "cls"
    (bundle / "model.pdiparams").write_bytes(content[:-1])
    with pytest.raises(ModelError, match="bytes, the manifest says"):
        open_bundle(bundle, verify=False)
