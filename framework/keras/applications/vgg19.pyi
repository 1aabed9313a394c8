from framework.applications.images import decode_predictions as decode_predictions, caffe_input
from framework.applications.vgg import VGG19 as VGG19

preprocess_input = caffe_input
