from framework.applications.images import decode_predictions as decode_predictions, tf_input
from framework.applications.mobilenet import MobileNet as MobileNet

preprocess_input = tf_input
