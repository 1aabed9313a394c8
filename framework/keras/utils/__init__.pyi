from framework.core.configs import (
    CustomObjectScope as CustomObjectScope, custom_object_scope as custom_object_scope, deserialize,
    get_custom_objects as get_custom_objects, get_registered_name as get_registered_name,
    get_registered_object as get_registered_object,
    register_keras_serializable as register_keras_serializable, serialize_value,
)  # fmt: skip
from framework.core.downloads import get_file as get_file
from framework.core.named_values import Config as Config
from framework.core.program_settings import (
    disable_interactive_logging as disable_interactive_logging,
    enable_interactive_logging as enable_interactive_logging,
    is_interactive_logging_enabled as is_interactive_logging_enabled,
)
from framework.data.audio import audio_dataset_from_directory as audio_dataset_from_directory
from framework.data.directories import (
    image_dataset_from_directory as image_dataset_from_directory,
    text_dataset_from_directory as text_dataset_from_directory,
)  # fmt: skip
from framework.data.images import (
    array_to_img as array_to_img, img_to_array as img_to_array, load_img as load_img,
    save_img as save_img,
)  # fmt: skip
from framework.data.pydataset import PyDataset as PyDataset
from framework.data.sequences import (
    pad_sequences as pad_sequences, timeseries_dataset_from_array as timeseries_dataset_from_array,
)  # fmt: skip
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
from framework.models.plotting import model_to_dot as model_to_dot, plot_model as plot_model
from framework.models.feature_space import FeatureSpace as FeatureSpace
from framework.keras.utils import bounding_boxes as bounding_boxes
from framework.training.progress_bar import Progbar as Progbar

Sequence = PyDataset
deserialize_keras_object = deserialize
serialize_keras_object = serialize_value
