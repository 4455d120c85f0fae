"""The forward pass of several replicas: answers in order, and a sign of progress for each micro-batch."""

import numpy as np
from safetensors.numpy import save

from ernie_pp.parallel.beats import Beats
from ernie_pp.parallel.sharing import AT_ONCE, forward_together
from ernie_pp.parallel.topology import Grid
from ernie_pp.parallel.world import World


class _First:
    """The talk of rank 0 with a second replica, whose answers are -1."""

    rank, num_ranks = 0, 2

    def gather(self, value):
        return [value, save({str(index): np.float32([-1]) for index in range(1, 2 * AT_ONCE, 2)})]

    def broadcast(self, value):
        return value


class _Counted(Beats):
    def __init__(self):
        self.count = 0
        super().__init__()

    def beat(self):
        self.count += 1


class _Rounds:
    """Answers with the micro-batch, and notes how many beats there were before each."""

    def __init__(self, beats):
        self.beats, self.counts = beats, []

    def forward(self, micro_batches):
        for batch in micro_batches:
            self.counts.append(self.beats.count)
            yield np.float32([batch])


def test_every_micro_batch_is_answered_in_order_and_is_a_beat():
    beats = _Counted()
    rounds, num_batches = _Rounds(beats), 2 * AT_ONCE + 1
    answers = forward_together(rounds, range(num_batches), World(Grid(replicas=2), _First(), beats=beats))
    assert [float(answer[0]) for answer in answers] == [-1 if n % 2 else n for n in range(num_batches)]
    assert rounds.counts == list(range(AT_ONCE + 1))
