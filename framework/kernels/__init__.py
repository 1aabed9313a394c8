"""Array code that ops call to compute, where plain NumPy is slow or lacks a function."""
