"""Values of the members of Tensor, Variable, GradientTape and the other classes."""

import io
from contextlib import redirect_stdout

import numpy as np

import framework as tf

A, B = np.array([[-7.0, 5.0], [6.0, 3.0]]), np.array([[2.0, -3.0], [4.0, 3.0]])
P, Q = np.array([True, True, False]), np.array([True, False, False])

TWO = {
    "__add__": np.add, "__sub__": np.subtract, "__mul__": np.multiply, "__truediv__": np.divide,
    "__floordiv__": np.floor_divide, "__mod__": np.mod, "__matmul__": np.matmul,
    "__eq__": np.equal, "__ne__": np.not_equal, "__lt__": np.less, "__le__": np.less_equal,
    "__gt__": np.greater, "__ge__": np.greater_equal,
}  # fmt: skip
TURNED = {
    "__radd__": np.add, "__rsub__": np.subtract, "__rmul__": np.multiply,
    "__rtruediv__": np.divide, "__rfloordiv__": np.floor_divide, "__rmod__": np.mod,
    "__rmatmul__": np.matmul,
}  # fmt: skip
LOGICAL = {
    "__and__": np.logical_and, "__or__": np.logical_or, "__xor__": np.logical_xor,
    "__rand__": np.logical_and, "__ror__": np.logical_or, "__rxor__": np.logical_xor,
}  # fmt: skip
ONE = {"__abs__": np.abs, "__neg__": np.negative, "__pos__": np.positive}


def operators(face):
    """What Tensor and Variable have in common; `face` makes one."""
    found = {name: (lambda f: f(face(A), B), np_f(A, B)) for name, np_f in TWO.items()}
    found |= {name: (lambda f: f(face(A), B), np_f(B, A)) for name, np_f in TURNED.items()}
    found |= {name: (lambda f: f(face(P), Q), np_f(P, Q)) for name, np_f in LOGICAL.items()}
    found |= {name: (lambda f: f(face(A)), np_f(A)) for name, np_f in ONE.items()}
    return found | {
        "__pow__": (lambda f: f(face(A), 2.0), A**2),
        "__rpow__": (lambda f: f(face(A), 2.0), 2**A),
        "__invert__": (lambda f: f(face(P)), ~P),
        "__getitem__": (lambda f: f(face(A), (slice(None), 1)), A[:, 1]),
        "__iter__": (lambda f: list(f(face(A))), list(A)),
        "__len__": (lambda f: f(face(A)), 2),
        "__bool__": (lambda f: [f(face(1.0)), f(face(0.0))], [True, False]),
        "__float__": (lambda f: f(face(1.5)), 1.5),
        "__int__": (lambda f: f(face(3.7)), 3),
        "__index__": (lambda f: [10, 20, 30][f(face(2))], 30),
        "__complex__": (lambda f: f(face(1 + 2j)), 1 + 2j),
        "__round__": (lambda f: f(face(1.26), 1), 1.3),
        "__array__": (lambda f: f(face(A)), A),
        "__hash__": (lambda f: refused(TypeError, f, face(A)), True),
        "device": (lambda f: "CPU:0" in f.__get__(face(A)), True),
        "dtype": (lambda f: f.__get__(face(A)), tf.float64),
        "shape": (lambda f: f.__get__(face(A)), (2, 2)),
        "ndim": (lambda f: f.__get__(face(A)), 2),
        "size": (lambda f: f.__get__(face(A)), 4),
        "get_shape": (lambda f: f(face(A)), (2, 2)),
        "numpy": (lambda f: f(face(A)), A),
        "item": (lambda f: f(face(1.5)), 1.5),
        "ref": (lambda f: f(face(A)).deref(), A),
        "set_shape": (
            lambda f: [f(face(A), (2, None)), refused(ValueError, f, face(A), (3,))], [None, True]
        ),
        "__deepcopy__": (lambda f: f(face(A), {}), A),
        "__format__": (lambda f: f(face(1.26), ".1f"), "1.3"),
        "array": (lambda f: f.__get__(face(A)), A),
    }  # fmt: skip


def refused(error, f, *args, **kwargs):
    """Whether the call raises `error`."""
    try:
        f(*args, **kwargs)
    except error:
        return True
    return False


def after(start, *args):
    """The call of a method that changes a variable of value `start`, and the value it has then."""

    def call(f):
        v = tf.Variable(start)
        f(v, *args)
        return v

    return call


def slices(*values):
    return tf.IndexedSlices(tf.constant(values), tf.constant([0, 2]))


V = [1.0, 2.0, 4.0]
PLACES = [[0], [2]]

VARIABLE = {
    "__copy__": (lambda f: refused(TypeError, f, tf.Variable(A)), True),  # says: use deepcopy
    "assign": (after(V, [5.0, 6.0, 7.0]), [5.0, 6.0, 7.0]),
    "assign_add": (after(V, [1.0, 1.0, 2.0]), [2.0, 3.0, 6.0]),
    "assign_sub": (after(V, [1.0, 1.0, 2.0]), [0.0, 1.0, 2.0]),
    "constraint": (lambda f: f.__get__(tf.Variable(1.0, constraint=tf.abs))(-2.0), 2.0),
    "sparse_read": (lambda f: f(tf.Variable(A), [1, 0]), A[[1, 0]]),
    "count_up_to": (lambda f: f(tf.Variable(3), 5), 3),
    "batch_scatter_update": (
        lambda f: f(
            tf.Variable([[1.0, 2.0], [3.0, 4.0]]), tf.IndexedSlices([[10.0], [20.0]], [[1], [0]])
        ),
        [[1.0, 10.0], [20.0, 4.0]],
    ),
    "gather_nd": (lambda f: f(tf.Variable(A), [[1, 0]]), [6.0]),
    "name": (lambda f: f.__get__(tf.Variable(1.0, name="w")), "w:0"),
    "read": (lambda f: f(tf.Variable(V)), V),
    "read_value": (lambda f: f(tf.Variable(V)), V),
    "value": (lambda f: f(tf.Variable(V)), V),
    "trainable": (lambda f: f.__get__(tf.Variable(1.0, trainable=False)), False),
    "scatter_add": (after(V, slices(10.0, 20.0)), [11.0, 2.0, 24.0]),
    "scatter_sub": (after(V, slices(10.0, 20.0)), [-9.0, 2.0, -16.0]),
    "scatter_mul": (after(V, slices(10.0, 20.0)), [10.0, 2.0, 80.0]),
    "scatter_div": (after(V, slices(10.0, 20.0)), [0.1, 2.0, 0.2]),
    "scatter_max": (after(V, slices(3.0, 3.0)), [3.0, 2.0, 4.0]),
    "scatter_min": (after(V, slices(3.0, 3.0)), [1.0, 2.0, 3.0]),
    "scatter_update": (after(V, slices(10.0, 20.0)), [10.0, 2.0, 20.0]),
    "scatter_nd_add": (after(V, PLACES, [10.0, 20.0]), [11.0, 2.0, 24.0]),
    "scatter_nd_sub": (after(V, PLACES, [10.0, 20.0]), [-9.0, 2.0, -16.0]),
    "scatter_nd_update": (after(V, PLACES, [10.0, 20.0]), [10.0, 2.0, 20.0]),
    "scatter_nd_max": (after(V, PLACES, [3.0, 3.0]), [3.0, 2.0, 4.0]),
    "scatter_nd_min": (after(V, PLACES, [3.0, 3.0]), [1.0, 2.0, 3.0]),
}

TENSOR = {
    "__copy__": (lambda f: f(tf.constant(A)), A),
    "name": (lambda f: refused(AttributeError, f.__get__, tf.constant(A)), True),
    "__bytes__": (lambda f: f(tf.constant([1.0])) == np.float32(1).tobytes(), True),
    "__buffer__": (lambda f: f(tf.constant([1.0, 2.0]), 0).tolist(), [1.0, 2.0]),
    "__contains__": (lambda f: refused(TypeError, f, tf.constant(A), 3.0), True),
    "__setitem__": (lambda f: refused(TypeError, f, tf.constant(A), 0, 3.0), True),
    "nbytes": (lambda f: f.__get__(tf.constant(A)), 32),
    "tolist": (lambda f: f(tf.constant(A)), A.tolist()),
    "assign": (lambda f: f.__get__(tf.Variable(A)[0])([1.0, 2.0]), [[1.0, 2.0], A[1]]),
}


# ---- tapes ---------------------------------------------------------------------------------------


def cubes(use=lambda tape, x, y: None, **options):
    x = tf.Variable([1.0, 2.0])
    with tf.GradientTape(**options) as tape:
        y = x**3.0
    return use(tape, x, y)


def entered(f):
    tape = tf.GradientTape()
    x = tf.Variable(3.0)
    found = f(tape) is tape
    y = x * x
    tape.__exit__(None, None, None)
    return found, tape.gradient(y, x)


def left(f):
    tape = tf.GradientTape(persistent=True)
    x = tf.Variable(3.0)
    tape.__enter__()
    y = x * x
    f(tape, None, None, None)
    z = x * x
    return tape.gradient(y, x), tape.gradient(z, x)


def forgotten(f):
    x = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y = x * x
        f(tape)
        y += x
    return tape.gradient(y, x)


def stopped(f):
    x = tf.Variable(3.0)
    with tf.GradientTape(persistent=True) as tape:
        y = x * x
        with f(tape):
            z = x * x
    return tape.gradient(y, x), tape.gradient(z, x)


def watched(f):
    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        f(tape, x)
        y = x * x
    return tape.gradient(y, x)


def by_batch(f):
    x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x[:, ::-1] * x[:, :1]
    return f(tape, y, x)


TAPE = {
    "__enter__": (entered, (True, 6.0)),
    "__exit__": (left, (6.0, None)),
    "gradient": (lambda f: cubes(lambda tape, x, y: f(tape, y, x)), [3.0, 12.0]),
    "jacobian": (lambda f: cubes(lambda tape, x, y: f(tape, y, x)), [[3.0, 0.0], [0.0, 12.0]]),
    "batch_jacobian": (by_batch, [[[2.0, 1.0], [2.0, 0.0]], [[4.0, 3.0], [6.0, 0.0]]]),
    "reset": (forgotten, 1.0),
    "stop_recording": (stopped, (6.0, None)),
    "watch": (watched, 6.0),
    "watched_variables": (lambda f: cubes(lambda tape, x, y: f(tape)[0] is x), True),
}  # fmt: skip


def pushed(f):
    x = tf.constant([1.0, 2.0])
    with tf.autodiff.ForwardAccumulator(x, tf.constant([1.0, 0.5])) as acc:
        y = x**3.0
    return f(acc, y)


def entered_forward(f):
    x = tf.constant(2.0)
    acc = tf.autodiff.ForwardAccumulator(x, tf.constant(1.0))
    found = f(acc) is acc
    y = x * x
    acc.__exit__(None, None, None)
    return found, acc.jvp(y)


def left_forward(f):
    x = tf.constant(2.0)
    acc = tf.autodiff.ForwardAccumulator(x, tf.constant(1.0))
    acc.__enter__()
    f(acc, None, None, None)
    return acc.jvp(x * x)


FORWARD = {
    "__enter__": (entered_forward, (True, 4.0)),
    "__exit__": (left_forward, None),
    "jvp": (pushed, [3.0, 6.0]),
}


# ---- modules and scopes --------------------------------------------------------------------------


class Line(tf.Module):
    def __init__(self):
        super().__init__(name="line")
        self.w, self.b = tf.Variable(2.0), tf.Variable(1.0, trainable=False)
        self.inner = tf.Module(name="inner")


def numbers(variables):
    return [float(v) for v in variables]


def named_in(scope):
    with scope:
        return tf.Variable(1.0, name="w").name


def scoped(f):
    class Scoped(tf.Module):
        @f
        def make(self):
            return tf.Variable(1.0, name="w").name

    return Scoped(name="m").make()


def entered_scope(f):
    scope = tf.name_scope("a")
    name = f(scope)
    scope.__exit__(None, None, None)
    return name


def left_scope(f):
    scope = tf.name_scope("a")
    scope.__enter__()
    f(scope, None, None, None)
    return tf.Variable(1.0, name="w").name


MODULE = {
    "name": (lambda f: f.__get__(Line()), "line"),
    "name_scope": (lambda f: named_in(f.__get__(Line())), "line/w:0"),
    "variables": (lambda f: numbers(f.__get__(Line())), [1.0, 2.0]),
    "trainable_variables": (lambda f: numbers(f.__get__(Line())), [2.0]),
    "__getstate__": (lambda f: sorted(f(Line())), sorted(vars(Line()))),
    "non_trainable_variables": (lambda f: numbers(f.__get__(Line())), [1.0]),
    "submodules": (lambda f: [m.name for m in f.__get__(Line())], ["inner"]),
    "with_name_scope": (scoped, "m/w:0"),
}

SCOPE = {
    "__enter__": (entered_scope, "a/"),
    "__exit__": (left_scope, "w:0"),
    "name": (lambda f: f.__get__(tf.name_scope("a")), "a"),
}


def printed(f):
    out = io.StringIO()
    with redirect_stdout(out):
        f("a", tf.constant([1, 2]), output_stream=out)
    return out.getvalue()


def under(prefix, rows):
    return {f"{prefix}.{name}": row for name, row in rows.items()}


VALUES = {
    **under("Tensor", operators(tf.constant) | TENSOR),
    **under("Variable", operators(tf.Variable) | VARIABLE),
    **under("GradientTape", TAPE),
    **under("autodiff.ForwardAccumulator", FORWARD),
    **under("Module", MODULE),
    **under("name_scope", SCOPE),
    "Tensor": (lambda f: isinstance(tf.constant(1), f), True),
    "Variable": (lambda f: f(V) * 2.0, [2.0, 4.0, 8.0]),
    "Module": (lambda f: f(name="m").name, "m"),
    "name_scope": (lambda f: named_in(f("s")), "s/w:0"),
    "print": (printed, "a [1 2]\n"),
    "GradientTape": (
        lambda f: cubes(lambda tape, x, y: [isinstance(tape, f), tape.gradient(y, x)]),
        [True, [3.0, 12.0]],
    ),
    "UnconnectedGradients": (lambda f: [f("none").name, f("zero").name], ["NONE", "ZERO"]),
    "UnconnectedGradients.NONE": (
        lambda f: cubes(lambda tape, x, y: tape.gradient(y, tf.Variable(1.0), None, f)), None
    ),
    "UnconnectedGradients.ZERO": (
        lambda f: cubes(lambda tape, x, y: tape.gradient(y, tf.Variable(1.0), None, f)), 0.0
    ),
    "autodiff.ForwardAccumulator": (
        lambda f: pushed(lambda acc, y: [isinstance(acc, f), acc.jvp(y)]), [True, [3.0, 6.0]]
    ),
    "gradients": (lambda f: refused(RuntimeError, f, tf.constant(1.0), tf.constant(1.0)), True),
    "hessians": (lambda f: refused(RuntimeError, f, tf.constant(1.0), tf.constant(1.0)), True),
}  # fmt: skip
