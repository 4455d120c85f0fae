"""A checked Paddle Inference bundle of a trained model, opened and run."""
