"""What the layers of a stack cost: the only thing the cut is decided from."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class LayerCost:
    """One layer of the flat list (embeddings, block 0 .. block L-1, head), for one micro-batch."""

    name: str  # "embeddings", "block 3", "head"
    forward_s: float
    backward_s: float  # without the second forward pass of a recomputed layer
    parameter_bytes: int
    activation_bytes: int  # kept from the forward to the backward pass
    recomputed_bytes: int  # kept instead where the layer is recomputed: its input
    output_bytes: int  # handed to the next layer; its gradient is as large
    can_recompute: bool = False


@dataclass(frozen=True)
class Link:
    """The way between two neighbouring stages."""

    bytes_per_s: float
    latency_s: float = 0.0

    def transfer_s(self, num_bytes: int) -> float:
        """Seconds for one message."""
        return self.latency_s + num_bytes / self.bytes_per_s


@dataclass(frozen=True)
class DeviceCosts:
    """What does not belong to one layer."""

    base_bytes: int  # Paddle itself, loaded
    state_factor: float  # bytes of weights, gradients and optimizer state a byte of weights (AdamW in fp32: 4)
    update_s_per_byte: float  # optimizer, clipping and checks, a byte of weights
    step_s: float  # fixed part of a step
    reduce_bytes_per_s: float  # of gradients summed over replicas


@dataclass(frozen=True)
class StackCosts:
    """All that a plan is solved from."""

    layers: tuple[LayerCost, ...]
    link: Link
    device: DeviceCosts
