"""Recurrent layers, their cells, and the wrappers and masks that go with sequences."""
