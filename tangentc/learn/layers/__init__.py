"""Layers: plain dataclasses with parameters as attributes and a call."""

# ruff: noqa: I001
# fmt: off
from tangentc.learn.layers.basic import Dropout, Embedding, Linear, Residual, Sequential, flatten
from tangentc.learn.layers.initialisers import (
    glorot_normal, glorot_uniform, he_normal, he_uniform, orthogonal, truncated_normal,
)
from tangentc.learn.layers.norms import BatchNorm, GroupNorm, InstanceNorm, LayerNorm, RMSNorm
from tangentc.learn.layers.sequences import GRU, LSTM, RNN, MultiHeadAttention, TransformerBlock
from tangentc.learn.layers.spatial import AveragePool, Conv, ConvTranspose, MaxPool

__all__ = [
    "GRU", "LSTM", "RNN", "AveragePool", "BatchNorm", "Conv", "ConvTranspose", "Dropout", "Embedding", "GroupNorm",
    "InstanceNorm", "LayerNorm", "Linear", "MaxPool", "MultiHeadAttention", "RMSNorm", "Residual", "Sequential",
    "TransformerBlock", "flatten", "glorot_normal", "glorot_uniform", "he_normal", "he_uniform", "orthogonal",
    "truncated_normal",
]
