"""Functions as graphs: `function`, traces of what ran, and fused elementwise code."""
