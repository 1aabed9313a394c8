"""Layers: the base class and the built-in layers; each module is imported at its first use."""

from typing import TYPE_CHECKING

from framework.core.lazy import lazy as _lazy
from framework.core.lazy import table as _table

_NAMES = _table({
    "framework.layers.activation": "ELU LeakyReLU PReLU ReLU Softmax",
    "framework.layers.attention": "AdditiveAttention Attention",
    "framework.layers.base": "Layer",
    "framework.layers.batch_normalization": "BatchNormalization",
    "framework.layers.categorical": "CategoryEncoding Discretization",
    "framework.layers.convolution": "Conv1D Conv2D Conv3D",
    "framework.layers.core": "Activation Dense Dropout Identity Input InputLayer Lambda",
    "framework.layers.depthwise": """
        DepthwiseConv1D DepthwiseConv2D SeparableConv1D SeparableConv2D""",
    "framework.layers.einsum_dense": "EinsumDense",
    "framework.layers.embedding": "Embedding ReversibleEmbedding",
    "framework.layers.grouped_query": "GroupedQueryAttention",
    "framework.layers.hashing": "Hashing",
    "framework.layers.lookup": "IntegerLookup StringLookup",
    "framework.layers.merging": """
        Add Average Concatenate Dot Maximum Minimum Multiply Subtract add average concatenate
        dot maximum minimum multiply subtract""",
    "framework.layers.multi_head": "MultiHeadAttention",
    "framework.layers.noise": """
        ActivityRegularization AlphaDropout GaussianDropout GaussianNoise SpatialDropout1D
        SpatialDropout2D SpatialDropout3D""",
    "framework.layers.normalization": """
        GroupNormalization LayerNormalization RMSNormalization UnitNormalization""",
    "framework.layers.padding": """
        Cropping1D Cropping2D Cropping3D ZeroPadding1D ZeroPadding2D ZeroPadding3D""",
    "framework.layers.pooling": """
        AdaptiveAveragePooling1D AdaptiveAveragePooling2D AdaptiveAveragePooling3D
        AdaptiveMaxPooling1D AdaptiveMaxPooling2D AdaptiveMaxPooling3D AveragePooling1D
        AveragePooling2D AveragePooling3D GlobalAveragePooling1D GlobalAveragePooling2D
        GlobalAveragePooling3D GlobalMaxPooling1D GlobalMaxPooling2D GlobalMaxPooling3D
        MaxPooling1D MaxPooling2D MaxPooling3D""",
    "framework.layers.preprocessing": "Normalization Rescaling",
    "framework.layers.recurrent.bidirectional": "Bidirectional",
    "framework.layers.recurrent.cells": "GRUCell LSTMCell SimpleRNNCell",
    "framework.layers.recurrent.convolutional": "ConvLSTM1D ConvLSTM2D ConvLSTM3D",
    "framework.layers.recurrent.layers": "GRU LSTM SimpleRNN",
    "framework.layers.recurrent.masking": "Masking",
    "framework.layers.recurrent.rnn": "RNN",
    "framework.layers.recurrent.stacked": "StackedRNNCells",
    "framework.layers.recurrent.time_distributed": "TimeDistributed Wrapper",
    "framework.layers.reshaping": "Flatten Permute RepeatVector Reshape",
    "framework.layers.spec": "InputSpec",
    "framework.layers.spectral": "SpectralNormalization",
    "framework.layers.text": "TextVectorization",
    "framework.layers.transposed": "Conv1DTranspose Conv2DTranspose Conv3DTranspose",
    "framework.layers.upsampling": "UpSampling1D UpSampling2D UpSampling3D",
})  # fmt: skip
__all__ = list(_NAMES)

__getattr__, __dir__ = _lazy(__name__, _NAMES)

if TYPE_CHECKING:
    from framework.layers.activation import (
        ELU as ELU,
    )
    from framework.layers.activation import (
        LeakyReLU as LeakyReLU,
    )
    from framework.layers.activation import (
        PReLU as PReLU,
    )
    from framework.layers.activation import (
        ReLU as ReLU,
    )
    from framework.layers.activation import (
        Softmax as Softmax,
    )
    from framework.layers.attention import (
        AdditiveAttention as AdditiveAttention,
    )
    from framework.layers.attention import (
        Attention as Attention,
    )
    from framework.layers.base import Layer as Layer
    from framework.layers.batch_normalization import BatchNormalization as BatchNormalization
    from framework.layers.categorical import (
        CategoryEncoding as CategoryEncoding,
    )
    from framework.layers.categorical import (
        Discretization as Discretization,
    )
    from framework.layers.convolution import Conv1D as Conv1D
    from framework.layers.convolution import Conv2D as Conv2D
    from framework.layers.convolution import Conv3D as Conv3D
    from framework.layers.core import (
        Activation as Activation,
    )
    from framework.layers.core import (
        Dense as Dense,
    )
    from framework.layers.core import (
        Dropout as Dropout,
    )
    from framework.layers.core import (
        Identity as Identity,
    )
    from framework.layers.core import (
        Input as Input,
    )
    from framework.layers.core import (
        InputLayer as InputLayer,
    )
    from framework.layers.core import (
        Lambda as Lambda,
    )
    from framework.layers.depthwise import (
        DepthwiseConv1D as DepthwiseConv1D,
    )
    from framework.layers.depthwise import (
        DepthwiseConv2D as DepthwiseConv2D,
    )
    from framework.layers.depthwise import (
        SeparableConv1D as SeparableConv1D,
    )
    from framework.layers.depthwise import (
        SeparableConv2D as SeparableConv2D,
    )
    from framework.layers.einsum_dense import EinsumDense as EinsumDense
    from framework.layers.embedding import (
        Embedding as Embedding,
    )
    from framework.layers.embedding import (
        ReversibleEmbedding as ReversibleEmbedding,
    )
    from framework.layers.grouped_query import GroupedQueryAttention as GroupedQueryAttention
    from framework.layers.hashing import Hashing as Hashing
    from framework.layers.lookup import IntegerLookup as IntegerLookup
    from framework.layers.lookup import StringLookup as StringLookup
    from framework.layers.merging import (
        Add as Add,
    )
    from framework.layers.merging import (
        Average as Average,
    )
    from framework.layers.merging import (
        Concatenate as Concatenate,
    )
    from framework.layers.merging import (
        Dot as Dot,
    )
    from framework.layers.merging import (
        Maximum as Maximum,
    )
    from framework.layers.merging import (
        Minimum as Minimum,
    )
    from framework.layers.merging import (
        Multiply as Multiply,
    )
    from framework.layers.merging import (
        Subtract as Subtract,
    )
    from framework.layers.merging import (
        add as add,
    )
    from framework.layers.merging import (
        average as average,
    )
    from framework.layers.merging import (
        concatenate as concatenate,
    )
    from framework.layers.merging import (
        dot as dot,
    )
    from framework.layers.merging import (
        maximum as maximum,
    )
    from framework.layers.merging import (
        minimum as minimum,
    )
    from framework.layers.merging import (
        multiply as multiply,
    )
    from framework.layers.merging import (
        subtract as subtract,
    )
    from framework.layers.multi_head import MultiHeadAttention as MultiHeadAttention
    from framework.layers.noise import (
        ActivityRegularization as ActivityRegularization,
    )
    from framework.layers.noise import (
        AlphaDropout as AlphaDropout,
    )
    from framework.layers.noise import (
        GaussianDropout as GaussianDropout,
    )
    from framework.layers.noise import (
        GaussianNoise as GaussianNoise,
    )
    from framework.layers.noise import (
        SpatialDropout1D as SpatialDropout1D,
    )
    from framework.layers.noise import (
        SpatialDropout2D as SpatialDropout2D,
    )
    from framework.layers.noise import (
        SpatialDropout3D as SpatialDropout3D,
    )
    from framework.layers.normalization import (
        GroupNormalization as GroupNormalization,
    )
    from framework.layers.normalization import (
        LayerNormalization as LayerNormalization,
    )
    from framework.layers.normalization import (
        RMSNormalization as RMSNormalization,
    )
    from framework.layers.normalization import (
        UnitNormalization as UnitNormalization,
    )
    from framework.layers.padding import (
        Cropping1D as Cropping1D,
    )
    from framework.layers.padding import (
        Cropping2D as Cropping2D,
    )
    from framework.layers.padding import (
        Cropping3D as Cropping3D,
    )
    from framework.layers.padding import (
        ZeroPadding1D as ZeroPadding1D,
    )
    from framework.layers.padding import (
        ZeroPadding2D as ZeroPadding2D,
    )
    from framework.layers.padding import (
        ZeroPadding3D as ZeroPadding3D,
    )
    from framework.layers.pooling import (
        AdaptiveAveragePooling1D as AdaptiveAveragePooling1D,
    )
    from framework.layers.pooling import (
        AdaptiveAveragePooling2D as AdaptiveAveragePooling2D,
    )
    from framework.layers.pooling import (
        AdaptiveAveragePooling3D as AdaptiveAveragePooling3D,
    )
    from framework.layers.pooling import (
        AdaptiveMaxPooling1D as AdaptiveMaxPooling1D,
    )
    from framework.layers.pooling import (
        AdaptiveMaxPooling2D as AdaptiveMaxPooling2D,
    )
    from framework.layers.pooling import (
        AdaptiveMaxPooling3D as AdaptiveMaxPooling3D,
    )
    from framework.layers.pooling import (
        AveragePooling1D as AveragePooling1D,
    )
    from framework.layers.pooling import (
        AveragePooling2D as AveragePooling2D,
    )
    from framework.layers.pooling import (
        AveragePooling3D as AveragePooling3D,
    )
    from framework.layers.pooling import (
        GlobalAveragePooling1D as GlobalAveragePooling1D,
    )
    from framework.layers.pooling import (
        GlobalAveragePooling2D as GlobalAveragePooling2D,
    )
    from framework.layers.pooling import (
        GlobalAveragePooling3D as GlobalAveragePooling3D,
    )
    from framework.layers.pooling import (
        GlobalMaxPooling1D as GlobalMaxPooling1D,
    )
    from framework.layers.pooling import (
        GlobalMaxPooling2D as GlobalMaxPooling2D,
    )
    from framework.layers.pooling import (
        GlobalMaxPooling3D as GlobalMaxPooling3D,
    )
    from framework.layers.pooling import (
        MaxPooling1D as MaxPooling1D,
    )
    from framework.layers.pooling import (
        MaxPooling2D as MaxPooling2D,
    )
    from framework.layers.pooling import (
        MaxPooling3D as MaxPooling3D,
    )
    from framework.layers.preprocessing import (
        Normalization as Normalization,
    )
    from framework.layers.preprocessing import (
        Rescaling as Rescaling,
    )
    from framework.layers.recurrent.bidirectional import Bidirectional as Bidirectional
    from framework.layers.recurrent.cells import (
        GRUCell as GRUCell,
    )
    from framework.layers.recurrent.cells import (
        LSTMCell as LSTMCell,
    )
    from framework.layers.recurrent.cells import (
        SimpleRNNCell as SimpleRNNCell,
    )
    from framework.layers.recurrent.convolutional import (
        ConvLSTM1D as ConvLSTM1D,
    )
    from framework.layers.recurrent.convolutional import (
        ConvLSTM2D as ConvLSTM2D,
    )
    from framework.layers.recurrent.convolutional import (
        ConvLSTM3D as ConvLSTM3D,
    )
    from framework.layers.recurrent.layers import GRU as GRU
    from framework.layers.recurrent.layers import LSTM as LSTM
    from framework.layers.recurrent.layers import SimpleRNN as SimpleRNN
    from framework.layers.recurrent.masking import Masking as Masking
    from framework.layers.recurrent.rnn import RNN as RNN
    from framework.layers.recurrent.stacked import StackedRNNCells as StackedRNNCells
    from framework.layers.recurrent.time_distributed import (
        TimeDistributed as TimeDistributed,
    )
    from framework.layers.recurrent.time_distributed import (
        Wrapper as Wrapper,
    )
    from framework.layers.reshaping import (
        Flatten as Flatten,
    )
    from framework.layers.reshaping import (
        Permute as Permute,
    )
    from framework.layers.reshaping import (
        RepeatVector as RepeatVector,
    )
    from framework.layers.reshaping import (
        Reshape as Reshape,
    )
    from framework.layers.spec import InputSpec as InputSpec
    from framework.layers.spectral import SpectralNormalization as SpectralNormalization
    from framework.layers.text import TextVectorization as TextVectorization
    from framework.layers.transposed import (
        Conv1DTranspose as Conv1DTranspose,
    )
    from framework.layers.transposed import (
        Conv2DTranspose as Conv2DTranspose,
    )
    from framework.layers.transposed import (
        Conv3DTranspose as Conv3DTranspose,
    )
    from framework.layers.upsampling import (
        UpSampling1D as UpSampling1D,
    )
    from framework.layers.upsampling import (
        UpSampling2D as UpSampling2D,
    )
    from framework.layers.upsampling import (
        UpSampling3D as UpSampling3D,
    )
