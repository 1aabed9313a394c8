"""Limits: how much a file may contain before loading refuses it."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Limits:
    """Upper limits for the content of files; loading raises UnsafeFileError beyond a limit.

    Args:
        json_bytes: the size of a JSON text: a model's config, an index of weight shards.
        json_depth: the nesting depth of brackets in a JSON text.
        zip_members: the number of members of a zip file.
        expansion: how many times larger a compressed member or dataset may be than its bytes in
            the file, if it is larger than 1 MB.
        asset_bytes: the size of all assets (vocabularies) together.
        h5_objects: the number of groups and datasets in an HDF5 file.
        h5_depth: the nesting depth of groups in an HDF5 file.
        extra_bytes: the size of variables that a model may have beyond those in its file, such as
            states of seed generators.
        model_bytes: the size of the variables of a model that is created from a config alone.

    Example:
        >>> Limits(json_bytes=100_000_000).json_depth
        200
    """

    json_bytes: int = 64 * 2**20
    json_depth: int = 200
    zip_members: int = 10_000
    expansion: int = 1000
    asset_bytes: int = 2**30
    h5_objects: int = 1_000_000
    h5_depth: int = 64
    extra_bytes: int = 64 * 2**20
    model_bytes: int = 16 * 2**30


DEFAULT = Limits()
