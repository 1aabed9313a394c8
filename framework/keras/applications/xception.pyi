from framework.applications.images import decode_predictions as decode_predictions, tf_input
from framework.applications.xception import Xception as Xception

preprocess_input = tf_input
