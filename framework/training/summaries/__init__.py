"""Summaries: event files that TensorBoard reads, and what is written into them."""
