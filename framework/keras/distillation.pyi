from framework.models.distillation import (
    DistillationLoss as DistillationLoss, Distiller as Distiller,
    FeatureDistillation as FeatureDistillation, LogitsDistillation as LogitsDistillation,
)  # fmt: skip
