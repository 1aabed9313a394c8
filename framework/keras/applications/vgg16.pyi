from framework.applications.images import decode_predictions as decode_predictions, caffe_input
from framework.applications.vgg import VGG16 as VGG16

preprocess_input = caffe_input
