"""Training: the one train step, the loop over epochs, callbacks and progress."""
