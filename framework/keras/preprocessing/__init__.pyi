from framework.data.directories import (
    image_dataset_from_directory as image_dataset_from_directory,
    text_dataset_from_directory as text_dataset_from_directory,
)  # fmt: skip
from framework.data.sequences import (
    timeseries_dataset_from_array as timeseries_dataset_from_array,
)  # fmt: skip
from framework.keras.preprocessing import image as image, sequence as sequence, text as text
