"""The op table: primitives and composites on arrays or tensors; axes arrive non-negative."""
