"""Layers: the base class and the built-in ones."""

from framework.layers.activation import ELU, LeakyReLU, PReLU, ReLU, Softmax
from framework.layers.attention import AdditiveAttention, Attention
from framework.layers.base import Layer
from framework.layers.batch_normalization import BatchNormalization
from framework.layers.categorical import CategoryEncoding, Discretization
from framework.layers.convolution import Conv1D, Conv2D, Conv3D
from framework.layers.core import (
    Activation,
    Dense,
    Dropout,
    Identity,
    Input,
    InputLayer,
    Lambda,
)
from framework.layers.depthwise import (
    DepthwiseConv1D,
    DepthwiseConv2D,
    SeparableConv1D,
    SeparableConv2D,
)
from framework.layers.einsum_dense import EinsumDense
from framework.layers.embedding import Embedding, ReversibleEmbedding
from framework.layers.grouped_query import GroupedQueryAttention
from framework.layers.hashing import Hashing
from framework.layers.lookup import IntegerLookup, StringLookup
from framework.layers.merging import (
    Add,
    Average,
    Concatenate,
    Dot,
    Maximum,
    Minimum,
    Multiply,
    Subtract,
    add,
    average,
    concatenate,
    dot,
    maximum,
    minimum,
    multiply,
    subtract,
)
from framework.layers.multi_head import MultiHeadAttention
from framework.layers.noise import (
    ActivityRegularization,
    AlphaDropout,
    GaussianDropout,
    GaussianNoise,
    SpatialDropout1D,
    SpatialDropout2D,
    SpatialDropout3D,
)
from framework.layers.normalization import (
    GroupNormalization,
    LayerNormalization,
    RMSNormalization,
    UnitNormalization,
)
from framework.layers.padding import (
    Cropping1D,
    Cropping2D,
    Cropping3D,
    ZeroPadding1D,
    ZeroPadding2D,
    ZeroPadding3D,
)
from framework.layers.pooling import (
    AdaptiveAveragePooling1D,
    AdaptiveAveragePooling2D,
    AdaptiveAveragePooling3D,
    AdaptiveMaxPooling1D,
    AdaptiveMaxPooling2D,
    AdaptiveMaxPooling3D,
    AveragePooling1D,
    AveragePooling2D,
    AveragePooling3D,
    GlobalAveragePooling1D,
    GlobalAveragePooling2D,
    GlobalAveragePooling3D,
    GlobalMaxPooling1D,
    GlobalMaxPooling2D,
    GlobalMaxPooling3D,
    MaxPooling1D,
    MaxPooling2D,
    MaxPooling3D,
)
from framework.layers.preprocessing import Normalization, Rescaling
from framework.layers.recurrent.bidirectional import Bidirectional
from framework.layers.recurrent.cells import GRUCell, LSTMCell, SimpleRNNCell
from framework.layers.recurrent.convolutional import ConvLSTM1D, ConvLSTM2D, ConvLSTM3D
from framework.layers.recurrent.layers import GRU, LSTM, SimpleRNN
from framework.layers.recurrent.masking import Masking
from framework.layers.recurrent.rnn import RNN
from framework.layers.recurrent.stacked import StackedRNNCells
from framework.layers.recurrent.time_distributed import TimeDistributed, Wrapper
from framework.layers.reshaping import Flatten, Permute, RepeatVector, Reshape
from framework.layers.spec import InputSpec
from framework.layers.spectral import SpectralNormalization
from framework.layers.text import TextVectorization
from framework.layers.transposed import Conv1DTranspose, Conv2DTranspose, Conv3DTranspose
from framework.layers.upsampling import UpSampling1D, UpSampling2D, UpSampling3D

__all__ = [
    "ELU", "GRU", "LSTM", "RNN", "Activation", "ActivityRegularization", "AdaptiveAveragePooling1D",
    "AdaptiveAveragePooling2D", "AdaptiveAveragePooling3D", "AdaptiveMaxPooling1D",
    "AdaptiveMaxPooling2D", "AdaptiveMaxPooling3D", "Add", "AdditiveAttention", "AlphaDropout",
    "Attention", "Average", "AveragePooling1D", "AveragePooling2D", "AveragePooling3D",
    "BatchNormalization", "Bidirectional", "CategoryEncoding", "Concatenate", "Conv1D",
    "Conv1DTranspose", "Conv2D", "Conv2DTranspose", "Conv3D", "Conv3DTranspose", "ConvLSTM1D",
    "ConvLSTM2D", "ConvLSTM3D", "Cropping1D", "Cropping2D", "Cropping3D", "Dense",
    "DepthwiseConv1D", "DepthwiseConv2D", "Discretization", "Dot", "Dropout", "EinsumDense",
    "Embedding", "Flatten", "GRUCell", "GaussianDropout", "GaussianNoise", "GlobalAveragePooling1D",
    "GlobalAveragePooling2D", "GlobalAveragePooling3D", "GlobalMaxPooling1D", "GlobalMaxPooling2D",
    "GlobalMaxPooling3D", "GroupNormalization", "GroupedQueryAttention", "Hashing", "Identity",
    "Input", "InputLayer", "InputSpec", "IntegerLookup", "LSTMCell", "Lambda", "Layer",
    "LayerNormalization", "LeakyReLU", "Masking", "MaxPooling1D", "MaxPooling2D", "MaxPooling3D",
    "Maximum", "Minimum", "MultiHeadAttention", "Multiply", "Normalization", "PReLU", "Permute",
    "RMSNormalization", "ReLU", "RepeatVector", "Rescaling", "Reshape", "ReversibleEmbedding",
    "SeparableConv1D", "SeparableConv2D", "SimpleRNN", "SimpleRNNCell", "Softmax",
    "SpatialDropout1D", "SpatialDropout2D", "SpatialDropout3D", "SpectralNormalization",
    "StackedRNNCells", "StringLookup", "Subtract", "TextVectorization", "TimeDistributed",
    "UnitNormalization", "UpSampling1D", "UpSampling2D", "UpSampling3D", "Wrapper", "ZeroPadding1D",
    "ZeroPadding2D", "ZeroPadding3D", "add", "average", "concatenate", "dot", "maximum", "minimum",
    "multiply", "subtract",
]  # fmt: skip
