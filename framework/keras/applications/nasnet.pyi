from framework.applications.images import decode_predictions as decode_predictions, tf_input
from framework.applications.nasnet import NASNetLarge as NASNetLarge, NASNetMobile as NASNetMobile

preprocess_input = tf_input
