"""Values and the one hook: tensors, variables, dtypes, the Op record and its recorders."""
