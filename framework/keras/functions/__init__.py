"""Functions of keras.backend, keras.config, keras.random and keras.utils."""
