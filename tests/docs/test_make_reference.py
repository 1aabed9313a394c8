"""docs/make_reference.py: the pages of the reference, and docstrings as Markdown."""

import importlib.util
from pathlib import Path

import pytest

PATH = Path(__file__).parents[2] / "docs" / "make_reference.py"
SPEC = importlib.util.spec_from_file_location("make_reference", PATH)
make_reference = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(make_reference)


@pytest.mark.parametrize(
    ("doc", "expected"),
    [
        ("Add x_1 * <y>.", "Add x\\_1 \\* \\<y\\>."),
        ("Return `x_1 * y`.", "Return `x_1 * y`."),
        ("Add.\n\nArgs:\n    x: a number,\n        or two.\n    y: another.",
         "Add.\n\n**Args**\n\n- `x`: a number,\n  or two.\n- `y`: another."),
        ("Add.\n\n>>> 1 + 1\n2\n\nThis is all.",
         "Add.\n\n```pycon\n>>> 1 + 1\n2\n```\n\nThis is all."),
        ("Example:\n    >>> 1 + 1\n    2", "**Example**\n\n```pycon\n>>> 1 + 1\n2\n```"),
        ("Shapes: `(a,)` gives `()`.\n", "**Shapes**\n\n`(a,)` gives `()`."),
    ],
)  # fmt: skip
def test_docstrings_become_markdown(doc, expected):
    assert make_reference.markdown(doc) == expected


def test_each_name_is_described_once_and_linked_elsewhere():
    described = {}
    first = make_reference._namespace_page("framework.math", described)
    second = make_reference._namespace_page("framework.nn", described)
    assert "{py:function} tanh(x, name=None)" in first
    assert "`tanh` is {py:func}`framework.math.tanh`." in second


def test_a_class_shows_its_fields_and_its_methods():
    page = make_reference._namespace_page("framework.keras.callbacks", {})
    assert "{py:class} EarlyStopping(monitor='val_loss'" in page
    assert "{py:method} Callback.on_epoch_end(epoch, logs=None)" in page


def test_every_public_namespace_has_a_page():
    package = PATH.parents[1] / "framework"
    stubs = {path for path in package.glob("*.pyi") if path.stem != "__init__"}
    stubs |= {path for path in (package / "keras").glob("*.pyi") if path.stem != "__init__"}
    names = {
        ".".join(("framework", *path.relative_to(package).with_suffix("").parts)) for path in stubs
    }
    left_out = {"framework.compat"} | {
        f"framework.keras.{name}" for name in ("backend", "mixed_precision")
    }
    assert names - set(make_reference.NAMESPACES) <= left_out
