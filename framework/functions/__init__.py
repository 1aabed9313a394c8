"""TensorFlow's functions: declared signatures, the strict door, and the op behind it."""
