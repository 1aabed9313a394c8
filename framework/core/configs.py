"""Configs: conversion of objects to plain values in Keras's format, and back to objects.

A config can create only objects of known classes: the public classes of the package (`_PACKAGES`),
registered ones, and those that the caller passes. Nothing that a config names is imported.
"""

import inspect
import threading
from importlib import import_module
from typing import Any

import numpy as np

from framework.core.errors import InvalidArgumentError, LoadError, SaveError, UnknownObjectError
from framework.core.internal_state import in_package

_PACKAGES = {
    "keras": "framework.models",
    "keras.activations": "framework.activations",
    "keras.constraints": "framework.constraints",
    "keras.distillation": "framework.models.distillation",
    "keras.dtype_policies": "framework.core.dtype_policy",
    "keras.initializers": "framework.initializers",
    "keras.layers": "framework.layers",
    "keras.losses": "framework.losses",
    "keras.metrics": "framework.metrics",
    "keras.models": "framework.models",
    "keras.optimizers": "framework.optimizers",
    "keras.optimizers.schedules": "framework.optimizers.schedules",
    "keras.random": "framework.core.random",
    "keras.regularizers": "framework.regularizers",
    "keras.src.layers.preprocessing.feature_space": "framework.models.feature_space",
    "keras.utils": "framework.models.feature_space",
}
"""The module of this package that has the classes of each module of Keras."""

_PUBLIC = {
    "DTypePolicy": ("keras", "DTypePolicy"),
    "FeatureSpace": ("keras.utils", "FeatureSpace"),
    "Functional": ("keras.src.models.functional", "Functional"),
    "GroupedQueryAttention": ("keras.layers", "GroupQueryAttention"),
    "Model": ("keras", "Model"),
    "Sequential": ("keras", "Sequential"),
}
"""For each of these classes, the module and the name that Keras writes into configs."""

_OF_KERAS_2 = ("keras.layers", "keras.models")
"""Modules to search for the class of a config without a module: Keras 2 wrote only class names."""

_FUNCTION_PACKAGES = ("keras.activations", "keras.losses", "keras.metrics")


# ---- registered names of the user's classes and functions ----------------------------------------

_objects = {}  # registered name -> class or function
_names = {}  # class or function -> registered name


class _ConfigScope(threading.local):
    """Per-thread context that serialization and deserialization depend on.

    Attributes:
        custom: the objects of the open custom object scopes, by name.
        shared: {id of an object: its config} while a model is serialized, {shared_object_id:
            object} while one is deserialized; None outside.
        copied: the user's classes found while an object is copied, by name; None outside.
    """

    custom: dict = {}  # noqa: RUF012 (never changed, only replaced)
    shared = copied = None


_thread = _ConfigScope()


def register_keras_serializable(package="Custom", name=None):
    """Return a decorator that lets files name a class or function, as "package>name".

    Args:
        package: the first part of the name.
        name: the second part; the name of the class or function if None.

    >>> @register_keras_serializable("shapes")
    ... def twice(x):
    ...     return 2 * x
    >>> get_registered_name(twice)
    'shapes>twice'
    """

    def register(target):
        if inspect.isclass(target) and not hasattr(target, "get_config"):
            raise InvalidArgumentError(
                "Cannot register a class that does not have a get_config() method: "
                f"{target.__name__}."
            )
        full = f"{package}>{name or target.__name__}"
        _objects[full], _names[target] = target, full
        return target

    return register


def get_registered_name(obj):
    """Return the registered name of a class or function, else its Python name."""
    return _names.get(obj, getattr(obj, "__name__", None))


def get_registered_object(name, custom_objects=None, module_objects=None):
    """Return the class or function that is registered under a name, None if there is none.

    Args:
        name: a name.
        custom_objects, module_objects: more objects by name.
    """
    for known in (_thread.custom, _objects, custom_objects or {}, module_objects or {}):
        if name in known:
            return known[name]
    return None


def get_custom_objects():
    """Return the dict of registered objects by name; changing the dict changes the registry."""
    return _objects


class CustomObjectScope:
    """Context in which configs may name the given objects.

    Args:
        custom_objects: a dict from names to classes and functions.

    >>> with CustomObjectScope({"twice": lambda x: 2 * x}):
    ...     get_registered_object("twice")(3)
    6
    """

    def __init__(self, custom_objects: Any):
        self._objects = dict(custom_objects or {})

    def __enter__(self):
        self._outer = _thread.custom
        _thread.custom = {**self._outer, **self._objects}
        return self

    def __exit__(self, *_):
        _thread.custom = self._outer


custom_object_scope = CustomObjectScope


class sharing:
    """Context in which an object that occurs twice in a config is one object after loading."""

    def __enter__(self):
        self._outer, _thread.shared = _thread.shared, {}

    def __exit__(self, *_):
        _thread.shared = self._outer


# ---- conversion of objects to configs ------------------------------------------------------------


def serialize_value(obj) -> Any:
    """Return plain values (numbers, strings, lists, dicts) for anything a config may hold."""
    kind = type(obj)
    if obj is None or kind in (bool, int, float, str):
        return obj
    if isinstance(obj, (list, tuple)):
        items = [serialize_value(v) for v in obj]
        return items if isinstance(obj, list) else tuple(items)
    if isinstance(obj, dict):
        return {k: serialize_value(v) for k, v in obj.items()}
    if isinstance(obj, str):
        return str(obj)
    special = _special(obj)
    if special is not None:
        return special
    if hasattr(obj, "item") and getattr(obj, "ndim", None) == 0:
        return obj.item()
    if not inspect.isclass(obj) and hasattr(obj, "get_config"):
        return _record_of(obj)
    if callable(obj) and hasattr(obj, "__name__"):
        return _name_of_function(obj)
    return obj


def _special(value):
    """Return Keras's config for arrays, tensors, bytes, slices and `...`; None for others."""
    if isinstance(value, bytes):
        return {"class_name": "__bytes__", "config": {"value": value.decode("utf-8")}}
    if isinstance(value, slice):
        ends = {n: serialize_value(getattr(value, n)) for n in ("start", "stop", "step")}
        return {"class_name": "__slice__", "config": ends}
    if value is ...:
        return {"class_name": "__ellipsis__", "config": {}}
    # Tensors and variables have an attribute `array`, by which they are recognized here.
    array = getattr(value, "array", value)
    if isinstance(array, np.ndarray) and array.ndim and array.dtype != object:
        name = "__numpy__" if array is value else "__tensor__"
        config = {"value": array.tolist(), "dtype": str(array.dtype)}
        return {"class_name": name, "config": config}
    return None


def _record_of(obj):
    cls = type(obj)
    module, name = public_name(cls)
    registered = None
    if module is None:
        registered = get_registered_name(cls)
        if _thread.copied is not None:
            _thread.copied[registered] = cls
    elif module.startswith("keras.src."):
        registered = name
    config = obj.get_config()
    record = {
        "module": module, "class_name": name, "config": serialize_value(config),
        "registered_name": registered,
    }  # fmt: skip
    for key in ("build_config", "compile_config"):
        found = getattr(obj, f"get_{key}", lambda: None)()
        if found is not None:
            record[key] = serialize_value(found)
    if _thread.shared is not None:
        # The pair holds a reference to `obj`, so that no later object gets its id.
        first = _thread.shared.setdefault(id(obj), (record, obj))[0]
        if first is not record:
            first["shared_object_id"] = record["shared_object_id"] = id(obj)
    return record


def public_name(cls):
    """Return Keras's module and name of a class; the module is None for the user's classes."""
    if not in_package(cls):
        return None, cls.__name__
    if cls.__name__ in _PUBLIC:
        return _PUBLIC[cls.__name__]
    homes = [k for k, home in _PACKAGES.items() if f"{cls.__module__}.".startswith(f"{home}.")]
    return (max(homes, key=len) if homes else cls.__module__), cls.__name__


def _name_of_function(function):
    if _in_package(function) and function not in _names:
        return function.__name__
    name = get_registered_name(function)
    if _thread.copied is not None:
        name = f"{name} {id(function)}"  # The id distinguishes lambdas, which share a name.
        _thread.copied[name] = function
    elif name == "<lambda>" and _thread.shared is not None:
        raise SaveError(
            "A lambda cannot be saved. Use a named function and register it with "
            "@keras.saving.register_keras_serializable()."
        )
    return {
        "module": "builtins", "class_name": "function", "config": name,
        "registered_name": "function",
    }  # fmt: skip


def _in_package(function):
    return (getattr(function, "__module__", None) or "").partition(".")[0] == "framework"


def copy_of(obj, **changes):
    """Return a new object from the config of another object, with some arguments changed.

    The user's classes that the object contains need no registration.
    """
    outer, _thread.copied = _thread.copied, {}
    # A model may be loading while this copy is made, so the copy gets its own table of shared
    # objects.
    with sharing():
        try:
            config = obj.get_config()
            found = _thread.copied
        finally:
            _thread.copied = outer
    with CustomObjectScope(found), sharing():
        return type(obj).from_config({**config, **changes})


# ---- creation of objects from configs ------------------------------------------------------------


def deserialize(config, custom_objects=None, safe_mode=True) -> Any:
    """Return the object that a config describes.

    Args:
        config: what `serialize_value` returned.
        custom_objects: the user's classes and functions by name.
        safe_mode: accepted for compatibility. Lambdas in configs are never loaded.

    Raises:
        UnknownObjectError: a class or function is neither public, registered nor passed.
    """
    if custom_objects:
        with CustomObjectScope(custom_objects):
            return deserialize(config)
    if isinstance(config, (list, tuple)):
        return [deserialize(c) for c in config]
    if isinstance(config, str):
        return _thread.custom.get(config, config)
    if not isinstance(config, dict):
        return config
    if "class_name" not in config or "config" not in config:
        return {key: deserialize(value) for key, value in config.items()}
    name, inner = config["class_name"], config["config"]
    if name in _SPECIAL:
        return _SPECIAL[name](inner or {})
    if name == "function":
        return _function(inner)
    return object_of(class_of(config), config)


def object_of(cls, config) -> Any:
    """Return the object of class `cls` that a config describes, built and compiled."""
    shared = _thread.shared
    identity = config.get("shared_object_id")
    if shared is not None and identity in shared:
        return shared[identity]
    inner = config.get("config")
    if not isinstance(inner, (dict, type(None))):
        raise LoadError(
            f"Config of {config.get('class_name')!r}: expected a dict, got {type(inner).__name__}."
        )
    made = cls.from_config(without_absent(cls, inner or {}))
    if config.get("build_config") and not getattr(made, "built", True):
        made.build_from_config(config["build_config"])
        made.built = True
    if config.get("compile_config") and hasattr(made, "compile_from_config"):
        made.compile_from_config(config["compile_config"])
    if shared is not None and isinstance(identity, int):
        shared[identity] = made
    return made


def without_absent(cls, config):
    """Return a config without None values for arguments that the class does not have.

    Newer versions of Keras have more arguments, whose default is None, and write all of them.
    """
    if not in_package(cls):
        return dict(config)
    known = {*getattr(getattr(cls, "_framework", None), "fields", ()), *_parameters(cls)}
    return {k: v for k, v in config.items() if v is not None or k in known}


def _parameters(cls):
    """Return the names of the constructor's parameters, and the keys that `from_config` reads."""
    return (*inspect.signature(cls.__init__).parameters, *_READ_BY_FROM_CONFIG)


_READ_BY_FROM_CONFIG = ("layers", "input_layers", "output_layers", "name", "trainable", "cell")


def class_of(config):
    """Return the class that a config names.

    Raises:
        UnknownObjectError: it is neither public, registered nor passed by the caller.
    """
    name, registered = config.get("class_name"), config.get("registered_name")
    found = custom_object(config)
    if found is None and isinstance(name, str):
        modules = [config["module"]] if "module" in config else _OF_KERAS_2
        found = next(filter(None, (_public_class(m, name) for m in modules)), None)
    if inspect.isclass(found) and hasattr(found, "from_config"):
        return found
    raise UnknownObjectError(
        f"Unknown class {registered or name!r} (module {config.get('module')!r}). A file may name "
        "the framework's own classes only. Register yours with "
        "@keras.saving.register_keras_serializable(), or pass it: "
        f"custom_objects={{{registered or name!r}: ...}}."
    )


def custom_object(config):
    """Return the object that a config names if the user registered or passed it, else None."""
    names = [config.get("registered_name")]
    module = config.get("module")
    if not (isinstance(module, str) and _keras_module(module) in _PACKAGES):
        names.append(config.get("class_name"))
    names = [n for n in names if isinstance(n, str)]
    return next(filter(None, map(get_registered_object, names)), None)


def _keras_module(module):
    """Return the public module for a source module such as keras.src.layers.core.dense."""
    parts = module.removeprefix("tensorflow.").removeprefix("tf_").split(".")
    if module in _PACKAGES:
        return module
    if parts[:2] == ["keras", "src"]:
        schedules = parts[2:4] == ["optimizers", "schedules"]
        parts = ["keras", *parts[2 : 4 if schedules else 3]]
    return ".".join(parts)


def _public_class(module, name):
    """Return the package's class of this name, or None."""
    module = _keras_module(module) if isinstance(module, str) else None
    if module not in _PACKAGES or name.startswith("_"):
        return None
    home = "framework.core.dtype_policy" if name.startswith("DTypePolicy") else _PACKAGES[module]
    found = getattr(import_module(home), name, None)
    return found if inspect.isclass(found) and in_package(found) else None


def _function(name):
    """Return the function of this name: one that the user registered or passed, or a public
    activation, loss or metric."""
    found = get_registered_object(name) if isinstance(name, str) else None
    if found is None and isinstance(name, str):
        found = _bare_name(name) or _public_function(name)
    if found is None:
        raise UnknownObjectError(
            f"Unknown function {name!r}. Register it with "
            "@keras.saving.register_keras_serializable(), or pass it in custom_objects."
        )
    return found


def _bare_name(name):
    """Return the object registered as "package>name"; Keras before 3.7 wrote only "name"."""
    return next((o for full, o in _objects.items() if full.endswith(f">{name}")), None)


def _public_function(name):
    for package in _FUNCTION_PACKAGES:
        found = getattr(import_module(_PACKAGES[package]), name, None)
        if inspect.isfunction(found) and not name.startswith("_") and name not in _NOT_FORMULAS:
            return found
    return None


_NOT_FORMULAS = frozenset(("get", "serialize", "deserialize", "accuracy_for"))


def _refuse_lambda(_config):
    raise UnknownObjectError(
        "The file contains a Python lambda as bytecode, which is never run, not even with "
        "safe_mode=False. Replace the lambda with a named function, register it with "
        "@keras.saving.register_keras_serializable(), and save the model again."
    )


def _refuse_typespec(_config):
    raise UnknownObjectError("The file contains a TensorFlow TypeSpec, which is not supported.")


def _array(config):
    value = np.asarray(config.get("value"), str(config.get("dtype")))
    if value.dtype.kind not in "fiubc":
        raise LoadError(f"Config of an array: expected numbers, got dtype {value.dtype}.")
    return value


def _tensor(config):
    from framework.core.tensor import Tensor

    return Tensor(_array(config))


_SPECIAL = {
    "__bytes__": lambda c: c["value"].encode("utf-8"),
    "__ellipsis__": lambda c: ...,
    "__lambda__": _refuse_lambda,
    "__numpy__": _array,
    "__slice__": lambda c: slice(*(c.get(n) for n in ("start", "stop", "step"))),
    "__tensor__": _tensor,
    "__typespec__": _refuse_typespec,
}
