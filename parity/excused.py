"""Known differences from real Keras, each with its reason.

A row: patterns of titles, separated by " | ", a pattern of the keys that differ, and the reason,
which no other row has. A row that excuses nothing fails.
"""

EXCUSED = [
    ("calls of metrics: *", "merged*", "metrics of Keras 3 have no merge_state"),
    (
        "calls of losses: * bfloat16", "config",
        "Keras leaves the dtype of a loss out of its config",
    ),
    (
        "calls of losses: * bfloat16", "serialized",
        "Keras leaves the dtype of a loss out of its file",
    ),
    (
        "calls of losses: CosineSimilarity * | calls of losses: SparseCategoricalCrossentropy *",
        "config", "Keras leaves the axis out of the config",
    ),
    (
        "calls of losses: CosineSimilarity * | calls of losses: SparseCategoricalCrossentropy *",
        "serialized", "Keras leaves the axis out of the file",
    ),
    ("calls of losses: Huber *", "config", "Keras leaves delta out of the config"),
    ("calls of losses: Huber *", "serialized", "Keras leaves delta out of the file"),
    (
        "calls of losses: CategoricalGeneralizedCrossEntropy *", "deserialized",
        "Keras does not find this class again",
    ),
    (
        "calls of losses: function CategoricalGeneralizedCrossEntropy *", "by name",
        "Keras does not know this function by its name",
    ),
    (
        "calls of ops: eigh* | calls of ops: svd*", "*",
        "the sign of an eigenvector or singular vector is free, and slopes follow it",
    ),
]  # fmt: skip
