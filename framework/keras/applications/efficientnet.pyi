from framework.applications.images import decode_predictions as decode_predictions, same_input
from framework.applications.efficientnet import (
    EfficientNetB0 as EfficientNetB0, EfficientNetB1 as EfficientNetB1,
    EfficientNetB2 as EfficientNetB2, EfficientNetB3 as EfficientNetB3,
    EfficientNetB4 as EfficientNetB4, EfficientNetB5 as EfficientNetB5,
    EfficientNetB6 as EfficientNetB6, EfficientNetB7 as EfficientNetB7,
)  # fmt: skip

preprocess_input = same_input
