"""The compiler: tracing, passes over graphs, code generation, and the plans of `tf.function`."""
