"""Pickles of plain data: what is read equals what Python reads, all else is refused unexecuted."""

import collections
import contextlib
import io
import os
import pickle
import random

import numpy as np
import pytest

from framework.core.errors import DamagedFileError, UnsafeFileError
from framework.core.pickled_arrays import ARRAYS, load_npy
from framework.core.plain_pickle import Constructor, loads

_SHARED = [1, 2]

PLAIN = {
    "none": None,
    "numbers": [0, 1, 255, 256, 65535, 65536, -1, -(2**31), 2**31, 2**70, -(2**3000), True, False],
    "floats": [0.5, -1e300, float("inf"), 1 + 2j],
    "strings": ["", "a", "é\n\\'", "\U0001f600", "x" * 300, "y" * 70000],
    "bytes": [b"", b"\x00\xff\n", b"z" * 300, b"w" * 70000],
    "containers": [(), (1,), (1, 2), (1, 2, 3), (1, 2, 3, 4), [], {}, {"a": {1: (2, None)}}],
    "sets": [{1, "a"}, frozenset({(1, 2), b"b"}), set(), bytearray(b"abc")],
    "shared": {"one": _SHARED, "two": _SHARED},
    "long": [list(range(3000)), {i: str(i) for i in range(3000)}],
}

ARRAYS_TO_READ = {
    "floats": np.arange(6.0).reshape(2, 3),
    "Fortran": np.asfortranarray(np.arange(6, dtype=np.int32).reshape(2, 3)),
    "big-endian": np.arange(3, dtype=">u2"),
    "booleans": np.array([True, False]),
    "strings": np.array(["ab", "c"]),
    "bytes": np.array([b"ab", b"c"]),
    "scalar": np.float32(2.5),
    "empty": np.zeros((0, 4)),
    "objects": np.array([[1, 2], None, "x", {"a": b"c"}], dtype=object),
}


@pytest.mark.parametrize("protocol", range(6))
@pytest.mark.parametrize("name", PLAIN)
def test_plain_data_are_read_as_python_reads_them(name, protocol):
    data = pickle.dumps(PLAIN[name], protocol)
    assert loads(data) == PLAIN[name]
    assert repr(loads(data)) == repr(pickle.loads(data))


@pytest.mark.parametrize("protocol", range(6))
@pytest.mark.parametrize("name", ARRAYS_TO_READ)
def test_arrays_are_read_as_numpy_reads_them(name, protocol):
    data = pickle.dumps([ARRAYS_TO_READ[name], ARRAYS_TO_READ[name]], protocol)
    expected, made = pickle.loads(data)[0], loads(data, ARRAYS)[0]
    assert type(made) is type(expected)
    assert made.dtype == expected.dtype
    assert made.shape == expected.shape
    assert made.tolist() == expected.tolist()


def test_shared_and_cyclic_lists_stay_one_object():
    cyclic = []
    cyclic.append(cyclic)
    made = loads(pickle.dumps(cyclic))
    assert made[0] is made
    made = loads(pickle.dumps(PLAIN["shared"]))
    assert made["one"] is made["two"]


def test_strings_of_python_2():
    data = b"(U\x02\xe9bT\x01\x00\x00\x00cS'd\\xe9'\nl."
    assert loads(data, encoding="bytes") == [b"\xe9b", b"c", b"d\xe9"]
    assert loads(data, encoding="latin1") == ["éb", "c", "dé"]
    with pytest.raises(DamagedFileError):
        loads(data)  # not ASCII


class _Calls:
    def __init__(self, function, *arguments):
        self.made = function, arguments

    def __reduce__(self):
        return self.made


class _Plain:
    pass


HOSTILE = {
    "a call": pickle.dumps(_Calls(os.mkdir, "canary")),
    "a call of protocol 0": pickle.dumps(_Calls(os.mkdir, "canary"), 0),
    "eval": pickle.dumps(_Calls(eval, "open('canary', 'w')")),
    "an object": pickle.dumps(_Plain()),
    "a subclass": pickle.dumps(collections.OrderedDict(a=1)),
    "a name": pickle.dumps(print),
    "a dtype of objects": pickle.dumps(np.dtype([("a", "O")])),
    "an instance (INST)": b"(S'mkdir canary'\nios\nsystem\n.",
    "an instance (OBJ)": b"(cos\nsystem\nS'mkdir canary'\no.",
    "an extension": b"\x82\x01.",
    "a persistent id": b"Pcanary\n.",
    "a persistent id of protocol 1": b"NQ.",
    "a state of a list": b"]}b.",
    "a call of a list": b"])R.",
    "a call of a string": b"S'print'\n)R.",
    "NEWOBJ_EX": b"\x80\x04]])}\x92.",
    "an out-of-band buffer": b"\x80\x05\x97.",
    "another protocol": b"\x80\x09N.",
}

# pickles that Python's reader would also refuse, or that would cost much
BROKEN = {
    "empty": b"",
    "no end": b"N",
    "text": b"hello",
    "no mark": b"e.",
    "no value": b"(.",
    "an item of a string": b"U\x01aNNs.",
    "append to a tuple": b")Na.",
    "a key that is a list": b"}]Ns.",
    "expected a value for each dict key": b"}(Nu.",
    "an unknown memo": b"h\x01.",
    "a long string": b"X\xff\xff\xff\x7fabc.",
    "a very long string": b"\x8d" + b"\xff" * 8 + b"a.",
    "a long number": b"\x8b\xff\xff\xff\x7f\x01.",
    "many digits": b"I" + b"9" * 5000 + b"\n.",
    "a huge byte array": b"cbuiltins\nbytearray\n(J\xff\xff\xff\x7ftR.",
    "an unknown escape": b"S'\\q'\n.",  # for which Python has a warning, an error in tests
    "wrong text": b"X\x01\x00\x00\x00\xff.",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_pickle_is_refused_and_runs_nothing(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for constructors in (None, ARRAYS):
        with pytest.raises((UnsafeFileError, DamagedFileError)):
            loads(HOSTILE[name], constructors)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_pickle_is_refused(name):
    with pytest.raises(DamagedFileError):
        loads(BROKEN[name])


def test_keys_that_take_forever_to_hash_are_refused():
    key = ()
    for _ in range(60):
        key = (key, key)
    with pytest.raises(DamagedFileError, match="dict key or set element"):
        loads(pickle.dumps([key])[:-2] + b"}h\x00Ns.")  # with the nested tuple as a key
    with pytest.raises(DamagedFileError, match="dict key or set element"):
        loads(b"})\x85)\x85\x86Ns.")


def _array(shape, code):
    """Return the pickle of an array of one byte that claims another shape and dtype."""
    parts = pickle.dumps(np.zeros(1, np.uint8), 2)
    return parts.replace(b"K\x01\x85", pickle.dumps(shape, 2)[2:-1]).replace(
        b"X\x02\x00\x00\x00u1", b"X" + len(code).to_bytes(4, "little") + code
    )


@pytest.mark.parametrize(
    ("shape", "code"),
    [((2**40,), b"u1"), ((-1,), b"u1"), ((1,), b"O"), ((1,), b"V1"), ((1,), b"u1,u1"),
     ((3,), b"u1"), ((1,), b"nonsense")],
)  # fmt: skip
def test_an_array_that_does_not_fit_its_bytes_is_refused(shape, code):
    assert loads(_array((1,), b"u1"), ARRAYS).tolist() == [0]
    with pytest.raises(DamagedFileError):
        loads(_array(shape, code), ARRAYS)


def test_a_table_allows_constructors_and_names():
    table = {
        ("collections", "OrderedDict"): Constructor(dict, lambda made, state: made.update(state)),
        ("torch", "FloatStorage"): "float32",
    }
    assert loads(pickle.dumps(collections.OrderedDict(a=[1])), table) == {"a": [1]}
    data = b"(U\x07storagectorch\nFloatStorage\nU\x010tQ."
    assert loads(data, table, persistent=lambda key: ["found", *key]) == [
        "found", "storage", "float32", "0",
    ]  # fmt: skip
    with pytest.raises(UnsafeFileError):
        loads(b"ctorch\nFloatStorage\n)R.", table)  # a plain value is not called


def test_changed_pickles_raise_only_our_errors():
    chance = random.Random(5)
    whole = pickle.dumps([PLAIN["containers"], ARRAYS_TO_READ["floats"], {"a": "b"}, 1.5], 2)
    for _ in range(1500):
        data = bytearray(whole)
        for _ in range(chance.randint(1, 4)):
            data[chance.randrange(len(data))] = chance.randrange(256)
        with contextlib.suppress(UnsafeFileError, DamagedFileError):
            loads(bytes(data), ARRAYS)


def test_npy_files_of_objects():
    for name in ("floats", "objects"):
        file = io.BytesIO()
        np.save(file, ARRAYS_TO_READ[name], allow_pickle=True)
        assert load_npy(file.getvalue(), "x.npy").tolist() == ARRAYS_TO_READ[name].tolist()
        with pytest.raises(DamagedFileError, match=r"x\.npy"):
            load_npy(file.getvalue()[:-20], "x.npy")
    file = io.BytesIO()
    np.save(file, np.array([_Calls(os.mkdir, "canary"), 1], dtype=object), allow_pickle=True)
    with pytest.raises(UnsafeFileError, match=r"x\.npy.*mkdir"):
        load_npy(file.getvalue(), "x.npy")
