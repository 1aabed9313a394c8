from framework.applications.images import decode_predictions as decode_predictions, tf_input
from framework.applications.mobilenet import MobileNetV2 as MobileNetV2

preprocess_input = tf_input
