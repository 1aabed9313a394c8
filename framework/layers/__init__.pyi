from framework.layers.activation import (
    ELU as ELU, LeakyReLU as LeakyReLU, PReLU as PReLU, ReLU as ReLU, Softmax as Softmax,
    ThresholdedReLU as ThresholdedReLU,
)  # fmt: skip
from framework.layers.attention import (
    AdditiveAttention as AdditiveAttention, Attention as Attention,
)  # fmt: skip
from framework.layers.base import Layer as Layer
from framework.layers.batch_normalization import BatchNormalization as BatchNormalization
from framework.layers.categorical import (
    CategoryEncoding as CategoryEncoding, Discretization as Discretization,
)  # fmt: skip
from framework.layers.convolution import Conv1D as Conv1D, Conv2D as Conv2D, Conv3D as Conv3D
from framework.layers.core import (
    Activation as Activation, Dense as Dense, Dropout as Dropout, Identity as Identity,
    Input as Input, InputLayer as InputLayer, Lambda as Lambda,
)  # fmt: skip
from framework.layers.depthwise import (
    DepthwiseConv1D as DepthwiseConv1D, DepthwiseConv2D as DepthwiseConv2D,
    SeparableConv1D as SeparableConv1D, SeparableConv2D as SeparableConv2D,
)  # fmt: skip
from framework.layers.einsum_dense import EinsumDense as EinsumDense
from framework.layers.embedding import (
    Embedding as Embedding, ReversibleEmbedding as ReversibleEmbedding,
)  # fmt: skip
from framework.layers.grouped_query import GroupedQueryAttention
from framework.layers.hashing import HashedCrossing as HashedCrossing, Hashing as Hashing
from framework.layers.images.bounding_boxes import MaxNumBoundingBoxes as MaxNumBoundingBoxes
from framework.layers.images.colors import (
    RandomBrightness as RandomBrightness, RandomColorDegeneration as RandomColorDegeneration,
    RandomContrast as RandomContrast, RandomGrayscale as RandomGrayscale,
    RandomInvert as RandomInvert,
)  # fmt: skip
from framework.layers.images.filters import (
    RandomElasticTransform as RandomElasticTransform, RandomGaussianBlur as RandomGaussianBlur,
    RandomPerspective as RandomPerspective, RandomSharpness as RandomSharpness,
)  # fmt: skip
from framework.layers.images.geometry import (
    RandomFlip as RandomFlip, RandomRotation as RandomRotation, RandomShear as RandomShear,
    RandomTranslation as RandomTranslation, RandomZoom as RandomZoom,
)  # fmt: skip
from framework.layers.images.histograms import (
    ContrastLimitedAdaptiveHistogramEqualization as ContrastLimitedAdaptiveHistogramEqualization,
    Equalization as Equalization,
)  # fmt: skip
from framework.layers.images.hues import (
    RandomColorJitter as RandomColorJitter, RandomHue as RandomHue,
    RandomSaturation as RandomSaturation,
)  # fmt: skip
from framework.layers.images.mixing import (
    CutMix as CutMix, MixUp as MixUp, RandomErasing as RandomErasing,
)  # fmt: skip
from framework.layers.images.policies import AugMix as AugMix, RandAugment as RandAugment
from framework.layers.images.sizes import (
    CenterCrop as CenterCrop, RandomCrop as RandomCrop, Resizing as Resizing,
)  # fmt: skip
from framework.layers.images.tones import (
    AutoContrast as AutoContrast, RandomPosterization as RandomPosterization,
    Solarization as Solarization,
)  # fmt: skip
from framework.layers.lookup import IntegerLookup as IntegerLookup, StringLookup as StringLookup
from framework.layers.merging import (
    Add as Add, Average as Average, Concatenate as Concatenate, Dot as Dot, Maximum as Maximum,
    Minimum as Minimum, Multiply as Multiply, Subtract as Subtract, add as add, average as average,
    concatenate as concatenate, dot as dot, maximum as maximum, minimum as minimum,
    multiply as multiply, subtract as subtract,
)  # fmt: skip
from framework.layers.multi_head import MultiHeadAttention as MultiHeadAttention
from framework.layers.noise import (
    ActivityRegularization as ActivityRegularization, AlphaDropout as AlphaDropout,
    GaussianDropout as GaussianDropout, GaussianNoise as GaussianNoise,
    SpatialDropout1D as SpatialDropout1D, SpatialDropout2D as SpatialDropout2D,
    SpatialDropout3D as SpatialDropout3D,
)  # fmt: skip
from framework.layers.normalization import (
    GroupNormalization as GroupNormalization, LayerNormalization as LayerNormalization,
    RMSNormalization as RMSNormalization, UnitNormalization as UnitNormalization,
)  # fmt: skip
from framework.layers.padding import (
    Cropping1D as Cropping1D, Cropping2D as Cropping2D, Cropping3D as Cropping3D,
    ZeroPadding1D as ZeroPadding1D, ZeroPadding2D as ZeroPadding2D, ZeroPadding3D as ZeroPadding3D,
)  # fmt: skip
from framework.layers.pipeline import Pipeline as Pipeline
from framework.layers.pooling import (
    AdaptiveAveragePooling1D as AdaptiveAveragePooling1D,
    AdaptiveAveragePooling2D as AdaptiveAveragePooling2D,
    AdaptiveAveragePooling3D as AdaptiveAveragePooling3D,
    AdaptiveMaxPooling1D as AdaptiveMaxPooling1D, AdaptiveMaxPooling2D as AdaptiveMaxPooling2D,
    AdaptiveMaxPooling3D as AdaptiveMaxPooling3D, AveragePooling1D as AveragePooling1D,
    AveragePooling2D as AveragePooling2D, AveragePooling3D as AveragePooling3D,
    GlobalAveragePooling1D as GlobalAveragePooling1D,
    GlobalAveragePooling2D as GlobalAveragePooling2D,
    GlobalAveragePooling3D as GlobalAveragePooling3D, GlobalMaxPooling1D as GlobalMaxPooling1D,
    GlobalMaxPooling2D as GlobalMaxPooling2D, GlobalMaxPooling3D as GlobalMaxPooling3D,
    MaxPooling1D as MaxPooling1D, MaxPooling2D as MaxPooling2D, MaxPooling3D as MaxPooling3D,
)  # fmt: skip
from framework.layers.preprocessing import Normalization as Normalization, Rescaling as Rescaling
from framework.layers.recurrent.bidirectional import Bidirectional as Bidirectional
from framework.layers.recurrent.cells import (
    GRUCell as GRUCell, LSTMCell as LSTMCell, SimpleRNNCell as SimpleRNNCell,
)  # fmt: skip
from framework.layers.recurrent.convolutional import (
    ConvLSTM1D as ConvLSTM1D, ConvLSTM2D as ConvLSTM2D, ConvLSTM3D as ConvLSTM3D,
)  # fmt: skip
from framework.layers.recurrent.layers import GRU as GRU, LSTM as LSTM, SimpleRNN as SimpleRNN
from framework.layers.recurrent.masking import Masking as Masking
from framework.layers.recurrent.rnn import RNN as RNN
from framework.layers.recurrent.stacked import StackedRNNCells as StackedRNNCells
from framework.layers.recurrent.time_distributed import (
    TimeDistributed as TimeDistributed, Wrapper as Wrapper,
)  # fmt: skip
from framework.layers.reshaping import (
    Flatten as Flatten, Permute as Permute, RepeatVector as RepeatVector, Reshape as Reshape,
)  # fmt: skip
from framework.layers.input_spec import InputSpec as InputSpec
from framework.layers.spectral_normalization import SpectralNormalization as SpectralNormalization
from framework.layers.spectrograms import (
    MelSpectrogram as MelSpectrogram, STFTSpectrogram as STFTSpectrogram,
)  # fmt: skip
from framework.layers.text import TextVectorization as TextVectorization
from framework.layers.transposed import (
    Conv1DTranspose as Conv1DTranspose, Conv2DTranspose as Conv2DTranspose,
    Conv3DTranspose as Conv3DTranspose,
)  # fmt: skip
from framework.layers.upsampling import (
    UpSampling1D as UpSampling1D, UpSampling2D as UpSampling2D, UpSampling3D as UpSampling3D,
)  # fmt: skip

GroupQueryAttention = GroupedQueryAttention
