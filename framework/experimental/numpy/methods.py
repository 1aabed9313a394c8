"""NumPy's array methods, which `experimental_enable_numpy_behavior` adds to tensors."""

from framework.core.tensor import Tensor
from framework.experimental.numpy import functions
from framework.experimental.numpy.conversion import asarray
from framework.experimental.numpy.declarations import OWN, declared

# {method: function that it calls}: the methods that TensorFlow adds to tensors. NumPy's own
# functions look them up on their argument: np.mean(x) calls x.mean().
_METHODS = {
    "clip": "clip", "flatten": "flatten", "max": "amax", "mean": "mean", "min": "amin",
    "ravel": "ravel", "swapaxes": "swapaxes",
}  # fmt: skip


def _reshaped(x, *shape, order="C"):
    return declared("reshape")(x, shape[0] if len(shape) == 1 else shape)


def _transposed(x, *axes):
    axes = axes[0] if len(axes) == 1 else axes or None
    return declared("transpose")(x, axes)


def _method(name):
    """Return a method that looks up the function of the given name when it is called."""

    def method(self, *args, **kwargs):
        function = getattr(functions, name, None) or declared(name, OWN)
        return function(self, *args, **kwargs)

    method.__name__ = name
    return method


def _members():
    found = {name: _method(function) for name, function in _METHODS.items()}
    found["reshape"], found["transpose"] = _reshaped, _transposed
    found["astype"] = asarray
    found["T"] = property(_transposed)
    found["itemsize"] = property(lambda x: x.array.itemsize)
    found["data"] = property(lambda x: x.numpy().data)
    return found


def add_methods():
    """Add NumPy's array methods to Tensor, except those that it already has."""
    for name, member in _members().items():
        if not hasattr(Tensor, name):
            setattr(Tensor, name, member)


def remove_methods():
    """Remove the added methods from Tensor."""
    for name in _members():
        if name in vars(Tensor):
            delattr(Tensor, name)
