"""Model folders: what loads, and how each fault is refused."""

import json
import pickle

import numpy as np
import paddle
import pytest
from safetensors.numpy import load_file, save_file

from ernie_pp.config.schema import ModelConfig
from ernie_pp.errors import ModelError
from ernie_pp.models.ernie import (
    build_classifier,
    find_vocabulary,
    load_encoder,
    load_stack,
    model_values,
    paddlenlp_config,
)
from ernie_pp.models.head_specs import HeadSpec
from ernie_pp.models.sizes import num_parameters

VOCAB_SIZE = 60


@pytest.fixture
def folder(build_stack, tmp_path):
    """A trained classifier as a run leaves it."""
    stack = build_stack()
    save_file(stack.state(), tmp_path / "model.safetensors")
    config = paddlenlp_config(stack, labels=["好", "中", "差"])
    (tmp_path / "config.json").write_text(json.dumps(config, ensure_ascii=False), encoding="utf-8")
    return tmp_path


def load(folder, **settings):
    return load_encoder(ModelConfig(path=str(folder), **settings), vocab_size=VOCAB_SIZE, pad_id=0, seed=3)


def change(folder, **values):
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    (folder / "config.json").write_text(json.dumps({**config, **values}), encoding="utf-8")


def use_pickle(folder, content=None):
    arrays = load_file(folder / "model.safetensors") if content is None else content
    (folder / "model.safetensors").unlink()
    (folder / "model_state.pdparams").write_bytes(pickle.dumps(arrays, protocol=4))


def test_encoder_of_a_classifier_folder_loads_and_its_head_is_reported(folder, build_stack):
    loaded = load(folder)
    assert loaded.missing == ()
    assert loaded.unexpected == ("classifier.bias", "classifier.weight")
    weights = build_classifier(loaded, num_labels=3, seed=9).state()
    expected = build_stack().state()
    assert all(np.array_equal(weights[name], value) for name, value in expected.items() if "classifier" not in name)
    assert not np.array_equal(weights["classifier.weight"], expected["classifier.weight"])


def test_whole_classifier_loads_with_its_head(folder, build_stack, rows):
    expected = build_stack()
    expected.eval()
    assert np.array_equal(load_stack(folder, HeadSpec("classification", 3))(*rows).numpy(), expected(*rows).numpy())


def test_paddlenlps_own_loader_opens_the_folder_with_the_same_logits(folder, build_stack, rows):
    from ernie_pp.models.light_import import import_ernie

    model = import_ernie().modeling.ErnieForSequenceClassification.from_pretrained(str(folder))
    model.eval()
    stack = build_stack()
    stack.eval()
    assert np.array_equal(model(*rows).numpy(), stack(*rows).numpy())
    assert model.config.id2label[2] == "差"


def test_missing_pooler_starts_fresh_and_is_reported(folder):
    arrays = load_file(folder / "model.safetensors")
    save_file({n: a for n, a in arrays.items() if "pooler" not in n}, folder / "model.safetensors")
    assert load(folder).missing == ("ernie.pooler.dense.weight", "ernie.pooler.dense.bias")


def test_names_of_a_bare_encoder_load(folder):
    arrays = load_file(folder / "model.safetensors")
    bare = {n.removeprefix("ernie."): a for n, a in arrays.items() if n.startswith("ernie.")}
    save_file(bare, folder / "model.safetensors")
    assert load(folder).missing == load(folder).unexpected == ()


def test_missing_tensor_is_named(folder):
    arrays = load_file(folder / "model.safetensors")
    del arrays["ernie.encoder.layers.1.linear1.bias"]
    save_file(arrays, folder / "model.safetensors")
    with pytest.raises(ModelError, match=r"ernie\.encoder\.layers\.1\.linear1\.bias"):
        load(folder)


def test_config_of_another_shape_is_refused_with_both_shapes(folder):
    change(folder, intermediate_size=96)
    with pytest.raises(ModelError, match=r"linear1\.weight has shape \[32, 128\], config.json implies \[32, 96\]"):
        load(folder)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("hidden_size", 10**6),
        ("vocab_size", 10**9),
        ("vocab_size", 9_999_999),
        ("num_hidden_layers", -1),
        ("num_hidden_layers", "2"),
        ("num_attention_heads", 3),
        ("intermediate_size", True),
        ("hidden_act", "__import__"),
        ("hidden_dropout_prob", 1.5),
        ("model_type", "bert"),
    ],
)
def test_absurd_config_is_refused_by_its_key(folder, key, value):
    change(folder, **{key: value})
    with pytest.raises(ModelError, match=key if key != "vocab_size" else "vocab_size|word_embeddings"):
        load(folder)


def test_sizes_that_no_machine_holds_are_refused():
    from ernie_pp.models.sizes import check_config

    huge = {"vocab_size": 10**6, "hidden_size": 8192, "num_hidden_layers": 96, "num_attention_heads": 64}
    with pytest.raises(ModelError, match=r"implies .* parameters"):
        check_config({**huge, "intermediate_size": 32768, "max_position_embeddings": 2048}, where="model.sizes")


@pytest.mark.parametrize("content", ["{", "[1]", '{"a":' * 50_000, "\ufeff"])
def test_unreadable_config_is_refused(folder, content):
    (folder / "config.json").write_text(content, encoding="utf-8")
    with pytest.raises(ModelError, match=r"config\.json"):
        load(folder)


@pytest.mark.parametrize("keep", [4, 200, 5000])
def test_truncated_safetensors_is_refused(folder, keep):
    path = folder / "model.safetensors"
    path.write_bytes(path.read_bytes()[:keep])
    with pytest.raises(ModelError, match="not a readable safetensors file"):
        load(folder)


@pytest.mark.parametrize("dtype", ["BF16", "F8_E4M3", "I64", "BOOL"])
def test_a_tensor_of_another_type_is_refused_by_its_name(folder, dtype):
    path = folder / "model.safetensors"
    size = {"BF16": 2, "F8_E4M3": 1, "I64": 8, "BOOL": 1}[dtype]
    tensor = {"dtype": dtype, "shape": [32], "data_offsets": [0, 32 * size]}
    header = json.dumps({"ernie.embeddings.layer_norm.weight": tensor}).encode()
    path.write_bytes(len(header).to_bytes(8, "little") + header + bytes(32 * size))
    with pytest.raises(ModelError, match=rf"layer_norm\.weight is of type {dtype}, float32 was expected"):
        load(folder)


def test_nan_weights_are_refused(folder):
    arrays = load_file(folder / "model.safetensors")
    arrays["ernie.embeddings.layer_norm.bias"][3] = np.nan
    save_file(arrays, folder / "model.safetensors")
    with pytest.raises(ModelError, match=r"layer_norm\.bias holds NaN"):
        load(folder)


def test_pickle_is_refused_without_the_setting_and_read_with_it(folder):
    use_pickle(folder)
    with pytest.raises(ModelError, match="allow_pickle"):
        load(folder)
    assert load(folder, allow_pickle=True).missing == ()


def test_file_of_paddle_save_is_read_with_the_setting(folder, build_stack):
    import paddle

    use_pickle(folder, content={})
    paddle.save(build_stack().canonical_parameters(), str(folder / "model_state.pdparams"))
    assert load(folder, allow_pickle=True).missing == ()


class Evil:
    def __init__(self, marker):
        self.marker = marker

    def __reduce__(self):
        return (open, (str(self.marker), "w"))


@pytest.mark.parametrize("wrap", [lambda e: e, lambda e: {"w": e}, lambda e: {"w": np.array([e], dtype=object)}])
def test_evil_pickle_never_runs(folder, tmp_path, wrap):
    marker = tmp_path / "it-ran"
    use_pickle(folder, content=wrap(Evil(marker)))
    with pytest.raises(ModelError, match="not a readable parameter file"):
        load(folder, allow_pickle=True)
    assert not marker.exists()


def test_truncated_pickle_is_refused(folder):
    use_pickle(folder)
    path = folder / "model_state.pdparams"
    path.write_bytes(path.read_bytes()[:3000])
    with pytest.raises(ModelError, match="not a readable parameter file"):
        load(folder, allow_pickle=True)


def shard(folder, first_name):
    arrays = load_file(folder / "model.safetensors")
    names = sorted(arrays)
    parts = {first_name: names[:10], "part-2.safetensors": names[10:]}
    (folder / "model.safetensors").unlink()
    for file_name, part in parts.items():
        save_file({name: arrays[name] for name in part}, folder / file_name)
    weight_map = {name: file_name for file_name, part in parts.items() for name in part}
    (folder / "model.safetensors.index.json").write_text(json.dumps({"weight_map": weight_map}), encoding="utf-8")


def test_sharded_folder_loads(folder):
    shard(folder, "part-1.safetensors")
    assert load(folder).missing == ()


def test_index_cannot_leave_the_folder(folder):
    shard(folder, "../outside.safetensors")
    with pytest.raises(ModelError, match="outside"):
        load(folder)


@pytest.mark.parametrize("name", ["\ud800.safetensors", "a\0b.safetensors", "a" * 300, 7])
def test_index_names_files_by_plain_text(folder, name):
    shard(folder, "part-1.safetensors")
    (folder / "model.safetensors.index.json").write_text(json.dumps({"weight_map": {"a": name}}), encoding="utf-8")
    with pytest.raises(ModelError, match="a plain file in the same folder"):
        load(folder)


def test_a_model_folder_that_is_not_there_is_told_as_that(tmp_path):
    (tmp_path / "file").write_text("x", encoding="utf-8")
    for name, what in (("nope", "is not there"), ("file", "is not a folder")):
        for look in (find_vocabulary, lambda config: load_encoder(config, vocab_size=60, pad_id=0, seed=0)):
            with pytest.raises(ModelError, match=rf"{name}\n  {what}"):
                look(ModelConfig(path=str(tmp_path / name)))


def test_vocabulary_larger_than_the_table_is_refused(folder):
    with pytest.raises(ModelError, match="61 ids, the model's table 60 rows"):
        load_encoder(ModelConfig(path=str(folder)), vocab_size=61, pad_id=0, seed=0)


def test_empty_folder_says_what_is_missing(tmp_path):
    with pytest.raises(ModelError, match=r"config\.json\n.*is not there"):
        load(tmp_path)


def test_dropout_setting_overrides_the_config(folder):
    assert load(folder).config.hidden_dropout_prob == pytest.approx(0.0)
    assert load(folder, dropout=0.25).config.attention_probs_dropout_prob == 0.25


def test_missing_download_says_what_to_do_offline(monkeypatch):
    import paddlenlp.utils.download as download

    def fail(*_, **__):
        raise OSError("no network\nsecond line")

    monkeypatch.setattr(download, "resolve_file_path", fail)
    with pytest.raises(ModelError, match=r"no network(?s:.)*ernie-3\.0-medium-zh(?s:.)*set model\.path"):
        load_encoder(ModelConfig(name="ernie-3.0-medium-sz"), vocab_size=10, pad_id=0, seed=0)


def test_named_model_is_read_from_paddlenlps_cache(folder, monkeypatch, build_stack):
    import paddlenlp.utils.download as download

    use_pickle(folder)

    def resolve(_, names):
        found = [folder / name for name in names if (folder / name).is_file()]
        return str(found[0])

    monkeypatch.setattr(download, "resolve_file_path", resolve)
    loaded = load_encoder(ModelConfig(name="someone/my-ernie"), vocab_size=VOCAB_SIZE, pad_id=0, seed=0)
    assert loaded.source == "someone/my-ernie"
    name = "embeddings.word_embeddings.weight"
    assert np.array_equal(dict(loaded.encoder.named_parameters())[name].numpy(), build_stack().state()[f"ernie.{name}"])


def test_fresh_pooler_depends_on_the_seed_alone(folder):
    arrays = load_file(folder / "model.safetensors")
    save_file({n: a for n, a in arrays.items() if "pooler" not in n}, folder / "model.safetensors")

    def pooler(seed):
        loaded = load_encoder(ModelConfig(path=str(folder)), vocab_size=VOCAB_SIZE, pad_id=0, seed=seed)
        return loaded.encoder.pooler.dense.weight.numpy()

    assert np.array_equal(pooler(3), pooler(3))
    assert not np.array_equal(pooler(3), pooler(4))
    assert 0.01 < pooler(3).std() < 0.03


def test_values_of_a_model_are_known_without_building_it(folder, sizes):
    assert model_values(ModelConfig(path=str(folder)), vocab_size=VOCAB_SIZE, pad_id=0)["hidden_size"] == 32
    assert model_values(sizes, vocab_size=77, pad_id=0)["vocab_size"] == 77
    named = model_values(ModelConfig(name="ernie-3.0-medium-zh"), vocab_size=40_000, pad_id=0)
    assert 75e6 < num_parameters(named) < 77e6


def test_number_of_parameters_is_that_of_the_built_model(sizes):
    loaded = load_encoder(sizes, vocab_size=VOCAB_SIZE, pad_id=0, seed=0)
    built = sum(int(np.prod(p.shape)) for p in loaded.encoder.parameters())
    assert num_parameters(model_values(sizes, vocab_size=VOCAB_SIZE, pad_id=0)) == built


@pytest.mark.parametrize("fast", [False, True])
def test_padding_is_masked_whatever_id_the_vocabulary_gives_it(sizes, fast):
    loaded = load_encoder(sizes, vocab_size=VOCAB_SIZE, pad_id=4, seed=0)
    stack = build_classifier(loaded, num_labels=3, seed=0)
    stack.eval()
    stack.use_fast_ops(fast)
    row = [[1, 7, 8, 0, 9, 2]]  # 0 is a token like any other here
    padded = [[*row[0], 4, 4, 4]]
    logits = [stack(ids, paddle.zeros_like(ids)).numpy() for ids in map(paddle.to_tensor, (row, padded))]
    np.testing.assert_allclose(logits[0], logits[1], atol=1e-6)


def test_a_vocabulary_with_another_padding_id_than_the_models_is_refused(folder):
    with pytest.raises(ModelError, match=r"pad_token_id is 0, and \[PAD\] has id 4"):
        load_encoder(ModelConfig(path=str(folder)), vocab_size=VOCAB_SIZE, pad_id=4, seed=0)
