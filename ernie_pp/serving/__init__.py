"""Using a bundle: the Predictor."""

from ernie_pp.serving.predictor import Predictor

__all__ = ["Predictor"]
