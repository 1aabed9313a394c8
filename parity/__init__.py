"""Training runs written once in Keras's API, done by real Keras and by `framework.keras`."""
