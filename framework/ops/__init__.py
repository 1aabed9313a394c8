"""The ops: primitives and functions composed of them. Axis attributes are non-negative."""
