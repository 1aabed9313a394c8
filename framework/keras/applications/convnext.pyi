from framework.applications.images import decode_predictions as decode_predictions, same_input
from framework.applications.convnext import (
    ConvNeXtBase as ConvNeXtBase, ConvNeXtLarge as ConvNeXtLarge, ConvNeXtSmall as ConvNeXtSmall,
    ConvNeXtTiny as ConvNeXtTiny, ConvNeXtXLarge as ConvNeXtXLarge,
)  # fmt: skip

preprocess_input = same_input
