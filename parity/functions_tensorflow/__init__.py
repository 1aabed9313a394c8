"""Public functions beside real TensorFlow's: values, gradients, dtypes, shapes and errors.

    python -m parity.functions_tensorflow [PATTERN ...]

It needs a Python that has TensorFlow and SciPy. A pattern chooses functions whose names contain it.
"""
