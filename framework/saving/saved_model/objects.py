"""The objects of a saved model: the parts that are saved, and the loaded objects."""

from pathlib import Path
from typing import Any

from framework.compiler.concrete_function import ConcreteFunction
from framework.compiler.function import BoundFunction, Function
from framework.core.errors import InvalidArgumentError
from framework.core.module import Module
from framework.core.variable import CoreVariable
from framework.layers.base import Layer
from framework.saving.object_graph import children, is_trackable
from framework.saving.saved_model.functions import CallableOf, LoadedSignature, RestoredFunction


class Asset:
    """A file that is part of a saved model, such as a vocabulary.

    Args:
        path: the path of the file.

    >>> import pathlib, tempfile, framework as tf
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "words.txt").write_text("a")
    >>> module = tf.Module()
    >>> module.words = tf.saved_model.Asset(folder / "words.txt")
    >>> tf.saved_model.save(module, folder / "saved")
    >>> pathlib.Path(tf.saved_model.load(folder / "saved").words.asset_path).name
    '1_words.txt'
    """

    def __init__(self, path: Any):
        self._path = str(path)
        if not Path(self._path).is_file():
            raise InvalidArgumentError(f"Asset: expected the path of a file, got {path!r}.")

    @property
    def asset_path(self):
        """The path of the file."""
        return self._path

    def __fspath__(self):
        return self._path

    def __repr__(self):
        return f"<Asset {self._path!r}>"


class LoadedObject(Module):
    """An object of a saved model: its attributes are variables, objects, lists and functions."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        own = vars(self).get("__call__")
        if own is None:
            raise TypeError(
                "This object of a saved model is not callable: its __call__ was not a tf.function. "
                f"Use one of its functions: {sorted(loaded_functions(self))}, or `signatures`."
            )
        return own(*args, **kwargs)


def loaded_functions(loaded):
    """Return {name: function} of a loaded object."""
    kinds = (RestoredFunction, LoadedSignature)
    return {name: f for name, f in vars(loaded).items() if isinstance(f, kinds)}


def is_saveable(value):
    """Return whether `saved_model.save` accepts an object."""
    return is_trackable(value) or isinstance(value, Module)


def parts_of(holder):
    """Return {name: object} for the variables, objects, lists and assets that an object holds."""
    if isinstance(holder, (CoreVariable, Asset)):
        return {}
    found = dict(children(holder))
    if not isinstance(holder, (Layer, list, tuple, dict)) and hasattr(holder, "__dict__"):
        found |= {n: v for n, v in vars(holder).items() if isinstance(v, Asset)}
    return found


def functions_of(holder):
    """Return {name: CallableOf} for the tf.functions that an object has."""
    if isinstance(holder, (CoreVariable, Asset, list, tuple, dict)):
        return {}
    found = {}
    if not isinstance(holder, Layer):
        for cls in type(holder).__mro__:
            for name, value in vars(cls).items():
                if isinstance(value, Function) and name not in found:
                    found[name] = CallableOf(value, holder)
    for name, value in getattr(holder, "__dict__", {}).items():
        made = callable_of(value)
        if made is not None:
            found[name] = made
    return found


def callable_of(value):
    """Return the CallableOf of a tf.function, method or signature; None for any other object."""
    if isinstance(value, BoundFunction):
        return CallableOf(value.function, value.instance)
    if isinstance(value, (Function, ConcreteFunction, RestoredFunction, LoadedSignature)):
        return CallableOf(value)
    return None
