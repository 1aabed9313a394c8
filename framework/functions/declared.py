"""TensorFlow's functions that ops declare by `public`, each created at its first use.

>>> import framework as tf
>>> tf.math.atan([0.0, 1.0]).numpy().round(3)
array([0.   , 0.785], dtype=float32)
"""

from framework.functions.wrappers import RULES, Wrappers
from framework.ops.public import TENSORFLOW, declared

_tf = Wrappers(__name__)


def __getattr__(name):
    if name.startswith("__") or (found := declared(TENSORFLOW, name)) is None:
        raise AttributeError(f"no op declares a public function {name!r} of TensorFlow")
    op, returns, rule = found
    create = _tf.unary if len(op.inputs) == 1 else _tf.binary
    function = globals()[name] = create(op, returns, RULES[rule], name)
    return function
