"""A real pretrained folder, against PaddleNLP's own loader."""

import numpy as np
import paddle

from ernie_pp.config.schema import ModelConfig
from ernie_pp.models.ernie import build_classifier, find_vocabulary, load_encoder
from ernie_pp.models.light_import import import_ernie


def test_pretrained_encoder_equals_paddlenlps_to_the_bit(tiny_ernie):
    config = ModelConfig(path=str(tiny_ernie))
    loaded = load_encoder(config, vocab_size=40_000, pad_id=0, seed=0)
    theirs = import_ernie().modeling.ErnieModel.from_pretrained(str(tiny_ernie))
    ids = paddle.to_tensor(np.random.default_rng(0).integers(1, 40_000, (3, 20)))
    theirs.eval()
    stack = build_classifier(loaded, num_labels=2, seed=0)
    stack.eval()
    hidden, mask = stack.layers[0]((ids, paddle.zeros_like(ids)))
    for layer in stack.layers[1:-1]:
        hidden, mask = layer((hidden, mask))
    sequence, pooled = theirs(ids)
    assert np.array_equal(hidden.numpy(), sequence.numpy())
    assert np.array_equal(stack.layers[-1].pooler(hidden).numpy(), pooled.numpy())
    assert find_vocabulary(config) == tiny_ernie / "vocab.txt"
