"""Make a program that fails as short as it can be, while it fails in the same way.

Delta debugging over the syntax tree: statements go, blocks give way to what is in them, calls to an
argument, arithmetic to an operand, names to what they are, tuples lose elements, numbers become
simpler ones. Each round tries every change; the last round has found none. No text is tried twice.
"""

import ast
import time
import warnings


def shrink(text, fails, seconds=60, line=None):
    """The shortest text found for which `fails(text)` is true.

    Args:
        fails: tells whether a text still shows the failure.
        seconds: of CPU time; the search ends after these.
        line: where the failure shows; most programs fail without their other calls too.
    """
    end, best = _now() + seconds, ast.parse(text)
    fails = _once(fails, ast.unparse(best))
    best = _without_other_calls(best, line, fails)
    changed = True
    while changed and _now() < end:
        best, changed = _without_unread(best, fails)
        for chunk in (8, 4, 2, 1):
            best, less = _without_statements(best, chunk, fails, end)
            changed |= less
        for smaller in (_inlined, _simpler):
            best, less = smaller(best, fails, end)
            changed |= less
    return ast.unparse(best) + "\n"


def _now():
    """Seconds of CPU time, with a fifth of the clock's: a program can wait instead of compute."""
    return time.process_time() + time.monotonic() / 5


def _once(fails, text):
    """`fails`, but False for a text that was tried: it is no step forward, whatever it gave."""
    tried = {text}

    def first_time(text):
        if text in tried:
            return False
        tried.add(text)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", SyntaxWarning)  # calls of numbers, and such
                compile(text, "<program>", "exec")
        except (SyntaxError, ValueError):
            return False
        return fails(text)

    return first_time


def _without_other_calls(tree, line, fails):
    """Leave out at once the statements of the module that neither assign nor hold this line."""
    kept = [
        s for s in tree.body
        if not isinstance(s, (ast.Expr, ast.For)) or s.lineno <= (line or 0) <= s.end_lineno
    ]  # fmt: skip
    trial = ast.Module(kept, [])
    return trial if line is not None and _works(trial, fails) else tree


def _without_unread(tree, fails):
    """Leave out at once what is assigned and never read."""
    trial, changed = _copied(tree), False
    while _drop_unread(trial):
        changed = True
    return (trial, True) if changed and _works(trial, fails) else (tree, False)


def _drop_unread(tree):
    """Whether there was something to drop."""
    names = [node for node in ast.walk(tree) if isinstance(node, ast.Name)]
    read, dropped = {node.id for node in names if isinstance(node.ctx, ast.Load)}, False
    for node, name in list(_bodies(tree)):
        body = getattr(node, name)
        kept = [s for s in body if not _assigns_none_of(s, read)]
        if len(kept) < len(body):
            setattr(node, name, kept or ([ast.Pass()] if name == "body" else []))
            dropped = True
    return dropped


def _assigns_none_of(stmt, names):
    single = isinstance(stmt, ast.Assign) and isinstance(stmt.targets[0], ast.Name)
    return single and stmt.targets[0].id not in names


def _copied(tree):
    """What `copy.deepcopy` gives, several times faster."""
    if isinstance(tree, list):
        return [_copied(t) for t in tree]
    if not isinstance(tree, ast.AST):
        return tree
    new = type(tree)()
    new.__dict__.update({name: _copied(value) for name, value in vars(tree).items()})
    return new


def _bodies(tree):
    for node in ast.walk(tree):
        for name in ("body", "orelse"):
            found = getattr(node, name, None)
            if isinstance(found, list) and found:
                yield node, name


def _without_statements(tree, count, fails, end):
    changed = False
    for place in reversed(range(sum(1 for _ in _bodies(tree)))):
        bodies = list(_bodies(tree))
        if place >= len(bodies):
            continue
        first = max(0, len(getattr(*bodies[place])) - count)
        while first >= 0 and _now() < end:
            trial = _copied(tree)
            node, name = list(_bodies(trial))[place]
            body = getattr(node, name)
            if first < len(body):
                del body[first : first + count]
                if not body and name == "body" and not isinstance(node, ast.Module):
                    body.append(ast.Pass())
                if _works(trial, fails):
                    tree, changed = trial, True
                    if place >= sum(1 for _ in _bodies(tree)):
                        break
            first -= count
    return tree, changed


def _works(trial, fails):
    try:
        text = ast.unparse(ast.fix_missing_locations(trial))
    except ValueError:
        return False
    return fails(text)


def _inlined(tree, fails, end):
    """Put what is assigned to a name where the name is read."""
    changed, place = False, 0
    while _now() < end:
        trial = _copied(tree)
        found = [
            (getattr(node, name), stmt)
            for node, name in _bodies(trial) for stmt in getattr(node, name)
            if isinstance(stmt, ast.Assign) and isinstance(stmt.targets[0], ast.Name)
        ]  # fmt: skip
        if place >= len(found):
            break
        body, stmt = found[place]
        body.remove(stmt)
        if not body:
            body.append(ast.Pass())
        trial = _substituted(stmt.targets[0].id, stmt.value).visit(trial)
        simple = isinstance(stmt.value, (ast.Name, ast.Constant, ast.Tuple))
        shorter = simple or len(ast.unparse(trial)) < len(ast.unparse(tree)) + 20
        if shorter and _works(trial, fails):
            tree, changed = trial, True
        else:
            place += 1
    return tree, changed


class _substituted(ast.NodeTransformer):
    def __init__(self, name, value):
        self.name, self.value = name, value

    def visit_Name(self, node):
        reads = node.id == self.name and isinstance(node.ctx, ast.Load)
        return _copied(self.value) if reads else node


def _simpler(tree, fails, end):
    """Try each replacement of each node once, from the top down."""
    changed, place = False, 0
    while _now() < end:
        nodes = list(ast.walk(tree))
        if place >= len(nodes):
            break
        count = len(_replacements(nodes[place]))
        for which in range(count):
            trial = _copied(tree)
            old = list(ast.walk(trial))[place]
            options = _replacements(old)
            if which >= len(options):
                break
            trial = _replaced(trial, old, options[which])
            if _works(trial, fails):
                tree, changed = trial, True
                break
        else:
            place += 1
    return tree, changed


def _replacements(node):
    """What may stand instead of a node: lists are statements."""
    if isinstance(node, (ast.If, ast.For, ast.With, ast.While)):
        return [b for b in (node.body, getattr(node, "orelse", None)) if b]
    if isinstance(node, ast.Call):
        named = [k.value for k in node.keywords]
        shorter = [_without_keyword(node, i) for i in range(len(node.keywords))]
        return shorter + [a for a in [*node.args, *named] if not isinstance(a, ast.Starred)]
    if isinstance(node, ast.BinOp):
        return [node.left, node.right]
    if isinstance(node, (ast.Compare, ast.UnaryOp)):
        return [getattr(node, "left", None) or node.operand]
    if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load):
        return [node.value]
    if isinstance(node, ast.IfExp):
        return [node.body, node.orelse]
    if isinstance(node, ast.Lambda) and not isinstance(node.body, ast.Constant):
        return [ast.Lambda(node.args, a) for a in _replacements(node.body)]
    if isinstance(node, (ast.Tuple, ast.List)) and isinstance(node.ctx, ast.Load):
        return _shorter(node)
    if isinstance(node, ast.Dict):
        return [node.values[0]] if len(node.values) == 1 and node.values[0] else []
    if isinstance(node, ast.Constant):
        return _constants(node.value)
    if isinstance(node, ast.FunctionDef) and node.decorator_list:
        bare = _copied(node)
        bare.decorator_list = []
        return [[bare]]
    return []


def _without_keyword(node, place):
    keywords = [k for i, k in enumerate(node.keywords) if i != place]
    return ast.Call(node.func, node.args, keywords)


def _shorter(node):
    found = []
    for i in range(len(node.elts)):
        elts = [e for j, e in enumerate(node.elts) if j != i]
        found.append(type(node)(elts, node.ctx))
    return found


def _constants(value):
    if isinstance(value, bool) or value is None or isinstance(value, str):
        return []
    simpler = [n for n in (0, 1, 2, 1.0, 2.0) if type(n) is type(value)]
    if value in simpler:
        simpler = simpler[: simpler.index(value)]
    return [ast.Constant(n) for n in simpler if abs(n) <= abs(value)]


class _replaced_in(ast.NodeTransformer):
    def __init__(self, old, new):
        self.old, self.new = old, new

    def visit(self, node):
        return self.new if node is self.old else self.generic_visit(node)


def _replaced(tree, old, new):
    return _replaced_in(old, new).visit(tree)
