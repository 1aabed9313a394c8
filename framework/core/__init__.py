"""Tensors, variables, dtypes, ops, and the recorders that are notified of each op."""
