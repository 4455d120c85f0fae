"""The simulated stages compute in the order that Fleet's own classes print."""

import logging
import re
from types import SimpleNamespace

import pytest

from ernie_pp.partition.order import Pipeline, programs


@pytest.fixture(scope="module")
def fleet():
    return pytest.importorskip("paddle.distributed.fleet.meta_parallel.pipeline_parallel")


def _fleet_schedule(fleet, pipeline, stage):
    """What the stage of that number would do: Fleet's engine without a model, asked for its static schedule."""
    kind = fleet.PipelineParallelWithInterleave if pipeline.virtual_stages > 1 else fleet.PipelineParallel
    engine = object.__new__(kind)
    attributes = {
        "_profiling": False,
        "_overlap_p2p_comm": False,
        "_using_cache": True,
        "_best_unbalanced_scheduler": False,
        "processed_steps": 10**9,
        "user_hooks_enabled": True,
        "num_stages": pipeline.num_stages,
        "stage_id": stage,
        "accumulate_steps": pipeline.num_micro_batches,
        "num_model_chunks": pipeline.virtual_stages,
        "_virtual_pp_world_size": pipeline.virtual_stages,
        "_layers": object(),
        "bubble_hooks": SimpleNamespace(run_hook=lambda: None),
        "_strategy": SimpleNamespace(
            hybrid_configs={"pp_configs": SimpleNamespace(forward_backward_overlap_scheduler=False)}
        ),
        "_forward_micro_step_counter": dict.fromkeys(range(pipeline.virtual_stages), 0),
        "_backward_micro_step_counter": dict.fromkeys(range(pipeline.virtual_stages), 0),
        "_reset_user_hooks_status": lambda: None,
        "_wrap_data": lambda data: data,
        "_sync_overlap_grads": lambda: None,
        "set_virtual_pipeline_rank": lambda rank: None,
    }
    engine.__dict__.update(attributes)
    found = engine.forward_backward_pipeline(data=None, scaler=None, static_scheduler=True)
    return re.findall(r"([fb])(\d+)(?:_vp(\d+))?;", found)


@pytest.mark.parametrize(
    "pipeline",
    [
        Pipeline(1, 3),
        Pipeline(4, 2),
        Pipeline(4, 9),
        Pipeline(3, 6, virtual_stages=2),
        Pipeline(4, 16, virtual_stages=2),
        Pipeline(4, 8, virtual_stages=3),
    ],
    ids=str,
)
def test_the_passes_of_each_stage_are_in_fleets_order(fleet, pipeline, caplog):
    caplog.set_level(logging.CRITICAL)
    for stage, program in enumerate(programs(pipeline)):
        ours = [
            (work.kind[0], str(work.micro_batch), str(work.part // pipeline.num_stages))
            for verb, work in program
            if verb == "run"
        ]
        assert ours == [(kind, index, chunk or "0") for kind, index, chunk in _fleet_schedule(fleet, pipeline, stage)]
