"""Writes docs/coverage.md from framework/core/left_out.txt: `python docs/make_coverage.py`."""

from itertools import groupby
from pathlib import Path

from framework.core.left_out import entries

PAGE = Path(__file__).with_name("coverage.md")

HEAD = """\
# What is left out

`framework` has the public names of Keras 3.15, and those of TensorFlow that training needs: the
tape, variables, functions, data. These names are left out on purpose. Using one raises an
`AttributeError` with the reason and what to use instead:

```python
import framework as tf

try:
    tf.tpu
except AttributeError as error:
    print(error)
# ...tf.tpu is in TensorFlow, not in framework, because models run in one process, on
#   the CPU's threads; instead: train in one process, with accumulate=n for larger batches
```

The entry of a module, such as `tf.tpu`, holds for all names in this module, too.
`docs/make_coverage.py` writes this page from `framework/core/left_out.txt`.
"""


def page():
    """Return the text of docs/coverage.md."""
    parts = [HEAD]
    for reason, group in groupby(entries().values(), key=lambda entry: entry.reason):
        parts.append(f"\n## Because {reason}\n\n| name | instead |\n|---|---|\n")
        for instead, row in groupby(group, key=lambda entry: entry.instead):
            names = ", ".join(f"`{entry.name}`" for entry in row)
            parts.append(f"| {names} | {instead} |\n")
    return "".join(parts)


if __name__ == "__main__":
    PAGE.write_text(page(), "utf-8")
