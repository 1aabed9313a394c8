from framework.functions.hash_tables import (
    DenseHashTable as DenseHashTable, MutableHashTable as MutableHashTable,
)  # fmt: skip
