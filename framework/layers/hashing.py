"""Hashing and HashedCrossing: map values to bucket indices without a vocabulary."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np

from framework.core import dtypes
from framework.core.cast import cast
from framework.core.configurable import Resolved, one_of
from framework.core.conversion import tensor
from framework.core.errors import InvalidArgumentError
from framework.kernels.hashing import fingerprint, joint_fingerprint, keyed_hash
from framework.layers.base import Layer
from framework.layers.categorical import MODES, check_sparse, encode
from framework.ops.tables import look_up, look_up_all

__all__ = ["HashedCrossing", "Hashing"]


def _salt(value):
    if value is None:
        return None
    pair = [value, value] if isinstance(value, int) else value
    if not isinstance(pair, (list, tuple)) or len(pair) != 2:
        raise InvalidArgumentError("expected an int, two ints or None")
    return [int(n) for n in pair]


SaltField = Annotated[int | Sequence[int] | None, Resolved("an int, two ints or None", _salt)]


def buckets(values, count, salt=None):
    """Return the bucket index of each value (int or bytes): by FarmHash, or by SipHash with `salt`.

    >>> buckets([b"a", b"b", 7], 1000)
    [939, 822, 88]
    """
    texts = [v if isinstance(v, bytes) else str(v).encode() for v in values]
    hashed = [fingerprint(t) if salt is None else keyed_hash(t, salt) for t in texts]
    return [h % count for h in hashed]


class _BucketTable:
    """The NumPy implementation of an op that maps values to buckets.

    If `mask_value` is set, bucket 0 is reserved for this value.
    """

    dtype = np.dtype(np.int64)

    def __init__(self, count, mask_value, salt):
        self._masked = mask_value.encode() if isinstance(mask_value, str) else mask_value
        self._reserved = int(mask_value is not None and count > 1)
        self._count, self._salt = count - self._reserved, salt

    def __call__(self, values):
        distinct, inverse = np.unique(values, return_inverse=True)
        listed = distinct.tolist()
        indices = np.array(buckets(map(_whole, listed), self._count, self._salt), np.int64)
        indices += self._reserved
        if self._reserved:
            indices[[v == self._masked for v in listed]] = 0
        return indices[inverse.reshape(-1)].reshape(np.shape(values))

    def shape(self, shape):
        return shape


def _whole(value):
    return int(value) if isinstance(value, float) else value


class Hashing(Layer):
    """Map strings or integers to the indices of hash buckets.

    Args:
        num_bins: the number of buckets.
        mask_value: a value that gets bucket 0, which no other value shares.
        salt: an int or two ints: the key of SipHash, which is then used instead of FarmHash.
        output_mode: "int", or a mode of `CategoryEncoding`.

    >>> Hashing(num_bins=3)(["A", "B", "C", "D", "E"]).numpy()
    array([1, 0, 1, 1, 2])
    """

    num_bins: int
    mask_value: object = None
    salt: SaltField = None
    output_mode: Annotated[str, one_of(*MODES)] = "int"
    sparse: bool = False

    _convert_input_args = False
    _allow_non_tensor_positional_args = True

    # type checkers must take the constructor's signature from the fields, not from `__init__`
    if not TYPE_CHECKING:

        def __init__(self, *args, **kwargs):
            if kwargs.get("dtype") is None:
                mode = kwargs.get("output_mode", args[3] if len(args) > 3 else "int")
                kwargs["dtype"] = "int64" if mode == "int" else dtypes.floatx()
            super().__init__(*args, **kwargs)

        __init__._from_fields = True

    def __post_init__(self):
        check_sparse(self)
        if self.num_bins <= 0:
            raise InvalidArgumentError(
                "The `num_bins` for `Hashing` cannot be `None` or non-positive values. Received: "
                f"num_bins={self.num_bins}."
            )
        if self.output_mode == "int" and self.compute_dtype not in ("int32", "int64"):
            raise InvalidArgumentError(
                "When `output_mode=\"int\"`, `dtype` should be an integer type, 'int32' or "
                f"'int64'. Received: dtype={self.dtype}"
            )
        self._framework.table = _BucketTable(self.num_bins, self.mask_value, self.salt)

    def call(self, inputs):
        indices = look_up(tensor(inputs), table=self._framework.table)
        dtype = self.compute_dtype.np
        if self.output_mode == "int":
            return indices if indices.dtype == dtype else cast(indices, dtype=dtype)
        return encode(indices, self.output_mode, self.num_bins, dtype, sparse=self.sparse)


# ---- crossing ------------------------------------------------------------------------------------

_KEY = 0xDECAFCAFFE  # TensorFlow hashes combinations of features with this key


class _CrossTable:
    """The NumPy implementation of an op that maps combinations of values to buckets."""

    dtype = np.dtype(np.int64)

    def __init__(self, count):
        self._count = count

    def __call__(self, *columns):
        combined = np.stack([np.asarray(_codes(c), object).reshape(-1) for c in columns], axis=-1)
        found = []
        for row in combined.tolist():
            mixed = _KEY
            for code in row:
                mixed = joint_fingerprint(mixed, code)
            found.append(mixed % self._count)
        return np.array(found, np.int64).reshape(np.shape(columns[0]))

    def shape(self, shape, *_others):
        return shape


def _codes(column):
    """Return a uint64 for each value: integers unchanged, strings hashed to fingerprints."""
    if column.dtype.kind == "O":
        distinct, inverse = np.unique(column, return_inverse=True)
        codes = np.array([fingerprint(text) for text in distinct.tolist()], np.uint64)
        return codes[inverse.reshape(-1)]
    return column.astype(np.int64).view(np.uint64)


class HashedCrossing(Layer):
    """Map combinations of several features to the indices of hash buckets.

    Args:
        num_bins: the number of buckets.
        output_mode: "int", or "one_hot" for vectors of size `num_bins`.

    The inputs are a list of two or more tensors of strings or integers, all of shape (), (batch,)
    or (batch, 1).

    >>> layer = HashedCrossing(num_bins=1000)
    >>> layer((["A", "B", "A"], [101, 102, 101])).numpy()
    array([891, 576, 891])
    """

    num_bins: int
    output_mode: Literal["int", "one_hot"] = "int"
    sparse: bool = False

    _convert_input_args = False
    _allow_non_tensor_positional_args = True

    # type checkers must take the constructor's signature from the fields, not from `__init__`
    if not TYPE_CHECKING:

        def __init__(self, *args, **kwargs):
            mode = kwargs.get("output_mode", args[1] if len(args) > 1 else "int")
            if kwargs.get("dtype") is None and mode == "int":
                kwargs["dtype"] = "int64"
            super().__init__(*args, **kwargs)

        __init__._from_fields = True

    def __post_init__(self):
        check_sparse(self)
        if self.num_bins < 1:
            raise InvalidArgumentError(
                f"HashedCrossing: expected a positive `num_bins`, got {self.num_bins}."
            )
        self._framework.table = _CrossTable(self.num_bins)

    def call(self, inputs: Any) -> Any:
        keys = _features(inputs)
        indices = look_up_all(*keys, table=self._framework.table)
        dtype = self.compute_dtype.np
        return encode(indices, self.output_mode, self.num_bins, dtype, sparse=self.sparse)

    def get_config(self) -> dict[str, Any]:
        config = super().get_config()
        names = ("num_bins", "output_mode", "sparse", "name")
        return {name: config[name] for name in names} | {"dtype": self.dtype.name}


def _features(inputs):
    """Check the inputs of HashedCrossing, and return them as tensors."""
    if not isinstance(inputs, (list, tuple)) or len(inputs) < 2:
        raise InvalidArgumentError(
            "`HashedCrossing` should be called on a list or tuple of at least two inputs. "
            f"Received: inputs={inputs}"
        )
    keys = [tensor(x) for x in inputs]
    shapes = {tuple(x.shape) for x in keys}
    first = tuple(keys[0].shape)
    if len(shapes) > 1 or len(first) > 2 or (len(first) == 2 and first[-1] != 1):
        raise InvalidArgumentError(
            "All `HashedCrossing` inputs should have equal shape: `()`, `(batch_size)` or "
            f"`(batch_size, 1)`. Received shapes: {[tuple(x.shape) for x in keys]}"
        )
    if not all(x.dtype.is_integer or x.dtype == dtypes.string for x in keys):
        raise InvalidArgumentError(
            "All `HashedCrossing` inputs should have an integer or string dtype. Received: "
            f"{[x.dtype for x in keys]}"
        )
    return keys
