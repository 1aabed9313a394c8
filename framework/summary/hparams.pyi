from framework.functions.hparams import (
    Discrete as Discrete, Domain as Domain, HParam as HParam, IntInterval as IntInterval,
    KerasCallback as KerasCallback, Metric as Metric, RealInterval as RealInterval,
    hparams as hparams, hparams_config as hparams_config, hparams_config_pb as hparams_config_pb,
    hparams_pb as hparams_pb,
)  # fmt: skip
