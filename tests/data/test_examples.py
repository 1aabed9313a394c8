"""Examples of TFRecord files: bytes, tensors and errors of TensorFlow 2.21."""

import zlib

import numpy as np
import pytest

import framework as tf
from framework.core.errors import DamagedFileError, DTypeError, InvalidArgumentError
from framework.data.examples import (
    BytesList,
    Example,
    Feature,
    FeatureList,
    FeatureLists,
    Features,
    FloatList,
    Int64List,
    SequenceExample,
)  # fmt: skip
from framework.data.parsing import FixedLenFeature as Fixed
from framework.data.parsing import FixedLenSequenceFeature as Sequence
from framework.data.parsing import RaggedFeature as Ragged
from framework.data.parsing import VarLenFeature as Var
from framework.data.parsing import (
    parse_example,
    parse_single_example,
    parse_single_sequence_example,
)  # fmt: skip
from framework.data.records import TFRecordWriter
from tests.data.test_dataset import elements

INTS = Feature(int64_list=Int64List(value=[1, -2, 2**40]))
FLOATS = Feature(float_list=FloatList(value=np.array([1.5, 2.25])))
TEXTS = Feature(bytes_list=BytesList(value=[b"ab", b""]))
ONE = Example(features=Features(feature={"i": INTS, "f": FLOATS, "s": TEXTS}))
TWO = Example(features=Features(feature={"i": INTS, "s": Feature(bytes_list=BytesList([b"q"]))}))
DATA = [example.SerializeToString() for example in (ONE, TWO)]

# of TensorFlow: Example(features=Features(feature={"i": INTS})) and a SequenceExample
BYTES = "0a1c0a1a0a016912151a130a1101feffffffffffffffff01808080808020"
SEQUENCE = (
    "0a1c0a1a0a016112151a130a1101feffffffffffffffff01808080808020"
    "12230a210a0171121c0a0c120a0a080000c03f000010400a0c120a0a080000c03f00001040"
)


def test_bytes_are_those_of_tensorflow():
    example = Example(features=Features(feature={"i": INTS}))
    assert example.SerializeToString().hex() == BYTES
    lists = FeatureLists(feature_list={"q": FeatureList(feature=[FLOATS, FLOATS])})
    sequence = SequenceExample(context=Features(feature={"a": INTS}), feature_lists=lists)
    assert sequence.SerializeToString().hex() == SEQUENCE
    for message in (example, sequence, ONE, TWO, Example()):
        again = type(message).FromString(message.SerializeToString())
        assert again == message
        assert str(again) == str(message)
        assert message.ByteSize() == len(message.SerializeToString())


def test_messages_are_filled_in_place():
    example = Example()
    example.features.feature["x"].int64_list.value.append(3)
    example.features.feature["y"].float_list.value.extend([1.0, 2.0])
    assert example.features.feature["y"].WhichOneof("kind") == "float_list"
    example.features.feature["y"].int64_list.value.append(4)  # one list replaces the other
    assert example.features.feature["y"].HasField("int64_list")
    assert Feature().WhichOneof("kind") is None
    copy = Example()
    copy.CopyFrom(example)
    assert copy == example
    assert str(INTS) == "int64_list {\n  value: 1\n  value: -2\n  value: 1099511627776\n}"


def test_fields_of_other_versions_are_skipped():
    more = bytes.fromhex("22020102" + "28ac02" + "350000803f" + "390000000000000000")
    assert Example.FromString(more + DATA[0]) == ONE
    unpacked = Int64List.FromString(bytes.fromhex("08010802"))
    assert unpacked.value == [1, 2]
    assert FloatList.FromString(bytes.fromhex("0d0000c03f")).value == [1.5]


@pytest.mark.parametrize("data", [DATA[0][:-1], b"\x0a\xff", b"\x0b", b"\xff" * 20, b"text"])
def test_damaged_messages(data):
    with pytest.raises(DamagedFileError):
        Example.FromString(data)
    with pytest.raises(DamagedFileError, match=r"example 0: not a tf\.train\.Example"):
        parse_single_example(data, {"i": Var("int64")})


def test_lists_of_scalar_tensors():
    assert Int64List(value=[tf.constant(True), tf.constant(3), np.bool_(False)]).value == [
        1, 3, 0,
    ]  # fmt: skip


@pytest.mark.parametrize(("make", "told"), [
    (lambda: BytesList(["text"]).SerializeToString(), "expected bytes, got str"),
    (lambda: Int64List([1.5]).SerializeToString(), "expected ints, got float"),
    (lambda: Int64List([2**63]).SerializeToString(), "64 bits"),
    (lambda: Feature(int64_list=FloatList()), "expected Int64List, got FloatList"),
    (lambda: Features(feature={"a": 3}), "a Feature as key and value, got 'a' and int"),
    (lambda: Example(features={}), "expected Features, got dict"),
])  # fmt: skip
def test_wrong_types(make, told):
    with pytest.raises(DTypeError, match=told):
        make()


def test_parse_example():
    found = parse_example(tf.constant(DATA), {
        "i": Fixed([3], tf.int64), "f": Sequence([2], tf.float32, allow_missing=True),
        "s": Sequence([], tf.string, allow_missing=True, default_value=b"-"),
        "v": Var(tf.int64), "d": Fixed((1, 2), "float32", default_value=[[3, 4]]),
    })  # fmt: skip
    assert found["i"].tolist() == [[1, -2, 2**40]] * 2
    assert found["f"].tolist() == [[[1.5, 2.25]], [[0, 0]]]
    assert found["s"].tolist() == [[b"ab", b""], [b"q", b"-"]]
    assert found["v"].shape == (2, 0)
    assert found["d"].tolist() == [[[3, 4]]] * 2
    assert [found[key].dtype for key in "ifsv"] == ["int64", "float32", "string", "int64"]


def test_features_of_any_number_of_values_are_sparse():
    found = parse_example(tf.constant(DATA), {"s": Var("string")})["s"]
    assert found.indices.tolist() == [[0, 0], [0, 1], [1, 0]]
    assert found.values.tolist() == [b"ab", b"", b"q"]
    assert found.shape == (2, 2)


def test_parse_single_example():
    features = {"i": Fixed([3], "int64"), "s": Var("string"), "n": Fixed([], "int64", 7)}
    found = parse_single_example(DATA[0], features)
    found["s"] = found["s"].values  # a sparse tensor with one axis
    assert {key: value.tolist() for key, value in found.items()} == {
        "i": [1, -2, 2**40], "s": [b"ab", b""], "n": 7,
    }  # fmt: skip
    context, lists = parse_single_sequence_example(
        bytes.fromhex(SEQUENCE), {"a": Fixed([3], "int64")},
        {"q": Sequence([2], "float32"), "none": Sequence([], "int64", allow_missing=True)},
    )  # fmt: skip
    assert context["a"].tolist() == [1, -2, 2**40]
    assert lists["q"].tolist() == [[1.5, 2.25]] * 2
    assert lists["none"].shape == (0,)


def test_parse_sequence_example():
    """The numbers of TensorFlow; its ragged tensors are padded here."""
    lists = FeatureLists(feature_list={"q": FeatureList(feature=[FLOATS])})
    short = SequenceExample(context=Features(feature={"a": INTS}), feature_lists=lists)
    context, sequences, lengths = tf.io.parse_sequence_example(
        tf.constant([bytes.fromhex(SEQUENCE), short.SerializeToString()]),
        {"a": Fixed([3], "int64")}, {"q": Sequence([2], "float32")},
    )  # fmt: skip
    assert context["a"].tolist() == [[1, -2, 2**40]] * 2
    assert sequences["q"].tolist() == [[[1.5, 2.25]] * 2, [[1.5, 2.25], [0, 0]]]
    assert lengths["q"].tolist() == [2, 1]


@pytest.mark.parametrize(("features", "told"), [
    ({"i": Fixed([2], "int64")}, "expected 2 values .*got 3"),
    ({"i": Fixed([3], "float32")}, "expected a float_list for .*, got a int64_list"),
    ({"none": Fixed([3], "float32")}, "none is required but missing"),
    ({"i": Sequence([2], "int64", True)}, "multiple of 2"),
    ({}, "at least one"),
])  # fmt: skip
def test_parse_errors(features, told):
    with pytest.raises(InvalidArgumentError, match=told):
        parse_single_example(DATA[0], features)


def test_a_program_with_records(tmp_path):
    path = str(tmp_path / "train.tfrecord")
    with TFRecordWriter(path) as writer:
        for text in DATA:
            writer.write(text)
    features = {"i": Fixed([3], tf.int64)}
    data = tf.data.TFRecordDataset(path)
    single = data.map(lambda text: tf.io.parse_single_example(text, features)["i"], 2).batch(2)
    whole = data.batch(2).map(lambda texts: tf.io.parse_example(texts, features)["i"])
    assert elements(single) == elements(whole) == [[[1, -2, 2**40]] * 2]


# ---- bytes and files -----------------------------------------------------------------------------

TENSORS = [
    np.arange(6, dtype="int32").reshape(2, 3), np.array(1.5, "float16"), np.zeros((0, 2), bool),
    np.array([[b"a", b""]], object), np.array([1 + 2j]), np.array([2**63], "uint64"),
]  # fmt: skip
PROTOS = {
    0: "0803120812020802120208032218000000000100000002000000030000000400000005000000",
    3: "0807120812020801120208024201614200",
}


@pytest.mark.parametrize("number", range(len(TENSORS)))
def test_serialized_tensors(number):
    text = tf.io.serialize_tensor(TENSORS[number])
    if number in PROTOS:  # measured with TensorFlow
        assert text.item().hex() == PROTOS[number]
    again = tf.io.parse_tensor(text, TENSORS[number].dtype if number != 3 else "string")
    np.testing.assert_array_equal(again.numpy(), TENSORS[number])
    with pytest.raises(InvalidArgumentError, match=r"out_type: the serialized tensor is"):
        tf.io.parse_tensor(text, "int8")


def test_decoded_bytes():
    raw = tf.io.decode_raw(tf.constant([b"\x00\x01\x00\x02", b"\x00\x03\xff\xff"]), "int16", False)
    assert raw.tolist() == [[1, 2], [3, -1]]
    assert tf.io.decode_raw([b"ab", b"c"], "uint8", fixed_length=3).tolist() == [
        [97, 98, 0], [99, 0, 0]
    ]  # fmt: skip
    assert tf.io.decode_raw(b"\x00\x00\x80\x3f", tf.float32).tolist() == [1.0]
    with pytest.raises(InvalidArgumentError, match="equal length, a multiple of 2, got"):
        tf.io.decode_raw([b"ab", b"c"], "int16")
    texts = tf.constant([b"", b"\xff\xfe\xfd", b"any text"])
    assert tf.io.encode_base64(texts, pad=True)[1].item() == b"__79"
    assert tf.io.decode_base64(tf.io.encode_base64(texts)).tolist() == texts.tolist()
    with pytest.raises(InvalidArgumentError, match="decode_base64"):
        tf.io.decode_base64(b"a?")
    packed = tf.constant([zlib.compress(b"one"), zlib.compress(b"two")])
    assert tf.io.decode_compressed(packed, "ZLIB").tolist() == [b"one", b"two"]
    with pytest.raises(DamagedFileError, match="decode_compressed"):
        tf.io.decode_compressed(b"text", "GZIP")


def test_whole_files(tmp_path):
    path = tmp_path / "folder" / "file.bin"
    tf.io.write_file(str(path), tf.constant(b"\x00one"))
    assert tf.io.read_file(tf.constant(str(path))).item() == b"\x00one"
    assert tf.io.matching_files(str(tmp_path / "*" / "*.bin")).tolist() == [str(path).encode()]
    with pytest.raises(tf.errors.NotFoundError, match="no file"):
        tf.io.read_file(str(tmp_path / "none"))


def test_ragged_features():
    other = Example(features=Features(feature={"s": Feature(bytes_list=BytesList(value=[b"x"]))}))
    both = [ONE.SerializeToString(), other.SerializeToString()]
    wanted = {"i": Ragged("int64"), "texts": Ragged("string", value_key="s")}
    found = parse_example(both, wanted)
    assert found["i"].to_list() == [[1, -2, 2**40], []]
    assert found["texts"].to_list() == [[b"ab", b""], [b"x"]]
    single = parse_single_example(both[0], wanted)
    assert {k: v.tolist() for k, v in single.items()} == {
        "i": [1, -2, 2**40], "texts": [b"ab", b""],
    }  # fmt: skip
    with pytest.raises(InvalidArgumentError, match=r"partitions: expected \(\), got \['n'\]"):
        parse_example(both, {"i": Ragged("int64", partitions=["n"])})
    with pytest.raises(InvalidArgumentError, match="expected a float_list"):
        parse_example(both, {"i": Ragged("float32")})
