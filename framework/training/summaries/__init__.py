"""Summaries: event files for TensorBoard, and their content."""
