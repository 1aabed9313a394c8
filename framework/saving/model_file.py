"""Whole models in ".keras" files: a zip file of a config, the weights and the assets."""

import datetime as dt
import os
import shutil
import tempfile
import warnings
import zipfile
from contextlib import nullcontext
from functools import partial
from pathlib import Path

from framework.core.configs import CustomObjectScope, deserialize, serialize_value, sharing
from framework.core.errors import DamagedFileError, LoadError
from framework.core.stored import budget
from framework.saving import hdf5, legacy_h5, texts
from framework.saving.archive import Archive, write_in_place
from framework.saving.legacy_h5_writing import write_model as write_legacy
from framework.saving.limits import DEFAULT
from framework.saving.model_folder import (
    METADATA,
    SAVED_MODEL,
    FolderReader,
    FolderWriter,
    no_model,
    recover,
)
from framework.saving.weights import (
    LEGACY,
    WEIGHTS,
    Assets,
    opened,
    read_variables,
    require_ending,
    require_new,
    write_assets,
    write_variables,
)
from framework.saving.writing import clear_errors, replacing

KERAS_VERSION = "3.15.1"  # saved files declare this version of Keras
_CONFIG = "config.json"
_BLOCK = 2**20


def save_model(model, filepath, overwrite=True, zipped=None):
    """Save a model with its weights, optimizer state and vocabularies to "NAME.keras".

    "NAME.h5" writes the former format of Keras 2, for Sequential and functional models.

    Args:
        model: a model or layer.
        filepath: a path, or a binary file.
        overwrite: whether to replace an existing file.
        zipped: False writes a folder with the same contents instead of a file.

    Raises:
        SaveError: the file cannot be written, or the config contains values that cannot be saved.
            An existing file is unchanged.

    Example:
        >>> import tempfile
        >>> from framework import keras
        >>> model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(2)])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     model.save(f"{folder}/model.keras")
        ...     keras.models.load_model(f"{folder}/model.keras").count_params()
        8
    """
    if zipped is False:
        require_new(filepath, overwrite)
        _write_folder(model, filepath)
        return
    if hasattr(filepath, "write"):
        _write(model, filepath, tempfile.gettempdir())
        return
    legacy = require_ending(filepath, (".keras", *LEGACY)).endswith(LEGACY)
    require_new(filepath, overwrite)
    if not getattr(model, "built", True):
        warnings.warn(
            "You are saving a model that has not yet been built. It might not contain any weights "
            "yet. Consider building the model first by calling it on some data.",
            stacklevel=3,
        )
    with replacing(filepath) as file:
        if legacy:
            write_legacy(model, described(model)[0], KERAS_VERSION, file)
        else:
            _write(model, file, folder_of(filepath))


def folder_of(filepath):
    """Return the folder of a file; a link is followed."""
    return os.path.dirname(os.path.realpath(filepath))  # noqa: PTH120


def _write_folder(model, path):
    config = _config_of(model)
    with FolderWriter(path, _CONFIG) as folder:
        folder.write(_CONFIG, config)
        with clear_errors(path), folder.open(WEIGHTS) as weights:
            write_variables(model, weights)
            weights.flush()
            os.fsync(weights.fileno())
        write_assets(model, folder.write)
        folder.write_metadata(_about())


def described(model):
    """Return the config and the metadata of a model as JSON texts."""
    return _config_of(model), texts.dump(_about(), METADATA)


def _config_of(model):
    with sharing():
        return texts.dump(serialize_value(model), f"Model {model.name!r}")


def _about():
    now = dt.datetime.now().strftime("%Y-%m-%d@%H:%M:%S")
    return {"keras_version": KERAS_VERSION, "date_saved": now}


def _write(model, file, folder):
    weights = partial(write_variables, model, checks=False)  # the zip file has a checksum
    assets = partial(write_assets, model)
    write_archive(file, folder, *described(model), weights, assets)


def write_archive(file, folder, config, metadata, weights, assets):
    """Write the members of a ".keras" file.

    Args:
        file: a binary file.
        folder: the folder in which to create a temporary file.
        config, metadata: JSON texts.
        weights: a function that writes the weights as HDF5 into the binary file it gets.
        assets: a function that calls the given `add(member name, bytes)` for each asset.
    """
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr(METADATA, metadata)
        archive.writestr(_CONFIG, config)
        _write_weights(weights, archive, file, folder)
        assets(archive.writestr)


def _write_weights(write, archive, file, folder):
    """Write the weights into a zip file; HDF5 needs a readable and seekable file."""
    with archive.open(WEIGHTS, "w", force_zip64=True) as member:
        if getattr(file, "mode", "") in ("w+b", "rb+") and member._fileobj is archive.fp is file:
            write_in_place(member, file, write)
            return
        with tempfile.TemporaryFile(dir=folder) as weights:
            write(weights)
            weights.seek(0)
            shutil.copyfileobj(weights, member, _BLOCK)


def load_model(filepath, custom_objects=None, compile=True, safe_mode=True, limits=None):
    """Load a model from a ".keras" file, or from an ".h5" file of Keras 2 or 3.

    The file cannot run code. Its config may name built-in classes and functions, registered ones,
    and those in `custom_objects`.

    Args:
        filepath: a path, or a binary file.
        custom_objects: a dict from names to user-defined classes and functions.
        compile: whether to compile the model with the arguments in the file.
        safe_mode: accepted for compatibility. Lambdas in files are never loaded.
        limits: a `Limits`; the default if None.

    Raises:
        LoadError: the file is missing, damaged or not safe; a ValueError, as in Keras.
    """
    limits = limits or DEFAULT
    if hasattr(filepath, "read"):
        name, context = getattr(filepath, "name", "the file"), nullcontext(filepath)
    else:
        name = os.fspath(filepath)
        recover(Path(os.path.realpath(name)))
        if Path(name, _CONFIG).is_file():
            with FolderReader(name, limits) as folder:
                return _load(folder, name, custom_objects, compile, limits)
        if Path(name).is_dir() or Path(name).name == SAVED_MODEL:
            raise LoadError(no_model(name))
        require_ending(name, (".keras", *LEGACY), LoadError)
        context = opened(name)
    with context as file:
        if str(name).endswith(LEGACY):
            return _load_legacy(file, str(name), custom_objects, compile, limits)
        archive = Archive(file, str(name), limits)
        return _load(archive, name, custom_objects, compile, limits)


def _load(archive, name, custom_objects, compiles, limits):
    """Return the model that an `Archive` or a `FolderReader` contains."""
    text = archive.read(_CONFIG, limits.json_bytes, "limits.json_bytes")
    config = texts.parse(text, _CONFIG, limits)
    if not isinstance(config, dict):
        raise DamagedFileError(f"{name}: {_CONFIG} must contain a dict, got {config!r:.60}.")
    if not compiles:
        config.pop("compile_config", None)
    with archive.verifying(WEIGHTS) as file, hdf5.Reader(file, str(name), limits) as reader:
        reader.verify()
        size = reader.checked_bytes() + limits.extra_bytes
        model = _made(config, custom_objects, size, name, has_values=True)
        read_variables(model, reader, assets=Assets(archive, limits))
    return model


def _load_legacy(file, name, custom_objects, compiles, limits):
    with hdf5.Reader(file, name, limits) as reader:
        reader.verify()
        config = legacy_h5.config_of(reader, limits)
        size = reader.checked_bytes() + limits.extra_bytes
        model = _made(config, custom_objects, size, name)
        try:
            with CustomObjectScope(custom_objects):
                legacy_h5.read_model(model, reader, compiles, limits)
        except LoadError:
            raise
        except Exception as error:  # compile() may raise any error if its arguments are wrong
            raise LoadError(f"{name}: the model cannot be restored: {error}") from error
    return model


def _made(config, custom_objects, size, name, has_values=False):
    """Create the model of a config; its variables may have at most `size` bytes in total."""
    try:
        with CustomObjectScope(custom_objects), sharing(), budget(size, has_values):
            model = deserialize(config)
    except LoadError as error:
        raise type(error)(f"{name}: {error}") from error
    except Exception as error:  # constructors may raise any error if their arguments are wrong
        raise LoadError(f"{name}: the config does not describe a model: {error}") from error
    if not hasattr(model, "load_own_variables"):
        raise LoadError(f"{name}: the config does not describe a model but {model!r:.60}.")
    return model


def to_json(model, **options):
    """Return the config of a model as a JSON text, without weights; json.dumps gets `options`."""
    import json

    with sharing():
        return json.dumps(serialize_value(model), **options)


def model_from_json(json_string, custom_objects=None, limits=None):
    """Return a model with new weights from the JSON text that `to_json` returned.

    Raises:
        LoadError: the text is not the config of a model, or names unknown classes.
    """
    limits = limits or DEFAULT
    config = texts.parse(json_string.encode("utf-8", "surrogatepass"), "model_from_json", limits)
    return _made(config, custom_objects, limits.model_bytes, "model_from_json")
