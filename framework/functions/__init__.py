"""TensorFlow's functions: public wrappers that call ops, without promotion of operands' dtypes."""
