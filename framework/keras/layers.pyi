from framework.layers import *
from framework.layers.convolution import (
    Conv1D as Convolution1D, Conv2D as Convolution2D, Conv3D as Convolution3D,
)  # fmt: skip
from framework.layers.depthwise import (
    SeparableConv1D as SeparableConvolution1D, SeparableConv2D as SeparableConvolution2D,
)  # fmt: skip
from framework.layers.pooling import (
    AveragePooling1D as AvgPool1D, AveragePooling2D as AvgPool2D, AveragePooling3D as AvgPool3D,
    GlobalAveragePooling1D as GlobalAvgPool1D, GlobalAveragePooling2D as GlobalAvgPool2D,
    GlobalAveragePooling3D as GlobalAvgPool3D, GlobalMaxPooling1D as GlobalMaxPool1D,
    GlobalMaxPooling2D as GlobalMaxPool2D, GlobalMaxPooling3D as GlobalMaxPool3D,
    MaxPooling1D as MaxPool1D, MaxPooling2D as MaxPool2D, MaxPooling3D as MaxPool3D,
)  # fmt: skip
from framework.layers.transposed import (
    Conv1DTranspose as Convolution1DTranspose, Conv2DTranspose as Convolution2DTranspose,
    Conv3DTranspose as Convolution3DTranspose,
)  # fmt: skip
