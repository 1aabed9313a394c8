"""Files: safe reading and crash-safe writing of weights and models."""
