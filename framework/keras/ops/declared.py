"""Functions of keras.ops that ops declare by `public`, each created at its first use.

>>> from framework import keras
>>> keras.ops.arctan([0.0, 1.0]).numpy().round(3)
array([0.   , 0.785], dtype=float32)
"""

from framework.keras.ops.wrappers import RULES, KerasWrappers
from framework.ops.public import KERAS, declared

_keras = KerasWrappers(__name__)


def __getattr__(name):
    if name.startswith("__") or (found := declared(KERAS, name)) is None:
        raise AttributeError(f"no op declares a public function {name!r} of keras.ops")
    op, returns, rule = found
    create = _keras.unary if len(op.inputs) == 1 else _keras.binary
    function = globals()[name] = create(op, returns, RULES[rule], name)
    return function
