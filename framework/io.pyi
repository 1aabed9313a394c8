from framework.data.parsing import (
    FixedLenFeature as FixedLenFeature, FixedLenSequenceFeature as FixedLenSequenceFeature,
    VarLenFeature as VarLenFeature, parse_example as parse_example,
    parse_single_example as parse_single_example,
    parse_single_sequence_example as parse_single_sequence_example,
)  # fmt: skip
from framework.data.records import (
    TFRecordOptions as TFRecordOptions, TFRecordWriter as TFRecordWriter,
)  # fmt: skip
