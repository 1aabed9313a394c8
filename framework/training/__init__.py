"""Training: the training step, the loop over epochs, callbacks and progress displays."""
