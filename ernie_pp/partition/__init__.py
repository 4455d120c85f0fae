"""Cutting a stack of layers into pipeline stages: plain numbers in, plain numbers out, no Paddle."""
