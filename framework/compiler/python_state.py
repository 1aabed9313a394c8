"""Guards on Python state: globals, closure variables and attributes that a traced function reads.

A trace records ops, but not that Python read `n` in `x * 2.0 if n % 2 else x * 3.0`. So during a
trace `Watch` follows the calls of user functions by `sys.settrace`. The bytecode of each function
shows what it reads. The plan guards plain values by value, and other objects by identity.
"""

import functools
import gc
import sys
import types
import weakref

from framework.compiler.bytecode import ATTRIBUTE, CLOSURE, GLOBAL, LOCAL, paths_of
from framework.compiler.graph_comparison import equal

_MISSING = object()
_PLAIN = frozenset((int, float, bool, complex, str, bytes, type(None)))
_PACKAGE = __name__.partition(".")[0]
# Libraries that the package itself calls: their functions do not count as user code.
_USED = (
    "numpy",
    "numba",
    "llvmlite",
    "h5py",
    "tqdm",
    "ml_dtypes",
)
_LIBRARY = frozenset((*sys.stdlib_module_names, *_USED)) - {"__main__"}
# Functions that read the exact type of a number, which a symbolic number cannot detect.
_ASKING = frozenset(("type", "arange"))
_FUNCTIONS = (types.FunctionType, types.MethodType)
_MOST = 256  # A trace has at most this many guards; beyond that, audits find changes.


class Guard:
    """A check that a global, closure variable or attribute path still has its traced value.

    Args:
        root: a globals dict (GLOBAL), a closure cell (CLOSURE) or a reference to an object (LOCAL).
        kind: GLOBAL, CLOSURE or LOCAL.
        name: the name of the variable where the path begins.
        steps: the path, as (ATTRIBUTE or ITEM, name or key) pairs.
        value: the value at the time of the trace.
    """

    __slots__ = ("held", "kind", "name", "plain", "root", "steps", "weak")

    def __init__(self, root, kind, name, steps, value):
        self.root, self.kind, self.name, self.steps = root, kind, name, steps
        self.plain = is_plain(value)
        # Arguments get a weak reference; globals and closures keep their objects alive anyway.
        self.weak = kind == LOCAL and not self.plain
        self.held = reference(value) if self.weak else value

    @property
    def key(self):
        """A key that identifies which global, closure variable or attribute path is checked."""
        root = self.root() if self.kind == LOCAL else self.root
        return id(root), self.name, self.steps

    @property
    def value(self):
        """The value at the time of the trace; `_MISSING` if the object has been deleted."""
        if not self.weak:
            return self.held
        found = self.held()
        return _MISSING if found is None else found

    @property
    def text(self):
        """The source code of the checked expression, such as `self.config["scale"]`."""
        parts = [f".{s}" if kind == ATTRIBUTE else f"[{s!r}]" for kind, s in self.steps]
        return "".join([self.name, *parts])

    def now(self):
        """Return the current value of the checked expression; `_MISSING` if it has none."""
        try:
            return _followed(_start(self.root, self.kind, self.name), self.steps)
        except (AttributeError, IndexError, KeyError, TypeError, ValueError):
            return _MISSING

    def holds(self):
        """Return whether the checked expression still has the value of the trace."""
        if self.kind == LOCAL and self.root() is None:
            # The object of the trace has been deleted, so no later call can read the value.
            return True
        return _same(self.now(), self.value)


class PythonState:
    """The guards of one trace."""

    def __init__(self, guards=()):
        self.guards = list(guards)

    def changed(self):
        """Return the first expression, as text, whose value changed since the trace, or None."""
        return next((guard.text for guard in self.guards if not guard.holds()), None)

    def differs_from(self, other):
        """Return an expression, as text, whose value differs in the other trace, or None."""
        known = {guard.key: guard for guard in other.guards}
        for guard in self.guards:
            twin = known.get(guard.key)
            if twin is not None and not _same(guard.value, twin.value):
                return guard.text
        return None

    def joined(self, other):
        """Return a PythonState with the guards of both traces."""
        return PythonState({guard.key: guard for guard in (*other.guards, *self.guards)}.values())

    def source(self, bind, unique, cell):
        """Return lines for the source of a plan that return None if a guard fails.

        The lines avoid function calls, because they run in each call of the plan.

        Args:
            bind: `bind(key, name, value)` gives a value a name in the source, and returns the name.
            unique: `unique(name)` returns a name that nothing else in the source has.
            cell: `cell(name, cell)` returns the name of the closure variable that has this cell.
        """
        if not self.guards:
            return []
        failures, now = bind(id(_FAILURES), "failures", _FAILURES), unique("now")
        lines = ["try:"]
        for guard in self.guards:
            lines += [f"    if {_fails(guard, bind, now, cell)}:  # Python read {guard.text}"]
            lines += ["        return None"]
        return [*lines, f"except {failures}:", "    return None"]


_FAILURES = (AttributeError, IndexError, KeyError, NameError, TypeError, ValueError)


def _fails(guard, bind, now, cell):
    """Return an expression that is true if a guard fails; its identifiers come from bytecode.

    If the expression needs a variable, it assigns to the name `now`.
    """
    root, name = guard.root, guard.name
    if guard.kind == GLOBAL:
        found = f"{bind(id(root), 'global_variables', root)}[{name!r}]"
    elif guard.kind == CLOSURE:
        found = cell(name, root)
    else:
        found = now
    for kind, step in guard.steps:
        is_attribute = kind == ATTRIBUTE
        found += f".{step}" if is_attribute else f"[{bind(('key', step), 'key', step)}]"
    held = bind(id(guard), f"traced_{name}", guard.held)
    if guard.plain:
        same = bind(id(_same), "same", _same)
        test = f"({now} := {found}) is not {held} and not {same}({now}, {held})"
    elif guard.weak:
        test = f"(({now} := {found}) is None or {now} is not {held}())"
    else:
        test = f"{found} is not {held}"
    if guard.kind != LOCAL:
        return test
    weak = bind(id(root), f"reference_to_{name}", root)
    return f"({now} := {weak}()) is not None and {test}"


def _same(a, b):
    return a is b or (type(a) is type(b) and is_plain(a) and is_plain(b) and equal(a, b))


def is_plain(value):
    """Return whether guards compare a value by `==`; others are compared by identity."""
    if type(value) is tuple:
        return len(value) <= 16 and all(map(is_plain, value))
    return type(value) in _PLAIN


def reference(value):
    """Return a weak reference to `value`, or, if impossible, a function that returns `value`."""
    try:
        return weakref.ref(value)
    except TypeError:
        return lambda: value


# ---- values along a path of attributes -----------------------------------------------------------


def _start(root, kind, name):
    if kind == GLOBAL:
        return root[name]
    return root.cell_contents if kind == CLOSURE else root()


def _followed(value, steps):
    for kind, step in steps:
        value = getattr(value, step) if kind == ATTRIBUTE else value[step]
    return value


def _attribute(value, name):
    """Return (value of an attribute, whether the read runs no user code)."""
    if isinstance(value, types.ModuleType):
        return value.__dict__.get(name, _MISSING), not _is_library(value.__name__)
    kind = type(value)
    found = next((b.__dict__[name] for b in kind.__mro__ if name in b.__dict__), _MISSING)
    if isinstance(found, types.MemberDescriptorType):
        return getattr(value, name, _MISSING), True
    if found is not _MISSING and hasattr(type(found), "__set__"):
        # Reading a descriptor, such as a property, would run code.
        return _MISSING, False
    own = _own(value)
    if name in own:
        return own[name], True
    if isinstance(found, (staticmethod, classmethod)):
        return found.__func__, False
    return found, found is not _MISSING and not hasattr(type(found), "__get__")


def _own(value):
    """Return the attributes of an instance, without calling a symbolic number's `__getattr__`."""
    try:
        own = object.__getattribute__(value, "__dict__")
    except AttributeError:
        return {}
    return own if type(own) is dict else {}


def _item(value, key):
    if type(value) not in (dict, list, tuple):
        return _MISSING, False
    try:
        return value[key], True
    except (KeyError, IndexError, TypeError):
        return _MISSING, False


def _is_library(module):
    top = module.partition(".")[0]
    # The generated `__new__` of a named tuple belongs to a module called namedtuple_NAME; it is not
    # user code.
    return top == _PACKAGE or top in _LIBRARY or top.startswith("namedtuple_")


# ---- watching a traced call ----------------------------------------------------------------------


class Watch:
    """Context manager that finds the Python state read by user functions called within it.

    Args:
        function: the first user function, if known; its closure cells are found through it.

    Afterwards, `state` has the guards, `trouble` is the reason why a plan cannot repeat the call or
    None, and `asks_for_types` is whether user code called `type`.
    """

    def __init__(self, function=None):
        self._functions = {}  # id of a code object -> function with this code
        self._remember(function)
        self._guards, self._roots = {}, []
        self._seen = set()  # ids of the code objects that the watch has already processed
        # These references keep the code objects alive, so that no other object gets their ids.
        self._held = []
        # id of a random generator -> (generator, its state before the call, its name)
        self._random = {}
        self.asks_for_types = False
        self.state, self.trouble, self.changed = PythonState(), None, None
        self.is_over = False

    def __enter__(self):
        # Callbacks of the garbage collector would count as user code, so disable the collector.
        self._collects = gc.isenabled()
        gc.disable()
        self._outer = sys.gettrace()
        self._global_random = _global_random()
        self._base = sys._getframe(1)  # the frame of the code that calls the traced function
        # sys.settrace costs less than sys.setprofile, which reports calls of C functions too.
        sys.settrace(self._see)
        return self

    def __exit__(self, kind, *_):
        sys.settrace(self._outer)
        if self._collects:
            gc.enable()
        if kind is None:
            self.is_over = True
            self.trouble = self._why_not()
            self._roots.clear()
            self._held.clear()
            alive = [g for g in self._guards.values() if g.kind != LOCAL or g.root() is not None]
            self.state = PythonState(alive)
            self.changed = self.state.changed()
        self._functions, self._random, self._base = {}, {}, None

    def _why_not(self):
        for name, before, now in zip(_RANDOM, self._global_random, _global_random(), strict=True):
            if before is not None and before != now:
                return f"the function draws from the generator of {name}, outside framework.random"
        for generator, before, name in self._random.values():
            if _state_of(generator) != before:
                return f"the function draws from {name}, a generator outside framework.random"
        return None

    def _see(self, frame, event, arg):
        """Trace function: process a call, then pass the event on to a debugger or coverage tool."""
        code = frame.f_code
        if event == "call" and id(code) not in self._seen:
            asks = not _ASKING.isdisjoint(code.co_names)
            is_library = _is_library(frame.f_globals.get("__name__") or "")
            if is_library and not asks:
                # This reference to the code object prevents reuse of its id.
                self._held.append(code)
                self._seen.add(id(code))
            elif not self._is_importing(frame):
                if not is_library:
                    self._enter(frame, code, paths_of(code))
                if asks and not self.asks_for_types:
                    self.asks_for_types = not _is_for_package(frame)
        return None if self._outer is None else self._outer(frame, event, arg)

    def _is_importing(self, frame):
        """Return whether a frame belongs to an import during the call, such as an import hook.

        The package imports modules when they are first needed. Import hooks of pytest or of a
        debugger are not user code.
        """
        while frame is not None and frame is not self._base:
            if frame.f_globals.get("__name__") == "importlib._bootstrap":
                return True
            frame = frame.f_back
        return False

    def _enter(self, frame, code, paths):
        once = all(path[0] != LOCAL for path in paths) and not code.co_freevars
        if once and _ASKING.isdisjoint(code.co_names):
            self._held.append(code)
            self._seen.add(id(code))
        function = self._functions.get(id(code))
        local = None
        if code.co_freevars and function is None:
            function = self._method(frame, code)
        for kind, name, steps in paths:
            if kind == GLOBAL:
                self._read(frame.f_globals, GLOBAL, name, steps)
            elif kind == CLOSURE and function is not None:
                cell = function.__closure__[code.co_freevars.index(name)]
                self._read(cell, CLOSURE, name, steps)
            else:
                local = frame.f_locals if local is None else local
                self._read_local(local.get(name), name, steps)

    def _read_local(self, value, name, steps):
        """Guard a path of attributes that begins at an argument of the function, such as `self`."""
        module = getattr(type(value), "__module__", None) or ""
        if steps and not _is_library(module):
            self._roots.append(value)
            self._read(reference(value), LOCAL, name, steps)
        elif not steps:
            self._remember(value)

    def _read(self, root, kind, name, steps):
        """Follow a path as long as reading it runs no user code, and add a guard at its end."""
        try:
            value = _start(root, kind, name)
        # The name is a builtin, or its closure cell is empty: there is nothing to guard.
        except (KeyError, ValueError):
            return
        taken = 0
        for step_kind, step in steps:
            self._remember(value)
            found, repeats = (_attribute if step_kind == ATTRIBUTE else _item)(value, step)
            if found is _MISSING or not repeats:
                self._remember(found)
                break
            value, taken = found, taken + 1
        self._remember(value)
        if (kind == LOCAL and not taken) or isinstance(value, types.ModuleType):
            return
        if type(value).__module__ == "builtins" and isinstance(value, type):
            return
        self._note_random(value, name)
        guard = Guard(root, kind, name, tuple(steps[:taken]), value)
        if len(self._guards) < _MOST:
            self._guards.setdefault(guard.key, guard)

    def _note_random(self, value, name):
        if id(value) not in self._random and (state := _state_of(value)) is not None:
            self._random[id(value)] = value, state, name

    def _remember(self, value):
        """Store a function by its code object, so that a call can find its closure."""
        while value is not None:
            if isinstance(value, types.MethodType):
                value = value.__func__
            # A tf.function that is a method is a `partial` of the function.
            elif isinstance(value, functools.partial):
                value = value.func
            if isinstance(value, types.FunctionType):
                self._functions[id(value.__code__)] = value
                value = value.__dict__.get("__wrapped__")
            else:
                value = _own(value).get("python_function")

    def _method(self, frame, code):
        """Return the function of a frame if it is a method of its first argument's class."""
        if not code.co_argcount:
            return None
        first = frame.f_locals.get(code.co_varnames[0])
        for base in type(first).__mro__:
            found = base.__dict__.get(code.co_name)
            if isinstance(found, types.FunctionType) and found.__code__ is code:
                return found
        return None


def _is_for_package(frame):
    """Return whether a frame belongs to the package or to a library called by it."""
    while frame is not None:
        module = frame.f_globals.get("__name__") or ""
        top = module.partition(".")[0]
        if top == _PACKAGE:
            return True
        if top not in _LIBRARY:
            return False
        frame = frame.f_back
    return False


# ---- random numbers outside the package ----------------------------------------------------------

_RANDOM = ("random", "numpy.random")


def _global_random():
    """Return the states of Python's and NumPy's global generators; None if not imported."""
    python, numpy = (sys.modules.get(name) for name in _RANDOM)
    of_python = None if python is None else python.getstate()
    if numpy is None or not hasattr(numpy, "get_state"):
        return of_python, None
    return of_python, _exactly(numpy.get_state(legacy=False))


def _state_of(generator):
    """Return the state of a random generator of Python or NumPy; None for other objects."""
    module = type(generator).__module__
    if module.startswith("numpy.random") and hasattr(generator, "bit_generator"):
        return _exactly(generator.bit_generator.state)
    if module.startswith("numpy.random") and hasattr(generator, "get_state"):
        return _exactly(generator.get_state(legacy=False))
    if module == "random" and hasattr(generator, "getstate"):
        return generator.getstate()
    return None


def _exactly(state):
    """Return a generator's state with arrays replaced by bytes, so that `==` can compare it."""
    if isinstance(state, dict):
        return tuple([(name, _exactly(each)) for name, each in state.items()])
    return state.tobytes() if hasattr(state, "tobytes") else state
