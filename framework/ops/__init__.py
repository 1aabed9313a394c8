"""The op table: primitives and composites on arrays or tensors. Axis attributes are
non-negative."""
