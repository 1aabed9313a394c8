"""Saved models: variables and the ops of compiled functions in a folder, loaded without code."""
