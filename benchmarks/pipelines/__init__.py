"""The pipelines of `data.py`: one module for each library, `cases(folder, *words)` in each."""
