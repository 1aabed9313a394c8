"""TensorFlow's functions: public wrappers that convert operands by the strict rule and call ops."""
