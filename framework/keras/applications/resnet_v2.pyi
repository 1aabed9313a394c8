from framework.applications.images import decode_predictions as decode_predictions, tf_input
from framework.applications.resnet import (
    ResNet101V2 as ResNet101V2, ResNet152V2 as ResNet152V2, ResNet50V2 as ResNet50V2,
)  # fmt: skip

preprocess_input = tf_input
