"""ERNIE as a flat stack of layers: loaded, headed, with its losses.

Import from the modules: `ernie` loads and builds, `stack` is the model, `losses` its objectives, `sizes` plain numbers.
Nothing is listed here, so that the plain modules can be had without Paddle.
"""
