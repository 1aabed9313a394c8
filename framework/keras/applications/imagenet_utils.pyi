from framework.applications.images import (
    decode_predictions as decode_predictions, preprocess_input as preprocess_input,
)  # fmt: skip
