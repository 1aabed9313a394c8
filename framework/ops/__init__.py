"""The ops: primitives and composites on arrays or tensors. Axis attributes are non-negative."""
