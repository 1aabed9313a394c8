"""Detection of common mistakes: unsuitable data, outputs, losses and learning rates.

`fit` and training steps check the first batch (`first_batch.py`, `outputs.py`); `fit` also
checks how the loss develops (`course.py`). Each mistake gives one warning. `fit(doctor=True)` and
`model.fast_check` also look inside a training step (`one_pass.py`) and print one page (`page.py`).
"""
