from framework.data.sequences import pad_sequences as pad_sequences
from framework.data.series_windows import TimeseriesGenerator as TimeseriesGenerator
from framework.data.skip_grams import (
    make_sampling_table as make_sampling_table, skipgrams as skipgrams,
)  # fmt: skip
