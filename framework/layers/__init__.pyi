from framework.layers.activation import *
from framework.layers.attention import *
from framework.layers.base import Layer as Layer
from framework.layers.batch_normalization import *
from framework.layers.categorical import *
from framework.layers.convolution import *
from framework.layers.core import *
from framework.layers.depthwise import *
from framework.layers.einsum_dense import *
from framework.layers.embedding import *
from framework.layers.grouped_query import GroupedQueryAttention
from framework.layers.hashing import *
from framework.layers.images.bounding_boxes import *
from framework.layers.images.colors import *
from framework.layers.images.filters import *
from framework.layers.images.geometry import *
from framework.layers.images.histograms import *
from framework.layers.images.hues import *
from framework.layers.images.mixing import *
from framework.layers.images.policies import *
from framework.layers.images.sizes import *
from framework.layers.images.tones import *
from framework.layers.lookup import *
from framework.layers.merging import *
from framework.layers.multi_head import *
from framework.layers.noise import *
from framework.layers.normalization import *
from framework.layers.padding import *
from framework.layers.pipeline import *
from framework.layers.pooling import *
from framework.layers.preprocessing import *
from framework.layers.recurrent.bidirectional import *
from framework.layers.recurrent.cells import *
from framework.layers.recurrent.convolutional import *
from framework.layers.recurrent.layers import *
from framework.layers.recurrent.masking import *
from framework.layers.recurrent.rnn import *
from framework.layers.recurrent.stacked import *
from framework.layers.recurrent.time_distributed import *
from framework.layers.reshaping import *
from framework.layers.input_spec import InputSpec as InputSpec
from framework.layers.spectral_normalization import *
from framework.layers.spectrograms import *
from framework.layers.text import *
from framework.layers.transposed import *
from framework.layers.upsampling import *

GroupQueryAttention = GroupedQueryAttention
