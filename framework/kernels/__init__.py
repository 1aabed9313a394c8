"""Functions on arrays that ops call where plain NumPy is slow or lacks a function."""
