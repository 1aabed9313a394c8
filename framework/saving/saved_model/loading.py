"""saved_model.load: read what `saved_model.save` wrote, without running code from the file."""

import os
from pathlib import Path
from typing import Any

from framework.core.errors import DamagedFileError, FrameworkError, LoadError
from framework.core.variable import Variable
from framework.saving.model_folder import SAVED_MODEL, no_model
from framework.saving.saved_model.arrays import restored
from framework.saving.saved_model.functions import LoadedSignature, RestoredFunction
from framework.saving.saved_model.objects import Asset, LoadedObject
from framework.saving.saved_model.saving import ASSETS, FILE, KIND
from framework.saving.states import read_state


def contains_saved_model(export_dir: Any) -> bool:
    """Return whether a folder holds a saved model of this package.

    >>> import tempfile, framework as tf
    >>> tf.saved_model.contains_saved_model(tempfile.mkdtemp())
    False
    """
    return Path(os.fspath(export_dir), FILE).is_file()


def load(export_dir: Any, tags: Any = None, options: Any = None) -> Any:
    """Return the object that `saved_model.save` wrote to a folder.

    Its attributes are the saved variables, objects, lists, assets and functions, which run the
    saved ops. Variables can be assigned and trained. `signatures` is a dict of the signatures.

    Args:
        export_dir: the folder.
        tags: ignored.
        options: a `LoadOptions`; without effect.

    Raises:
        LoadError: the folder holds no saved model, or a damaged one.

    Example:
        >>> import tempfile, framework as tf
        >>> from framework import keras
        >>> model = keras.Sequential([keras.Input((2,)), keras.layers.Dense(1)])
        >>> folder = tempfile.mkdtemp()
        >>> tf.saved_model.save(model, folder)
        >>> loaded = tf.saved_model.load(folder)
        >>> found = loaded.signatures["serving_default"](tf.ones([3, 2]))
        >>> found["output_0"].shape
        TensorShape([3, 1])
    """
    folder = Path(os.fspath(export_dir))
    if not (folder / FILE).is_file():
        raise LoadError(_missing(folder))
    with read_state(folder / FILE, KIND) as file:
        try:
            return _loaded(file, folder)
        except FrameworkError:
            raise
        except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
            raise DamagedFileError(f"{file.name}: the saved model is damaged: {error!r}") from None


def _missing(folder):
    if (folder / SAVED_MODEL).exists():
        return no_model(folder)
    return (
        f"SavedModel file does not exist at: {str(folder)!r}: the folder has no file {FILE!r}, "
        "which saved_model.save writes."
    )


def _loaded(file, folder):
    nodes = file.values["nodes"]
    made = [_object(node, file, folder) for node in nodes]
    variables = {n: v for n, v in enumerate(made) if isinstance(v, Variable)}
    cache = {}

    def array_of(description):
        key = description.get("name")
        if key is None or key not in cache:
            found = restored(description, file)
            if key is None:
                return found
            cache[key] = found
        return cache[key]

    # The last nodes are filled first, so that a tuple is complete before it is added to the object
    # that contains it.
    for number in reversed(range(len(nodes))):
        _fill(made, number, nodes[number])
    for number, functions in file.values["functions"].items():
        for name, description in functions.items():
            function = RestoredFunction(description, array_of, variables)
            _set(made[int(number)], name, function)
    signatures = {
        name: LoadedSignature(name, description, array_of, variables)
        for name, description in file.values["signatures"].items()
    }
    root = made[0]
    if isinstance(root, LoadedObject):
        root.signatures = Signatures(signatures)
    return root


class Signatures(dict):
    """The signatures of a saved model by name."""

    def __repr__(self):
        return f"Signatures({dict(self)!r})"


def _object(node, file, folder):
    kind = node["kind"]
    if kind == "variable":
        array = restored(node["array"], file)
        return Variable(array, bool(node["trainable"]), name=str(node["name"]),
                        shape=node["shape"] if None in node["shape"] else None)  # fmt: skip
    if kind == "asset":
        name = str(node["file"])
        if Path(name).name != name:
            raise DamagedFileError(
                f"{file.name}: the name of the asset {name!r} must not contain a folder."
            )
        return Asset(folder / ASSETS / name)
    makers = {"list": list, "tuple": list, "dict": dict, "object": LoadedObject}
    return makers[kind]()


def _fill(made, number, node):
    holder, kind = made[number], node["kind"]
    for name, child in node.get("children", {}).items():
        value = made[child]
        if kind in ("list", "tuple"):
            holder.append(value)
        elif kind == "dict":
            holder[name] = value
        else:
            _set(holder, name, value)
    if kind == "tuple":
        made[number] = tuple(holder)


def _set(holder, name, value):
    """Set an attribute, unless it is a property of the class, such as `variables`."""
    if not isinstance(getattr(type(holder), name, None), property):
        object.__setattr__(holder, name, value)
