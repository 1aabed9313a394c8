"""Each page of the gallery states a result, asserts that it beats a baseline, and shows a picture.

The pages run when the documentation is built; a failed assertion ends the build.
"""

import ast
import re
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent.parent.parent / "docs/gallery"
PAGES = sorted(path for path in FOLDER.glob("*.md") if path.stem != "index")
CELL = re.compile(r"^```\{code-cell\}.*?\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def cells(path):
    return CELL.findall(path.read_text("utf-8"))


def calls(path):
    """The names of the functions that a page calls, such as plt.plot and print."""
    trees = [ast.parse(cell) for cell in cells(path)]
    nodes = [node for tree in trees for node in ast.walk(tree) if isinstance(node, ast.Call)]
    return {ast.unparse(node.func) for node in nodes}


def comparisons(path):
    """The assertions of a page that compare values."""
    for cell in cells(path):
        for node in ast.walk(ast.parse(cell)):
            if isinstance(node, ast.Assert):
                yield any(isinstance(part, ast.Compare | ast.Call) for part in ast.walk(node.test))


def test_the_readme_says_how_many_pages_there_are():
    readme = (FOLDER.parent.parent / "README.md").read_text("utf-8")
    assert f"{len(PAGES)} complete programs" in readme


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_the_page_states_and_asserts_a_result(path):
    assert any(comparisons(path)), "no assertion says what the result beats"
    assert "print" in calls(path), "no result is printed"
    seeds = ("set_random_seed(", "default_rng(", "random_state=", "seed=")
    assert any(seed in path.read_text("utf-8") for seed in seeds), "nothing is seeded"
    pictures = {name for name in calls(path) if name.startswith("plt.") or name.endswith(".plot")}
    assert pictures, "no picture"


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_the_page_begins_with_the_header_of_a_notebook(path):
    text = path.read_text("utf-8")
    assert text.startswith("---\nfile_format: mystnb\nkernelspec:\n  name: python3\n---\n\n# ")
    assert max(len(line) for line in text.splitlines()) <= 130
