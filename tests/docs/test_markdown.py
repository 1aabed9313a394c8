"""The Python in Markdown files runs as it stands there, and prints what it says it prints.

All blocks of a file run in order in one namespace. A comment behind a `print` call, or the comment
lines right under it, is what the call prints; `...` in it stands for anything, and a line that
begins with two spaces may go on with the one before. Blocks marked `py` are excerpts and do not
run. The table of gradients at kinks is computed
anew.
"""

import ast
import io
import re
import sys
import tokenize
from pathlib import Path

import numpy as np
import pytest

import framework as tf
from framework import keras

ROOT = Path(__file__).parent.parent.parent
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PAGES = sorted(
    [*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md"), *(ROOT / "docs/gallery").glob("*.md")]
)
FILES = [path for path in PAGES if BLOCK.search(path.read_text("utf-8"))]


def blocks(text):
    """The source of each Python block, with as many empty lines before it as the file has lines."""
    return ["\n" * text.count("\n", 0, m.start(1)) + m[1] for m in BLOCK.finditer(text)]


def promised(source):
    """What is said to be printed: each line of a print call -> (its last line, text or None)."""
    comments, alone = {}, set()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            line = token.start[0]
            comments[line] = token.string[1:].removeprefix(" ")
            if token.line.lstrip().startswith("#"):
                alone.add(line)
    found = {}
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "print":
            last = line = node.end_lineno
            told = [comments[line]] if line in comments else []
            while not (told and line == last) and line + 1 in alone:
                line += 1
                told.append(comments[line])
            text = "\n".join(told) if told else None
            found.update(dict.fromkeys(range(node.lineno, last + 1), (last, text)))
    return found


def run(path):
    """Run the blocks of a file; raises AssertionError at the first one that prints otherwise."""
    namespace = {"__name__": "__main__"}
    for source in blocks(path.read_text("utf-8")):
        promises, printed = promised(source), {}

        def show(*values, sep=" ", end="\n", promises=promises, printed=printed):
            last, _ = promises[sys._getframe(1).f_lineno]
            printed[last] = printed.get(last, "") + sep.join(map(str, values)) + end

        namespace["print"] = show
        exec(compile(source, str(path), "exec"), namespace)
        for line, expected in dict(promises.values()).items():
            if expected is not None:
                check(f"{path.name}:{line}", printed.get(line, ""), expected)


def check(where, printed, expected):
    lines = "\n".join(line.rstrip() for line in printed.rstrip("\n").split("\n"))
    for text in (expected, expected.replace("\n  ", " ")):
        pattern = re.escape(text).replace(re.escape("..."), ".*")
        if re.fullmatch(pattern, lines, re.DOTALL):
            return
    raise AssertionError(f"{where} prints\n{printed}\nand says that it prints\n{expected}")


def kinks():
    """The rows of the table in docs/autodiff.md: f(x), x and the gradient, as source."""
    text = (ROOT / "docs" / "autodiff.md").read_text("utf-8")
    return re.findall(r"^\| `([^`]+)` \| `([^`]+)` \| `([^`]+)` \|", text, re.MULTILINE)


# ---- tests ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_file(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    keras.utils.clear_session()  # layers are numbered from the start
    run(path)


@pytest.mark.parametrize(("f", "x", "expected"), kinks(), ids=[f for f, *_ in kinks()])
def test_gradient_at_a_kink(f, x, expected):
    names = {"inf": np.inf, "nan": np.nan, "tf": tf}
    names["x"] = x = tf.constant(eval(x, names))
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = eval(f, names)
    found, expected = tape.gradient(y, x), eval(expected, names)
    if expected is None:
        assert found is None
    else:
        np.testing.assert_allclose(found, expected, rtol=1e-6)


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_links_within_the_repository(path):
    links = re.findall(r"\]\((?!https?:)([^)#]*)(?:#([^)]*))?\)", path.read_text("utf-8"))
    for file, heading in links:
        if file.startswith("reference/"):  # made from docstrings when the site is built
            continue
        page = path.parent / file if file else path
        assert page.exists(), f"{path.name} links to {file}"
        if heading:
            titles = re.findall(r"^#+ (.+)$", page.read_text("utf-8"), re.MULTILINE)
            anchors = [re.sub(r"[^\w -]", "", t).lower().replace(" ", "-") for t in titles]
            assert heading in anchors, f"{path.name} links to {file}#{heading}"


def test_the_site_lists_every_page():
    for folder in (ROOT / "docs", ROOT / "docs/gallery"):
        listed = re.findall(r"(?m)^\w+$", (folder / "index.md").read_text("utf-8"))
        assert {path.stem for path in folder.glob("*.md")} - {"index"} <= set(listed)


def test_readme_and_the_tape_are_among_the_files():
    assert {"README.md", "autodiff.md"} <= {path.name for path in FILES}
    assert len(kinks()) > 20


@pytest.mark.parametrize(
    ("code", "complaint"),
    [
        ("print(1 + 1)  # 2", None),
        ("print(1 + 1)  # 3", "says that it prints\n3"),
        ("print(1 + 1)\n\n# a remark", None),
        ("print(1 + 1)\n# a remark", "says that it prints\na remark"),
        ("print('a\\n b')\n# a\n#  b", None),
        ("print('a\\n b')\n# a\n#  c", "says that it prints\na\n c"),
        ("for i in range(2):\n    print(i)\n# 0\n# 1", None),
        ("for i in range(2):\n    print(i)\n# 0", "says that it prints\n0"),
        ("print(\n    'long',\n    'call',\n)  # long call", None),
        ("print(\n    'long',\n    'call',\n)  # long", "m.md:7 prints\nlong call"),
        ("if False:\n    print(1)  # 1", "m.md:5 prints"),
        ("print('at 0x7f')  # at 0x...", None),
        ("print('in 0x7f')  # at 0x...", "says that"),
        ("x = 1\n```\n\ntext\n\n```python\nprint(x)  # 1", None),
        ("print('#')  # #", None),
        ("print('a b')\n# a\n#   b", None),
    ],
)
def test_the_check_notices(tmp_path, code, complaint):
    path = tmp_path / "m.md"
    path.write_text(f"# Title\n\n```python\n{code}\n```\n", "utf-8")
    if complaint is None:
        run(path)
    else:
        with pytest.raises(AssertionError, match=re.escape(complaint)):
            run(path)
