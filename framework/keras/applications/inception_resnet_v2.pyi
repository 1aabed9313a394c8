from framework.applications.images import decode_predictions as decode_predictions, tf_input
from framework.applications.inception import InceptionResNetV2 as InceptionResNetV2

preprocess_input = tf_input
