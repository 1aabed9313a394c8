from framework.applications.images import decode_predictions as decode_predictions, same_input

preprocess_input = same_input
