from framework.functions.summaries import (
    get_step as get_step, set_step as set_step, write_raw_pb as write_raw_pb,
)  # fmt: skip
