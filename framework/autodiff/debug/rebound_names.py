"""Explains `x = x - lr * g`: afterwards x is a new tensor, which no tape watches."""

import ast
import inspect
import textwrap
import tokenize

from framework.autodiff.debug.event_log import place, user_frame
from framework.autodiff.debug.explanation import Explanation


def rebound(source):
    """Return the Explanation if the caller's code has `x = ...` computed from x, the `source`.

    Args:
        source: a tensor that the tape did not watch.
    """
    frame = user_frame()
    if frame is None:
        return None
    names = {name for name, value in frame.f_locals.items() if value is source}
    found = _assignment(frame.f_code, names) if names else None
    if found is None:
        return None
    name, text, line = found
    where = place(frame.f_code.co_filename, line)
    return Explanation(
        "None", f"`{text}` (at {where}) binds the name {name} to a new tensor, which this tape "
        "does not watch", f"keep {name} a tf.Variable and write {name}.assign(...) or "
        f"{name}.assign_sub(...), or call tape.watch({name}) inside the `with` block",
    )  # fmt: skip


def _assignment(code, names):
    """Return (x, source, line) of the last statement that computes x, one of `names`, from x."""
    try:
        lines, start = inspect.getsourcelines(code)
        text = textwrap.dedent("".join(lines))
        tree = ast.parse(text)
    except (OSError, TypeError, SyntaxError, tokenize.TokenError):
        # Without a source file, or if its text is not a statement, there is nothing to explain.
        return None
    found = None
    for node in ast.walk(tree):
        name = _bound_from_itself(node)
        if name in names:
            written = " ".join((ast.get_source_segment(text, node) or "").split())
            found = name, written, max(start, 1) + node.lineno - 1
    return found


def _bound_from_itself(node):
    """Return the name x of a statement that assigns to x a value computed from x, or None."""
    if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
        return node.target.id
    if not isinstance(node, ast.Assign) or not isinstance(node.targets[0], ast.Name):
        return None
    name = node.targets[0].id
    reads = (n.id for n in ast.walk(node.value) if isinstance(n, ast.Name))
    return name if name in reads and not isinstance(node.value, ast.Name) else None
