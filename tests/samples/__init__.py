"""Samples: what tests over every op, layer, loss, metric and optimizer run.

A new one needs one row: an op in the file of `ops/` for its kind, a layer in the file of `layers/`
for its kind, a loss in `losses.py`, a metric in `metrics.py`, an optimizer in `optimizers.py`.
"""
