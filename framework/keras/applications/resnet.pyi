from framework.applications.images import decode_predictions as decode_predictions, caffe_input
from framework.applications.resnet import (
    ResNet101 as ResNet101, ResNet152 as ResNet152, ResNet50 as ResNet50,
)  # fmt: skip

preprocess_input = caffe_input
