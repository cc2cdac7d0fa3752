"""Pure functions on arrays, for the layers and the losses of networks."""

# ruff: noqa: I001
# fmt: off
from tangentc.learn.functions.activations import (
    elu, gelu, leaky_relu, log_softmax, normal_distribution, relu, sigmoid, silu, softmax, softplus, tanh,
)
from tangentc.learn.functions.alignment import ctc
from tangentc.learn.functions.attention import attention, join_heads, multi_head_attention, padding_mask, split_heads
from tangentc.learn.functions.convolution import conv, conv_input, conv_transpose, conv_weight
from tangentc.learn.functions.dense import dropout, embedding, linear
from tangentc.learn.functions.losses import (
    binary_cross_entropy, cross_entropy, hinge, huber, kl_divergence, mean_square, negative_log_likelihood,
    triplet,
)
from tangentc.learn.functions.normalisation import (
    batch_norm, group_norm, instance_norm, layer_norm, rms_norm, standardise,
)
from tangentc.learn.functions.pooling import (
    adaptive_average_pool, adaptive_max_pool, average_pool, global_average_pool, global_max_pool, max_pool,
)
from tangentc.learn.functions.recurrent import gru, gru_cell, lstm, lstm_cell, rnn, rnn_cell, zero_state

__all__ = [
    "adaptive_average_pool", "adaptive_max_pool", "attention", "average_pool", "batch_norm", "binary_cross_entropy",
    "conv", "conv_input", "conv_transpose", "conv_weight", "cross_entropy", "ctc", "dropout", "elu", "embedding",
    "gelu", "global_average_pool", "global_max_pool", "group_norm", "gru", "gru_cell", "hinge", "huber",
    "instance_norm", "join_heads", "kl_divergence", "layer_norm", "leaky_relu", "linear", "log_softmax", "lstm",
    "lstm_cell", "max_pool", "mean_square", "multi_head_attention", "negative_log_likelihood", "normal_distribution",
    "padding_mask", "relu", "rms_norm", "rnn", "rnn_cell", "sigmoid", "silu", "softmax", "softplus", "split_heads",
    "standardise", "tanh", "triplet", "zero_state",
]
