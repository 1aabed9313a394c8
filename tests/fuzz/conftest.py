"""What pytest leaves alone here."""

collect_ignore = ["peers.py"]  # it needs TensorFlow
