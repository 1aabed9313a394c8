from framework.applications.images import decode_predictions as decode_predictions, caffe_input
from framework.applications.resnet import ResNet50 as ResNet50

preprocess_input = caffe_input
