from framework.applications.images import decode_predictions as decode_predictions, torch_input
from framework.applications.densenet import (
    DenseNet121 as DenseNet121, DenseNet169 as DenseNet169, DenseNet201 as DenseNet201,
)  # fmt: skip

preprocess_input = torch_input
