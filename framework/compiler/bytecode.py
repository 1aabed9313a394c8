"""Find the state that a function's bytecode reads from outside, such as `self.config.scale`."""

import dis

GLOBAL, CLOSURE, LOCAL, ATTRIBUTE, ITEM = "global", "closure", "local", "attribute", "item"
_KEPT = 4096  # The cache has entries for at most this many code objects.

_GLOBALS = frozenset(("LOAD_GLOBAL", "LOAD_NAME"))
_CELLS = frozenset(("LOAD_DEREF", "LOAD_CLASSDEREF"))
_LOCALS = frozenset(("LOAD_FAST", "LOAD_FAST_CHECK", "LOAD_FAST_BORROW"))
_PAIRS = frozenset(("LOAD_FAST_LOAD_FAST", "LOAD_FAST_BORROW_LOAD_FAST_BORROW"))
_ATTRIBUTES = frozenset(("LOAD_ATTR", "LOAD_METHOD"))
_CONSTANTS = frozenset(("LOAD_CONST", "LOAD_SMALL_INT"))
_IDLE = frozenset(
    ("CACHE", "COPY", "DUP_TOP", "EXTENDED_ARG", "NOP", "PUSH_NULL", "ROT_TWO", "SWAP")
)
_STORES = {
    "STORE_GLOBAL": GLOBAL, "STORE_NAME": GLOBAL, "STORE_DEREF": CLOSURE, "STORE_ATTR": ATTRIBUTE,
}  # fmt: skip

_known = {}  # id of a code object -> (code object, result of `paths_of`)


def paths_of(code):
    """Return the globals, closure variables and arguments that code reads, with attribute paths.

    Returns:
        A list of (kind, name, steps): GLOBAL, CLOSURE or LOCAL (an argument), the variable's name,
        and a tuple of (ATTRIBUTE, name) and (ITEM, key) pairs.
    """
    found = _known.get(id(code))
    if found is None:
        if len(_known) >= _KEPT:
            _known.clear()
        # The cache entry keeps the code object alive, so that no other object gets its id.
        found = _known[id(code)] = code, _paths(code)
    return found[1]


def _paths(code):
    instructions = [i for i in dis.get_instructions(code) if i.opname not in _IDLE]
    stored = {i.argval for i in instructions if i.opname.startswith(("STORE_FAST", "DELETE_FAST"))}
    arguments = set(code.co_varnames[: _argument_count(code)]) - stored
    found = {}
    for position, instruction in enumerate(instructions):
        for kind, name in _roots(instruction, code, arguments):
            steps, end = _steps(instructions, position + 1)
            if not _only_updates(instructions, end, kind, name, steps):
                found[kind, name, steps] = None
    return list(found)


def _argument_count(code):
    # These flags of a code object mark *args and **kwargs.
    starred = bool(code.co_flags & 0x04) + bool(code.co_flags & 0x08)
    return code.co_argcount + code.co_kwonlyargcount + starred


def _roots(instruction, code, arguments):
    """Return (kind, name) of each variable that an instruction loads."""
    name, value = instruction.opname, instruction.argval
    if name in _GLOBALS:
        return [(GLOBAL, value)]
    if name in _CELLS:
        if value in code.co_freevars:
            return [] if value == "__class__" else [(CLOSURE, value)]
        return [(LOCAL, value)] if value in arguments else []
    if name in _LOCALS:
        return [(LOCAL, value)] if value in arguments else []
    # The instruction loads two variables; the attribute that follows belongs to the second.
    if name in _PAIRS:
        return [(LOCAL, value[1])] if value[1] in arguments else []
    return []


def _steps(instructions, position):
    """Return the attributes and constant keys read after a load, and the next position."""
    steps = []
    while position < len(instructions):
        instruction = instructions[position]
        if instruction.opname in _ATTRIBUTES and instruction.argval.isidentifier():
            steps.append((ATTRIBUTE, instruction.argval))
            position += 1
        elif _is_item(instructions, position):
            steps.append((ITEM, instruction.argval))
            position += 2
        else:
            break
    return tuple(steps), position


def _is_item(instructions, position):
    if instructions[position].opname not in _CONSTANTS or position + 1 == len(instructions):
        return False
    if type(instructions[position].argval) not in (str, int):
        return False
    after = instructions[position + 1]
    return after.opname == "BINARY_SUBSCR" or (
        after.opname == "BINARY_OP" and after.argrepr == "[]"
    )


def _only_updates(instructions, position, kind, name, steps):
    """Return whether a read only serves `n += constant`, as in a counter of calls.

    The function's result does not depend on such a read.
    """
    if position + 2 >= len(instructions) or instructions[position].opname not in _CONSTANTS:
        return False
    operation, store = instructions[position + 1], instructions[position + 2]
    in_place = operation.opname.startswith("INPLACE_") or operation.argrepr.endswith("=")
    if not in_place or store.opname not in _STORES:
        return False
    if steps:
        return store.opname == "STORE_ATTR" and steps[-1] == (ATTRIBUTE, store.argval)
    return _STORES[store.opname] == kind and store.argval == name
