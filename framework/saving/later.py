"""Saving in two steps: take a snapshot of the values now, and write it later, in a thread."""

import os
from functools import partial

from framework.saving import hdf5, named_arrays
from framework.saving.model_file import described, folder_of, write_archive
from framework.saving.weights import NAMED, require_built, write_assets, write_parts
from framework.saving.writing import replacing


def taken(model, filepath, weights_only=False):
    """Take a snapshot of a model's values; return a function that writes it to a file.

    Args:
        model: a model.
        filepath: as in `save_model`; with `weights_only` as in `save_weights`, without shards.
    """
    name = os.fspath(filepath)
    if not weights_only:
        assets = []
        write_assets(model, lambda *member: assets.append(member))
        add = lambda write: [write(*member) for member in assets]
        return partial(_write_model, name, *described(model), _Taken(model, checks=False), add)
    require_built(model, "save_weights")
    if name.endswith(NAMED):
        arrays = {n: v.array for n, v in named_arrays.named_variables(model).items()}
        return partial(_write, name, lambda file: named_arrays.write_arrays(name, file, arrays))
    return partial(_write, name, _Taken(model))


def _write_model(name, *contents):
    _write(name, lambda file: write_archive(file, folder_of(name), *contents))


def _write(name, write):
    with replacing(name) as file:
        write(file)


class _Taken:
    """A snapshot of a model's variables, with the interface of `hdf5.Writer`.

    Arrays of variables are not copied: a variable that changes gets a new array, because the
    snapshot references the old one. Other arrays, which a user-defined `save_own_variables` stores,
    are copied.
    """

    def __init__(self, model, checks=True):
        self._groups, self._arrays, self._checks = [], {}, checks
        write_parts(model, self)

    def group(self, path, name=None):
        self._groups.append((path, name))

    def write(self, path, array):
        self._arrays[path] = array.copy()

    def hold(self, path, array):
        self._arrays[path] = array

    def __call__(self, file):
        with hdf5.Writer(file, self._checks) as writer:
            for group in self._groups:
                writer.group(*group)
            for path, array in self._arrays.items():
                writer.write(path, array)
