"""Programs that random search found, made short, and that went wrong once: in every mode."""

import pytest

from tests.fuzz.cases import assert_same

FOUND = {
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
}


@pytest.mark.parametrize("text", FOUND.values(), ids=FOUND)
def test_it_gives_the_same_in_every_mode(text):
    assert_same(text)
