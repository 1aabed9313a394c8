"""ONNX files: trace a model's call into a graph of ops and translate it node by node.

A call is traced several times, with different unknown sizes (`traces.py`). A number that differs
between the traces is a size, which the exported graph computes when it runs (`sizes.py`).
"""
