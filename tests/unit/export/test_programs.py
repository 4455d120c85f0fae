"""Every head, written for every runtime, answers there like the model itself."""

import numpy as np
import paddle
import pytest

from ernie_pp.config.schema import ModelConfig, SizesConfig
from ernie_pp.errors import ConfigError, RunError
from ernie_pp.export import formats
from ernie_pp.export.bundle import Bundle
from ernie_pp.export.formats import FORMATS, Target, check_format
from ernie_pp.export.lite_environment import VARIABLE, default_folder, find_lite
from ernie_pp.export.programs import INPUTS, InferenceModel, write_program
from ernie_pp.export.runtime_choice import RuntimeOptions
from ernie_pp.export.sessions import open_session
from ernie_pp.models.ernie import build_stack, copy_for_export, load_encoder
from ernie_pp.models.head_specs import HeadSpec

HEADS = [
    HeadSpec("classification", 3),
    HeadSpec("softmax", 5),
    HeadSpec("crf", 5),
    HeadSpec("global_pointer", 3, pointer_size=8),
    HeadSpec("answer_span", 2),
    HeadSpec("answer_span", 4),
]
SIZES = SizesConfig(vocab="unused", num_layers=2, hidden_size=32, num_heads=2, max_positions=64)
SHAPES = ((1, 1), (5, 12), (2, 40))


def _build(head):
    stack = build_stack(load_encoder(ModelConfig(sizes=SIZES), vocab_size=60, pad_id=0, seed=1), head, seed=1)
    rng = np.random.default_rng(3)
    for parameter in stack.parameters():  # fresh weights are so small that rounding would hide a wrong operator
        parameter.set_value(
            paddle.to_tensor((3 * parameter.numpy() + 0.02 * rng.normal(size=parameter.shape)).astype("float32"))
        )
    stack.eval()
    return stack


def _batches(shapes=SHAPES):
    rng, batches = np.random.default_rng(0), []
    for rows, length in shapes:
        ids, types = rng.integers(1, 60, (rows, length)), np.zeros((rows, length), np.int64)
        types[:, length // 2 :] = 1
        if rows > 1:
            ids[1, length // 3 :] = types[1, length // 3 :] = 0
        batches.append((ids, types))
    return batches


def _expected(stack, batch):
    with paddle.no_grad():
        logits = stack(*map(paddle.to_tensor, batch)).numpy()
    return logits[:, : batch[0].shape[1]] if stack.head_spec.kind == "crf" else logits


def _open(stack, folder, target):
    write_program(InferenceModel(*copy_for_export(stack)), folder, target, calibration=_batches())
    assert {path.name for path in folder.iterdir()} == set(FORMATS[target.format].files)
    manifest = {"format": target.format, "precision": target.precision, "inputs": list(INPUTS)}
    return open_session(Bundle(folder, manifest), RuntimeOptions())


def _differences(stack, session):
    for batch in _batches():
        expected, got = _expected(stack, batch), session.run(*batch)
        assert got.shape == expected.shape and got.dtype == np.float32
        yield float(np.abs(expected - got)[expected > -9999].max())


@pytest.mark.parametrize("head", HEADS, ids=lambda head: f"{head.kind}-{head.num_outputs}")
@pytest.mark.parametrize("format", ["inference", "inference-legacy"])
def test_paddle_inference_gives_the_models_logits(tmp_path, head, format):
    stack = _build(head)
    assert max(_differences(stack, _open(stack, tmp_path, Target(format)))) < 1e-5


@pytest.mark.parametrize("head", [HEADS[3], HEADS[5]], ids=lambda head: head.kind)
def test_onnx_runtime_gives_the_models_logits(tmp_path, head):
    stack = _build(head)
    assert max(_differences(stack, _open(stack, tmp_path, Target("onnx")))) < 1e-5


@pytest.mark.parametrize("head", HEADS, ids=lambda head: f"{head.kind}-{head.num_outputs}")
def test_paddle_lite_gives_the_models_logits(tmp_path, head):
    try:
        find_lite()
    except RunError as error:
        pytest.skip(f"no Paddle Lite: {error}")
    stack = _build(head)
    assert max(_differences(stack, _open(stack, tmp_path, Target("lite")))) < 1e-5


def _is_near(stack, differences):
    scale = max(float(np.abs(_expected(stack, batch)).max()) for batch in _batches())
    return 1e-5 < max(differences) < 0.1 * scale


def test_int8_of_paddle_is_near_the_model_and_not_the_model(tmp_path):
    stack = _build(HEADS[0])
    assert _is_near(stack, _differences(stack, _open(stack, tmp_path, Target("inference-legacy", "int8"))))


def test_int8_of_onnx_is_near_the_model_at_a_fraction_of_the_size(tmp_path):
    stack, sizes, found = _build(HEADS[0]), {}, {}
    for precision in ("fp32", "int8"):
        folder = tmp_path / precision
        folder.mkdir()
        found[precision] = list(_differences(stack, _open(stack, folder, Target("onnx", precision))))
        sizes[precision] = (folder / "model.onnx").stat().st_size
    assert max(found["fp32"]) < 1e-5 and _is_near(stack, found["int8"])
    assert sizes["int8"] < 0.6 * sizes["fp32"]


def test_a_format_names_the_precisions_it_lacks():
    with pytest.raises(ConfigError, match=r"int8 is not one of lite: fp32[\s\S]*--format inference-legacy or onnx"):
        check_format("lite", "int8")


def test_bf16_is_refused_where_the_cpu_cannot_show_it(monkeypatch):
    monkeypatch.setattr(formats, "read_cpu_info", lambda: ("AMD", "EPYC 7002", {"avx2"}))
    with pytest.raises(RunError, match=r"EPYC 7002.* has no AVX-512"):
        check_format("inference", "bf16")
    monkeypatch.setattr(formats, "read_cpu_info", lambda: ("AMD", "EPYC 9004", {"avx2", "avx512bw"}))
    assert check_format("inference", "bf16").program == "model.json"


def test_no_paddle_lite_is_told_with_what_to_do(monkeypatch, tmp_path):
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    with pytest.raises(RunError, match=r"has no bin/python[\s\S]*tools/set_up_lite.py"):
        find_lite()
    monkeypatch.delenv(VARIABLE)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    assert default_folder() == tmp_path / "cache" / "ernie_pp" / "lite"
