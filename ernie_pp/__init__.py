"""Fine-tune ERNIE for Chinese text and hand over a checked Paddle Inference bundle."""

__version__ = "0.1.0"
