from framework.data import experimental as experimental
from framework.data.dataset import (
    AUTOTUNE as AUTOTUNE, Dataset as Dataset, INFINITE_CARDINALITY as INFINITE_CARDINALITY,
    UNKNOWN_CARDINALITY as UNKNOWN_CARDINALITY,
)  # fmt: skip
from framework.data.file_readers import (
    FixedLengthRecordDataset as FixedLengthRecordDataset, TextLineDataset as TextLineDataset,
    TFRecordDataset as TFRecordDataset,
)  # fmt: skip
from framework.data.iterator import Iterator as Iterator, NumpyIterator as NumpyIterator
from framework.data.options import Options as Options, ThreadingOptions as ThreadingOptions
from framework.data.row_files import (
    HDF5Dataset as HDF5Dataset, NumpyDataset as NumpyDataset, ParquetDataset as ParquetDataset,
)  # fmt: skip
from framework.data.structure import DatasetSpec as DatasetSpec
