"""tf.io.decode_json_example: messages in the JSON form of protocol buffers."""

import json

import numpy as np
import pytest

import framework as tf

EXAMPLE = tf.train.Example(
    features=tf.train.Features(
        feature={
            "ints": tf.train.Feature(int64_list=tf.train.Int64List(value=[1, -(2**62)])),
            "floats": tf.train.Feature(float_list=tf.train.FloatList(value=[0.5, 2])),
            "bytes": tf.train.Feature(bytes_list=tf.train.BytesList(value=[b"\x00\xff"])),
            "none": tf.train.Feature(),
        }
    )
)
JSON = {
    "ints": {"int64List": {"value": ["1", str(-(2**62))]}},
    "floats": {"float_list": {"value": [0.5, 2]}},
    "bytes": {"bytesList": {"value": ["AP8="]}},
    "none": {},
}


def text(features):
    return json.dumps({"features": {"feature": features}})


def test_the_messages():
    found = tf.io.decode_json_example([[text(JSON), "{}"]])
    assert found.shape == (1, 2)
    assert found.numpy()[0, 0] == EXAMPLE.SerializeToString()
    assert found.numpy()[0, 1] == b""
    row = tf.io.parse_single_example(
        found[0, 0], {"floats": tf.io.FixedLenFeature([2], tf.float32)}
    )
    np.testing.assert_array_equal(row["floats"].numpy(), [0.5, 2])


@pytest.mark.parametrize(
    "bad",
    ['{"features":', '{"feature": {}}', "[]", text({"x": {"doubleList": {"value": [1]}}}),
     text({"x": {"int64List": {"value": ["a"]}}}), text({"x": {"bytesList": {"value": ["?"]}}}),
     text({"x": {"int64List": {"value": [1]}, "floatList": {"value": [1]}}})],
)  # fmt: skip
def test_what_is_no_message(bad):
    with pytest.raises(tf.errors.InvalidArgumentError, match="Error while parsing JSON"):
        tf.io.decode_json_example(bad)


def test_numbers_are_refused():
    with pytest.raises(tf.errors.InvalidArgumentError, match="expected strings, got dtype int32"):
        tf.io.decode_json_example(3)
