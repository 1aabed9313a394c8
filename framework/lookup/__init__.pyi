from framework.functions.hash_tables import (
    KeyValueTensorInitializer as KeyValueTensorInitializer, StaticHashTable as StaticHashTable,
    StaticVocabularyTable as StaticVocabularyTable, TextFileIndex as TextFileIndex,
    TextFileInitializer as TextFileInitializer,
)  # fmt: skip
from framework.lookup import experimental as experimental
