from framework.functions.summaries import (
    audio as audio, flush as flush, graph as graph, histogram as histogram, image as image,
    scalar as scalar, text as text, write as write,
)  # fmt: skip
from framework.summary import experimental as experimental, hparams as hparams
from framework.training.summaries.writers import (
    SummaryWriter as SummaryWriter, create_file_writer as create_file_writer,
    create_noop_writer as create_noop_writer, record_if as record_if,
    should_record_summaries as should_record_summaries,
)  # fmt: skip
