"""Recurrent layers, their cells, and the layers Bidirectional, TimeDistributed and Masking."""
