from framework.applications.images import decode_predictions as decode_predictions, same_input
from framework.applications.efficientnet import (
    EfficientNetV2B0 as EfficientNetV2B0, EfficientNetV2B1 as EfficientNetV2B1,
    EfficientNetV2B2 as EfficientNetV2B2, EfficientNetV2B3 as EfficientNetV2B3,
    EfficientNetV2L as EfficientNetV2L, EfficientNetV2M as EfficientNetV2M,
    EfficientNetV2S as EfficientNetV2S,
)  # fmt: skip

preprocess_input = same_input
