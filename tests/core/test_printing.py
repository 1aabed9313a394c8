"""`str` and `repr` of tensors and variables are TensorFlow's: what TF 2.21 printed."""

import numpy as np
import pytest

import framework as tf

MATRIX = "\narray([[1., 2.],\n       [3., 4.]], dtype=float32)"

TENSORS = [
    (1.0, "tf.Tensor(1.0, shape=(), dtype=float32)",
     "<tf.Tensor: shape=(), dtype=float32, numpy=1.0>"),
    (3, "tf.Tensor(3, shape=(), dtype=int32)", "<tf.Tensor: shape=(), dtype=int32, numpy=3>"),
    (True, "tf.Tensor(True, shape=(), dtype=bool)",
     "<tf.Tensor: shape=(), dtype=bool, numpy=True>"),
    ([1.0, 2.0], "tf.Tensor([1. 2.], shape=(2,), dtype=float32)",
     "<tf.Tensor: shape=(2,), dtype=float32, numpy=array([1., 2.], dtype=float32)>"),
    ([[1.0, 2.0], [3.0, 4.0]],
     "tf.Tensor(\n[[1. 2.]\n [3. 4.]], shape=(2, 2), dtype=float32)",
     f"<tf.Tensor: shape=(2, 2), dtype=float32, numpy={MATRIX}>"),
    ([], "tf.Tensor([], shape=(0,), dtype=float32)",
     "<tf.Tensor: shape=(0,), dtype=float32, numpy=array([], dtype=float32)>"),
    ([[]], "tf.Tensor([], shape=(1, 0), dtype=float32)",
     "<tf.Tensor: shape=(1, 0), dtype=float32, numpy=array([], shape=(1, 0), dtype=float32)>"),
    ("a", "tf.Tensor(b'a', shape=(), dtype=string)",
     "<tf.Tensor: shape=(), dtype=string, numpy=b'a'>"),
    (["a", "b"], "tf.Tensor([b'a' b'b'], shape=(2,), dtype=string)",
     "<tf.Tensor: shape=(2,), dtype=string, numpy=array([b'a', b'b'], dtype=object)>"),
    (1 + 2j, "tf.Tensor((1+2j), shape=(), dtype=complex128)",
     "<tf.Tensor: shape=(), dtype=complex128, numpy=(1+2j)>"),
    (1e-8, "tf.Tensor(1e-08, shape=(), dtype=float32)",
     "<tf.Tensor: shape=(), dtype=float32, numpy=9.99999993922529e-09>"),
    ([1e10, 1.0], "tf.Tensor([1.e+10 1.e+00], shape=(2,), dtype=float32)",
     "<tf.Tensor: shape=(2,), dtype=float32, numpy=array([1.e+10, 1.e+00], dtype=float32)>"),
    (np.float64(0.1), "tf.Tensor(0.1, shape=(), dtype=float64)",
     "<tf.Tensor: shape=(), dtype=float64, numpy=0.1>"),
    (np.float16(0.1), "tf.Tensor(0.1, shape=(), dtype=float16)",
     "<tf.Tensor: shape=(), dtype=float16, numpy=0.0999755859375>"),
    (np.int8([1]), "tf.Tensor([1], shape=(1,), dtype=int8)",
     "<tf.Tensor: shape=(1,), dtype=int8, numpy=array([1], dtype=int8)>"),
    (float("nan"), "tf.Tensor(nan, shape=(), dtype=float32)",
     "<tf.Tensor: shape=(), dtype=float32, numpy=nan>"),
]  # fmt: skip


@pytest.mark.parametrize(("value", "text", "representation"), TENSORS, ids=[t[1] for t in TENSORS])
def test_tensors(value, text, representation):
    assert str(tf.constant(value)) == text
    assert repr(tf.constant(value)) == representation


@pytest.mark.parametrize(
    ("variable", "text"),
    [
        (lambda: tf.Variable(3.0), "<tf.Variable 'Variable:0' shape=() dtype=float32, numpy=3.0>"),
        (lambda: tf.Variable([[1.0, 2.0], [3.0, 4.0]], name="w"),
         "<tf.Variable 'w:0' shape=(2, 2) dtype=float32, numpy=" + MATRIX + ">"),
        (lambda: tf.Variable(True), "<tf.Variable 'Variable:0' shape=() dtype=bool, numpy=True>"),
        (lambda: tf.Variable([1, 2]),
         "<tf.Variable 'Variable:0' shape=(2,) dtype=int32, numpy=array([1, 2], dtype=int32)>"),
        (lambda: tf.keras.Variable([1.0, 2.0], name="v"),
         "<Variable path=v, shape=(2,), dtype=float32, value=[1. 2.]>"),
    ],
)  # fmt: skip
def test_variables(variable, text):
    assert repr(variable()) == str(variable()) == text


def test_shapes_and_dtypes():
    x = tf.constant([1.0, 2.0])
    assert (str(x.shape), repr(x.shape)) == ("(2,)", "TensorShape([2])")
    assert repr(tf.TensorShape([2, None])) == "TensorShape([2, None])"
    assert (repr(tf.float32), repr(tf.bool)) == ("tf.float32", "tf.bool")
    assert repr(tf.constant(1.0).ref()).startswith("<Reference wrapping <tf.Tensor: shape=()")


def test_format():
    assert f"{tf.constant(1.5)} {tf.constant(1.5):.3f} {tf.constant([1.5])}" == "1.5 1.500 [1.5]"
    assert f"{tf.Variable(2.0)}" == "<tf.Variable 'Variable:0' shape=() dtype=float32, numpy=2.0>"
    assert f"{tf.Variable(2.0):.2f}" == "2.00"


def test_tf_print(capsys):
    tf.print("loss:", tf.constant(0.1), tf.range(10), [tf.constant(1.0), 2], 1.5, sep="|")
    tf.print(tf.constant([1 / 3, 0.5]), tf.range(4), summarize=-1)
    printed = capsys.readouterr()
    assert printed.err == ("loss:|0.1|[0 1 2 ... 7 8 9]|[1, 2]|1.5\n[0.333333343 0.5] [0 1 2 3]\n")
    assert printed.out == ""


def test_tf_print_of_texts_and_booleans(capsys):
    tf.print(tf.constant("abc"), tf.constant(["a", "b"]), "w", ["x", 1], True)
    tf.print(tf.constant([True, False]), tf.constant(True), np.array([1.5, 2.0]))
    expected = '"abc" ["a" "b"] w [\'x\', 1] True\n[1 0] 1 [1.5 2]\n'
    assert capsys.readouterr().err == expected
