from framework.data.sequences import pad_sequences as pad_sequences
