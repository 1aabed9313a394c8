"""Programs that random search found, made short, and that went wrong once: in every mode."""

import pytest

from tests.fuzz.cases import assert_same

FOUND = {
    "an error of the program in the first calls of a plan": """
@tf.function
def f(a):
    return tf.linalg.cholesky(a @ tf.transpose(a) + tf.eye(5))
bad = data((5, 1), 'float32', 2, special=True)
for x in (data((5, 1)), data((5, 1)), bad, bad, bad, bad, bad, data((5, 1))):
    call(f, x)
""",
    "a variable assigned by itself twice over": """
v0 = tf.Variable([1.0, 2.0])
@tf.function
def f():
    v0.assign_sub(v0)
    return v0 + 1.0
for x in range(3):
    call(f)
out(v0)
""",
    "the sum of one -0.0": """
@tf.function
def f(a):
    return tf.reduce_sum(a, axis=1), tf.reduce_sum(a, axis=0)
x = tf.constant([[-0.0], [1.0], [-0.0]])
for i in range(3):
    call(f, x)
    call(f, x[:1])
""",
    "running sums of infinities": """
x = tf.constant([[float("inf"), float("-inf"), 3e38]])
out((tf.cumsum(x, axis=1), tf.math.cumprod(x, axis=1), tf.math.cumulative_logsumexp(x, axis=1)))
""",
    "a variable grows beyond what it can hold": """
v0 = tf.Variable(3e38)
v0.assign_add(v0)
v0.assign_sub(v0)
out(v0)
""",
    "rows added up beyond what they can hold": """
x = tf.constant([[3e38, float("inf")], [3e38, float("-inf")]])
out(tf.tensor_scatter_nd_add(tf.zeros([1, 2]), [[0], [0]], x))
out(tf.tensor_scatter_nd_add(x, [[0], [0]], x))
""",
    "a number stored as a truth value": """
@tf.function
def f(a, b):
    return tf.reduce_any(b != 0.5), tf.nn.elu(b), tf.cumsum(a)
for x in range(3):
    grads(f, (data((2, 3), "int64"), tf.constant(0.25)), [])
""",
    "the sum of a scalar -0.0, or over axes of size 1": """
@tf.function
def f(a):
    return tf.reduce_sum(a), tf.reduce_sum(a * tf.nn.relu(a)), tf.reduce_mean(a)
@tf.function
def g(a):
    return tf.reduce_sum(a, axis=(0, 2)), tf.reduce_mean(a, axis=[1, 2], keepdims=True)
for i in range(3):
    call(f, tf.constant(-0.0))
    call(f, tf.constant(-0.0, "float16"))
    call(g, tf.constant([[[-0.0], [1.0], [-0.0]]]))
    call(g, tf.constant([[[-0.0]]], "float64"))
""",
    "an op that raises, though nothing reads its result": """
@tf.function
def f(a):
    t1 = tf.linalg.cholesky(a + 1.0)
    return a * 2.0
@tf.function
def g(a, i):
    t1, t2 = tf.gather(a, i), tf.reduce_sum(a // i)
    return tf.reduce_sum(a * 2)
good, bad = tf.constant([[1.0]]), tf.constant([[-2.0]])
for x in (good, good, good, bad, good, bad):
    call(f, x)
for x in (good, good, good, bad, good, bad):
    grads(f, (x,), [x])
for i in (1, 1, 1, 7, 1, 0):
    call(g, tf.constant([2, 3]), tf.constant(i))
""",
    "sums over axes apart of what lies otherwise in memory from call to call": """
@tf.function
def f(x):
    y = tf.exp(x) * 1.5
    return tf.reduce_sum(y, axis=(0, 2)), tf.math.reduce_variance(y), tf.reduce_sum(y)
x = data((17, 19, 23), "float32", 1)
z = tf.transpose(data((23, 17, 19), "float32", 1), (1, 2, 0))
for a in (x, z, x):
    for i in range(4):
        call(f, a)
""",
    "a depthwise convolution overflows": """
x = tf.Variable(data((1, 3, 6, 2), "float32", 1) * 1e30)
w = tf.Variable(data((1, 1, 2, 1), "float32", 2) * 1e30)
def f():
    return tf.nn.depthwise_conv2d(x, w, [1, 1, 1, 1], "VALID")
grads(f, (), [x, w])
""",
    "a choice between a Python number and bfloat16": """
@tf.function
def f(a):
    with tf.GradientTape() as t:
        t.watch(a)
        y = tf.math.xlogy(a, a)
    return t.jacobian(y, a)
for i in range(4):
    call(f, tf.constant(0.5, tf.bfloat16))
""",
    "a node that a pass adds to the forward pass of a function with an inner tape": """
@tf.function
def f(a):
    with tf.GradientTape() as t:
        t.watch(a)
        t2 = tf.nn.gelu(a)
        t3 = tf.reduce_logsumexp(t2, axis=1, keepdims=True)
        t4 = tf.reduce_mean(tf.square(t3))
    g = t.gradient(t4, a)
    return [g, t2, g]
for i in range(3):
    for s in ((1, 1), (2, 1)):
        x = data(s, "float32", 1)
        grads(f, (x,), [x])
        second(f, (x,), x)
""",
    "gelu by its tanh approximation, far below 0": """
@tf.function
def f(a, b):
    return tf.nn.gelu(a * 1.5 + b * 0.0, approximate=True)
a = data((2, 5, 5, 4), "float32", 0)
for i in range(3):
    grads(f, (a, data((5, 4), "float32", 0)), [a])
""",
    "functions of elements in reverse order, where a plan leaves out what copies them": """
@tf.function
def f(a, b):
    t1 = tf.math.acos(tf.reverse(a, [0]) / 1.0)
    t2 = tf.math.acos(a[::-1] / 1.0)
    return t1, t2, tf.math.sinh(tf.cumsum(b, reverse=True) / 1.0)
for seed in range(4):
    x = tf.sin(data((seed + 1,), "float32", seed))
    for i in range(3):
        grads(f, (x, x * 0.5), [x])
""",
    "an integer beyond the dtype of a large array, which a group of loops compares": """
@tf.function
def f(a, k):
    return [(a <= k) & (a == a)]
a = data((300, 301), "uint8", 0)
for k in (-1, 256, 1 << 40):
    for i in range(3):
        call(f, a, k)
""",
    "a convolution behind a padded one, whose gradient NumPy returned as a part of an array": """
h = keras.Input((1,))
x = keras.layers.Conv1D(2, 1)(keras.layers.Embedding(5, 1)(h))
model = keras.Model(h, keras.layers.SeparableConv1D(1, 2, padding="same")(x))
model.compile(keras.optimizers.Adamax(0.01), "log_cosh")
model.fit(tf.abs(data((9,), "int32", 0)), data((9, 1), "float32", 0), epochs=3)
out(model.get_weights())
""",
}


@pytest.mark.parametrize("text", FOUND.values(), ids=FOUND)
def test_it_gives_the_same_in_every_mode(text):
    assert_same(text)
