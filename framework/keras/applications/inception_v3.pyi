from framework.applications.images import decode_predictions as decode_predictions, tf_input
from framework.applications.inception import InceptionV3 as InceptionV3

preprocess_input = tf_input
