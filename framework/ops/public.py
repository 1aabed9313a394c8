"""Declarations of public functions that convert their arguments and call one op.

    public(asin, "the angle in [-π/2, π/2] whose sine is {x}", "floats", keras="arcsin")

declares `tf.math.asin(x, name=None)` and `keras.ops.arcsin(x)`. `functions/declared.py` and
`keras/ops/declared.py` create the functions at their first use; the type stubs (.pyi) of the
namespaces list them.
"""

from importlib import import_module

from framework.core.errors import FrameworkError
from framework.core.op import Binary, Unary

MODULES = ("elementwise", "special", "numerics")  # the modules of this package that call `public`

TENSORFLOW, KERAS = {}, {}
"""Map the name of a function to its op, the description of its result, and its rule's name."""


def public(op, returns, rule="", tf="", keras=""):
    """Declare the public functions of an op of one or two tensors without attributes.

    Args:
        op: the op.
        returns: the description of the result, for docstrings; {x} and {y} are the arguments.
        rule: how the arguments are converted: a key of RULES in `functions/wrappers.py`. By
            default "anything" for one argument, "alike" for two.
        tf: the name of TensorFlow's function, by default that of the op; None: there is none.
        keras: the same for `keras.ops`.
    """
    if not isinstance(op, (Unary, Binary)):
        raise FrameworkError(f"public: expected an op of one or two tensors, got {op!r}.")
    declaration = op, returns, rule or ("anything" if isinstance(op, Unary) else "alike")
    for functions, name in ((TENSORFLOW, tf), (KERAS, keras)):
        if name is not None and functions.setdefault(name or op.name, declaration)[0] is not op:
            raise FrameworkError(f"public: {name or op.name!r} is already declared for another op.")


def declared(functions, name):
    """Return the entry of `name` in TENSORFLOW or KERAS, or None."""
    for module in MODULES:
        if name in functions:
            break
        import_module(f"framework.ops.{module}")
    return functions.get(name)
