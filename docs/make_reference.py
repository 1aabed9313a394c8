"""Writes docs/reference/: a page of Markdown for each public namespace, from its docstrings.

`make docs` calls it before Sphinx; `python docs/make_reference.py` writes the pages alone. A name
that several namespaces list is described where it stands first in `NAMESPACES`; the other pages
link to it.
"""

import importlib
import inspect
import re
import shutil
from pathlib import Path

FOLDER = Path(__file__).parent / "reference"
_TENSORFLOW = (
    "math", "nn", "linalg", "random", "data", "image", "strings", "signal", "sets", "saved_model",
    "sparse", "ragged", "summary", "bitwise", "io", "lookup", "train", "nest", "dtypes", "errors",
    "autodiff", "debugging", "config", "distribute", "wrappers", "audio",
)  # fmt: skip
_KERAS = (
    "layers", "models", "losses", "metrics", "optimizers", "callbacks", "ops",
    "activations", "initializers", "regularizers", "constraints", "datasets", "utils",
    "saving", "random", "config", "applications", "preprocessing", "preprocessing.image",
    "preprocessing.sequence", "preprocessing.text", "tree", "distillation",
    "dtype_policies", "visualization", "wrappers",
)  # fmt: skip
NAMESPACES = [
    "framework", *(f"framework.{name}" for name in _TENSORFLOW),
    "framework.keras", *(f"framework.keras.{name}" for name in _KERAS),
]  # fmt: skip
SECTION = re.compile(r"^(Args|Returns|Raises|Example|Examples|Shapes|Yields|Note|Notes):\s*(.*)$")
ENTRY = re.compile(r"^(\*{0,2}[\w, *]+): (.*)$")
_SIMPLE = (int, float, str, bool, bytes, tuple, list, dict, type(None))


def main():
    """Write all pages and the page that lists them."""
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir(parents=True)
    described = {}
    for namespace in NAMESPACES:
        text = _namespace_page(namespace, described)
        (FOLDER / f"{namespace}.md").write_text(text, "utf-8")
    pages = "\n".join(NAMESPACES)
    (FOLDER / "index.md").write_text(
        "# Reference\n\n`tf` is `framework` here: `import framework as tf`.\n\n"
        f"```{{toctree}}\n:maxdepth: 1\n\n{pages}\n```\n",
        "utf-8",
    )


def _namespace_page(namespace, described):
    module = importlib.import_module(namespace)
    parts = [f"# {namespace}\n", _escaped(_first_paragraph(module)), ""]
    parts += [f"```{{py:module}} {namespace}\n```\n"]
    for name in dir(module):
        if name.startswith("_"):
            continue
        item = getattr(module, name)
        full = f"{namespace}.{name}"
        if inspect.ismodule(item):
            continue
        key = id(item) if callable(item) else full
        home = described.setdefault(key, full)
        if home != full:
            role = "class" if inspect.isclass(item) else "func"
            parts.append(f"`{name}` is {{py:{role}}}`{home}`.\n")
        else:
            parts.append(_description(name, item))
    return "\n".join(parts)


def _first_paragraph(item):
    return (inspect.getdoc(item) or "").split("\n\n")[0].replace("\n", " ")


def _description(name, item):
    # Without the namespace: Sphinx adds that of the `py:module` directive.
    if inspect.isclass(item):
        return _directive("class", name, item, _members(name, item))
    if callable(item):
        return _directive("function", name, item)
    value = f"\n:value: {item!r}" if isinstance(item, _SIMPLE) and len(repr(item)) < 60 else ""
    return f"```{{py:data}} {name}{value}\n```\n"


def _members(class_name, cls):
    """Return the directives of the public methods that the class documents itself."""
    parts = []
    for name, member in vars(cls).items():
        if name.startswith("_") or not inspect.getdoc(member):
            continue
        if isinstance(member, property):
            body = markdown(inspect.getdoc(member))
            parts.append(f"```{{py:property}} {class_name}.{name}\n{body}\n```\n")
        elif callable(member) or isinstance(member, (classmethod, staticmethod)):
            function = inspect.unwrap(getattr(member, "__func__", member))
            if inspect.isfunction(function):
                parts.append(_directive("method", f"{class_name}.{name}", function))
    return "\n".join(parts)


def _directive(sort, name, item, inner=""):
    fence = "`" * (5 if inner else 4)
    body = markdown(inspect.getdoc(item) or "")
    return f"{fence}{{py:{sort}}} {name}{_signature(item, sort)}\n\n{body}\n\n{inner}\n{fence}\n"


def _signature(item, sort):
    try:
        signature = inspect.signature(item)
    except (TypeError, ValueError):
        return "()"
    shown = []
    for place, parameter in enumerate(signature.parameters.values()):
        if sort == "method" and place == 0 and parameter.name in ("self", "cls"):
            continue
        default = parameter.default
        if default is not parameter.empty and not isinstance(default, _SIMPLE):
            default = _Text(getattr(default, "__name__", "..."))
        shown.append(parameter.replace(default=default, annotation=parameter.empty))
    return str(signature.replace(parameters=shown, return_annotation=signature.empty))


class _Text:
    """A default value that is shown as its name."""

    def __init__(self, name):
        self.name = name

    def __repr__(self):
        return self.name


# ---- docstrings as Markdown ----------------------------------------------------------------------


def markdown(doc):
    """Return a docstring as Markdown: sections as headings, arguments as lists, examples as code.

    >>> print(markdown("Add.\\n\\nArgs:\\n    x: a number."))
    Add.
    <BLANKLINE>
    **Args**
    <BLANKLINE>
    - `x`: a number.
    """
    lines, out, place = doc.split("\n"), [], 0
    while place < len(lines):
        line = lines[place]
        found = SECTION.match(line)
        if line.lstrip().startswith(">>>"):
            block, place = _block(lines, place)
            out += ["```pycon", *block, "```", ""]
            continue
        if found:
            body, place = _indented(lines, place + 1)
            out += ["", f"**{found[1]}**", ""]
            out += ([_escaped(found[2]), ""] if found[2] else []) + [*_section(body), ""]
            continue
        out.append(_escaped(line.strip() if not line.startswith("    ") else line))
        place += 1
    text = "\n".join(out)
    return re.sub(r"\n{3,}", "\n\n", text).strip()


def _indented(lines, place):
    """Return the lines of a section without its indentation, and the place after it."""
    body = []
    while place < len(lines) and (not lines[place].strip() or lines[place].startswith(" ")):
        body.append(lines[place][4:])
        place += 1
    while body and not body[-1].strip():
        body.pop()
    return body, place


def _block(lines, place):
    """Return the lines of an example up to the next empty line, and the place after it."""
    margin = len(lines[place]) - len(lines[place].lstrip())
    block = []
    while place < len(lines) and lines[place].strip():
        block.append(lines[place][margin:])
        place += 1
    return block, place


def _section(body):
    """Return the lines of a section: `name: text` becomes an item of a list."""
    out, place, in_item = [], 0, False
    while place < len(body):
        line = body[place]
        if line.lstrip().startswith(">>>"):
            block, place = _block(body, place)
            out += ["", "```pycon", *block, "```"]
            in_item = False
            continue
        entry = ENTRY.match(line)
        if entry:
            out.append(f"- `{entry[1].strip()}`: {_escaped(entry[2])}")
            in_item = True
        elif in_item and line.startswith(" "):
            out.append("  " + _escaped(line.strip()))
        else:
            out.append(_escaped(line.strip()))
        place += 1
    return out


def _escaped(line):
    """Escape what Markdown would read as markup, outside of code in backticks."""
    parts = re.split(r"(`[^`]*`)", line)
    return "".join(
        part if part.startswith("`") else re.sub(r"([*_<>\[\]|$#{}\\])", r"\\\1", part)
        for part in parts
    )


if __name__ == "__main__":
    main()
