from framework.io import gfile as gfile
from framework.data.csv_files import decode_csv as decode_csv
from framework.data.file_contents import (
    decode_base64 as decode_base64, decode_compressed as decode_compressed,
    decode_raw as decode_raw, encode_base64 as encode_base64, matching_files as matching_files,
    parse_tensor as parse_tensor, read_file as read_file, serialize_tensor as serialize_tensor,
    write_file as write_file,
)  # fmt: skip
from framework.data.json_examples import decode_json_example as decode_json_example
from framework.data.parsing import (
    FixedLenFeature as FixedLenFeature, FixedLenSequenceFeature as FixedLenSequenceFeature,
    RaggedFeature as RaggedFeature, VarLenFeature as VarLenFeature, parse_example as parse_example,
    parse_sequence_example as parse_sequence_example, parse_single_example as parse_single_example,
    parse_single_sequence_example as parse_single_sequence_example,
)  # fmt: skip
from framework.data.records import (
    TFRecordOptions as TFRecordOptions, TFRecordWriter as TFRecordWriter,
)  # fmt: skip
from framework.functions.image_files import (
    decode_and_crop_jpeg as decode_and_crop_jpeg, decode_bmp as decode_bmp,
    decode_gif as decode_gif, decode_image as decode_image, decode_jpeg as decode_jpeg,
    decode_jxl as decode_jxl, decode_png as decode_png, decode_webp as decode_webp,
    encode_jpeg as encode_jpeg, encode_png as encode_png,
    extract_jpeg_shape as extract_jpeg_shape, is_jpeg as is_jpeg,
)  # fmt: skip

match_filenames_once = matching_files
