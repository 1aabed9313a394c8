"""Array code behind the forwards of ops, where plain NumPy is slow or lacks a function."""
