from framework.data.pydataset import PyDataset as PyDataset, PyDataset as Sequence
from framework.data.split import split_dataset as split_dataset
from framework.keras.functions.labels import (
    normalize as normalize, pack_x_y_sample_weight as pack_x_y_sample_weight,
    set_random_seed as set_random_seed, to_categorical as to_categorical,
    unpack_x_y_sample_weight as unpack_x_y_sample_weight,
)  # fmt: skip
from framework.keras.functions.session import (
    clear_session as clear_session, is_keras_tensor as is_keras_tensor,
    standardize_dtype as standardize_dtype,
)  # fmt: skip
