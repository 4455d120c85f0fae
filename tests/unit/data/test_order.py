import numpy as np
import pytest

from ernie_pp.data.order import order_steps, shard_step

LENGTHS = np.random.RandomState(0).randint(3, 200, size=1003)


def steps_of(*, seed=42, epoch=0, lengths=LENGTHS, batch_size=32, bucket_batches=5):
    return order_steps(lengths, batch_size=batch_size, bucket_batches=bucket_batches, seed=seed, epoch=epoch)


@pytest.mark.parametrize("num_rows", [1, 31, 32, 33, 160, 161, 1003])
@pytest.mark.parametrize("bucket_batches", [1, 5, 50])
def test_every_row_comes_once_in_full_batches_and_one_rest(num_rows, bucket_batches):
    steps = steps_of(lengths=LENGTHS[:num_rows], bucket_batches=bucket_batches)
    assert sorted(np.concatenate(steps)) == list(range(num_rows))
    assert [len(step) for step in steps[:-1]] == [32] * (len(steps) - 1)
    assert len(steps) == -(-num_rows // 32)


def test_order_is_a_function_of_seed_and_epoch():
    again = steps_of()
    assert all(np.array_equal(one, other) for one, other in zip(steps_of(), again, strict=True))
    for other in (steps_of(seed=43), steps_of(epoch=1)):
        assert not np.array_equal(np.concatenate(again), np.concatenate(other))


def test_order_stays_the_same_in_later_versions():
    steps = order_steps(np.arange(10), batch_size=3, bucket_batches=2, seed=7, epoch=2)
    assert [step.tolist() for step in steps] == [[1, 3, 9], [6, 7, 8], [0, 4, 5], [2]]


def test_batches_hold_rows_of_like_lengths_in_a_shuffled_order():
    steps = steps_of(bucket_batches=10)[:-1]
    spread = np.mean([LENGTHS[step].max() - LENGTHS[step].min() for step in steps])
    assert spread < 0.25 * (LENGTHS.max() - LENGTHS.min())
    means = [LENGTHS[step].mean() for step in steps]
    assert means != sorted(means) and means != sorted(means, reverse=True)


def test_the_rest_is_not_always_the_longest_rows():
    rests = [LENGTHS[steps_of(epoch=epoch)[-1]].mean() for epoch in range(20)]
    assert abs(np.mean(rests) - LENGTHS.mean()) < 15


@pytest.mark.parametrize("num_ranks", [1, 2, 3, 4])
def test_replicas_share_each_step_evenly(num_ranks):
    for step in steps_of():
        shards = [shard_step(step, rank=rank, num_ranks=num_ranks) for rank in range(num_ranks)]
        assert sorted(np.concatenate(shards)) == sorted(step)
        assert max(map(len, shards)) - min(map(len, shards)) <= 1
        tokens = [LENGTHS[shard].sum() for shard in shards]
        assert len(step) < 32 or max(tokens) < 1.3 * min(tokens)


def test_a_replica_without_a_row_in_a_small_step_gets_none():
    assert [len(shard_step(np.array([5, 9]), rank=rank, num_ranks=4)) for rank in range(4)] == [1, 1, 0, 0]
