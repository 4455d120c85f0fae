"""Steps of one process: updates, evaluation, resume, values that are not finite."""

import dataclasses
import re

import numpy as np
import pytest

from ernie_pp.errors import NumericError


def test_training_lowers_the_loss(make_engine, cut):
    engine = make_engine(learning_rate=3e-3)
    losses = [engine.train_step(cut([6, 6]), step=step).loss for step in range(15)]
    assert losses[-1] < 0.5 * losses[0]


def test_evaluation_streams_logits_without_dropout_and_without_gradient(make_engine, cut):
    engine = make_engine(dropout=0.5)
    taken = []

    def batches():
        for batch in cut([4, 8]):
            taken.append(len(batch.input_ids))
            yield batch

    logits = engine.forward(batches())
    first = next(logits)
    assert taken == [4]
    assert first.shape == (4, 3) and first.dtype == np.float32
    assert np.array_equal(first, next(engine.forward(cut([4, 8]))))
    assert all(p.grad is None for p in engine.stack.parameters())


def test_rows_without_targets_can_be_computed(make_engine, cut):
    batches = [dataclasses.replace(batch, targets=None) for batch in cut([12])]
    assert next(make_engine().forward(batches)).shape == (12, 3)


def test_evaluation_between_steps_changes_nothing(make_engine, cut):
    plain, evaluated = make_engine(dropout=0.2), make_engine(dropout=0.2)
    for step in range(3):
        list(evaluated.forward(cut([12])))
        assert plain.train_step(cut([12]), step=step) == evaluated.train_step(cut([12]), step=step)


@pytest.mark.parametrize("settings", [{}, {"rdrop_alpha": 1.0, "fgm_epsilon": 0.3, "layer_decay": 0.8}])
def test_resumed_run_has_the_same_losses_to_the_bit(make_engine, cut, settings):
    whole = make_engine(dropout=0.2, **settings)
    expected = [whole.train_step(cut([5, 7]), step=step) for step in range(5)]
    first, second = make_engine(dropout=0.2, **settings), make_engine(dropout=0.2, **settings)
    for step in range(3):
        first.train_step(cut([5, 7]), step=step)
    second.load_state(first.state())
    assert [second.train_step(cut([5, 7]), step=step) for step in (3, 4)] == expected[3:]
    weights = whole.state().weights
    assert all(np.array_equal(weights[name], value) for name, value in second.state().weights.items())


def test_state_is_a_copy(make_engine, cut):
    engine = make_engine()
    engine.train_step(cut([12]), step=0)
    state = engine.state()
    before = {name: value.copy() for name, value in {**state.weights, **state.optimizer}.items()}
    engine.train_step(cut([12]), step=1)
    assert all(np.array_equal(before[name], value) for name, value in {**state.weights, **state.optimizer}.items())


def poison(engine, name="ernie.encoder.layers.1.linear1.bias"):
    parameter = engine.stack.canonical_parameters()[name]
    parameter.set_value(np.full(parameter.shape, np.nan, np.float32))


def test_step_that_is_not_finite_leaves_weights_and_optimizer_alone(make_engine, cut):
    engine = make_engine()
    engine.train_step(cut([12]), step=0)
    poison(engine)
    before = engine.state()
    result = engine.train_step(cut([12]), step=1)
    assert result.is_skipped and engine.skipped.count == 1
    after = engine.state()
    for old, new in ((before.weights, after.weights), (before.optimizer, after.optimizer)):
        assert all(np.array_equal(new[name], value, equal_nan=True) for name, value in old.items())
    assert all(p.grad is None for p in engine.stack.parameters())


def test_third_bad_step_in_a_row_names_parameter_and_rows(make_engine, cut):
    engine = make_engine()
    good = engine.state()
    for step in range(4):  # two bad ones, then a good one: the count starts again
        if step < 2:
            poison(engine)
        else:
            engine.load_state(good)
        engine.train_step(cut([12]), step=step)
    poison(engine)
    engine.train_step(cut([12]), step=4)
    engine.train_step(cut([12]), step=5)
    with pytest.raises(NumericError, match=r"step 7(?s:.)*ernie\.(?s:.)*rows: 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, \.\.\."):
        engine.train_step(cut([12]), step=6)


def test_only_the_rows_of_the_bad_micro_batch_are_named(make_engine, cut):
    engine = make_engine()
    batches = cut([9, 3])
    word = int(batches[1].input_ids[1, 0])
    for batch in batches:
        batch.input_ids[batch.input_ids == word] = 1
    batches[1].input_ids[1, 0] = word
    table = engine.stack.canonical_parameters()["ernie.embeddings.word_embeddings.weight"]
    values = table.numpy().copy()
    values[word] = np.inf
    table.set_value(values)
    engine.train_step(batches, step=0)
    engine.train_step(batches, step=1)
    with pytest.raises(NumericError, match=r"rows: 9, 10, 11\n"):
        engine.train_step(batches, step=2)


def test_each_skipped_step_names_parameter_stage_and_rows(make_engine, cut, caplog):
    engine = make_engine()
    poison(engine)
    engine.train_step(cut([12]), step=4)
    (told,) = [record.getMessage() for record in caplog.records if record.levelname == "WARNING"]
    assert re.search(r"step 5: .* \(1 skipped so far\); .* ernie\.\S+ \(stage 0\); rows: 0, 1, 2", told)


def test_a_resumed_run_goes_on_counting_bad_steps(make_engine, cut):
    engine, resumed = make_engine(), make_engine()
    for one, steps in ((engine, (0, 1)), (resumed, ())):
        poison(one)
        for step in steps:
            one.train_step(cut([12]), step=step)
    resumed.skipped.load_state(engine.skipped.state())
    with pytest.raises(NumericError, match="3 steps in a row"):
        resumed.train_step(cut([12]), step=2)
    assert resumed.skipped.count == 3
