"""Random numbers: pinned, keyed by seed and draw number, the same whatever else happens."""

import threading

import numpy as np
import pytest

import framework as tf
from framework import keras
from framework.core import parallel_run, random
from framework.core.recorders import Recorder, push, remove
from framework.core.symbolic import KerasTensor, calling
from framework.kernels import threads

DRAWS = {
    "uniform": ("float32", 0.0, 1.0),
    "normal": ("float32", 0.0, 1.0),
    "truncated_normal": ("float32", 1.0, 2.0),
    "integers": ("int32", 0, 100),
}


def test_a_draw_is_philox_with_key_seed_and_counter_number():
    """What `core/random.py` promises, said with NumPy alone."""
    for seed, number in ((0, 0), (7, 0), (7, 5), (2**32 - 1, 1000)):
        philox = np.random.Philox(key=[seed, 0], counter=[0, 0, number, 0])
        expected = np.random.Generator(philox).random(5, dtype=np.float32)
        found = random.draw(random.Stateless(seed, number), "uniform", (5,)).numpy()
        np.testing.assert_array_equal(found, expected)


PINNED = {
    "uniform": [0.38054943, 0.42203414, 0.39757991, 0.8730334, 0.9974193, 0.14222956],
    "normal": [0.39089352, 0.72470057, 0.56767583, 1.4676396, -1.9487275, -1.0563704],
    "truncated_normal": [1.781787, 2.4494011, 2.1353517, 3.9352791, -2.897455, -1.1127408],
    "integers": [38, 42, 39, 87, 99, 14],
}


@pytest.mark.parametrize("distribution", DRAWS)
def test_pinned(distribution):
    """Seeds mean the same numbers in every version: a saved experiment can be run again."""
    dtype, a, b = DRAWS[distribution]
    generator = random.SeedGenerator(2026)
    found = [random.draw(generator, distribution, (3,), dtype, a, b).numpy() for _ in range(2)]
    np.testing.assert_allclose(np.concatenate(found), PINNED[distribution], rtol=1e-6)


def test_pinned_permutation():
    assert random.permutation(2026, 0, 8).tolist() == [2, 4, 6, 3, 7, 5, 0, 1]
    assert random.permutation(2026, 1, 8).tolist() == [1, 4, 6, 7, 2, 0, 3, 5]


def test_pinned_from_set_seed():
    tf.random.set_seed(1)
    np.testing.assert_allclose(
        tf.random.normal([3]).numpy(), [1.0916891, 0.4558267, 0.70178974], rtol=1e-6
    )


def test_draws_do_not_depend_on_what_else_was_drawn():
    one, other = random.SeedGenerator(3), random.SeedGenerator(3)
    random.draw(one, "normal", (1000,))
    random.draw(other, "uniform", ())
    np.testing.assert_array_equal(
        random.draw(one, "normal", (4,)).numpy(), random.draw(other, "normal", (4,)).numpy()
    )
    found = {}

    def worker(name):
        generator = random.SeedGenerator(3)
        found[name] = [random.draw(generator, "normal", (4,)).numpy() for _ in range(50)]

    threads = [threading.Thread(target=worker, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for i in range(1, 4):
        np.testing.assert_array_equal(found[0], found[i])


def test_threads_that_share_a_generator_make_different_draws(in_four_threads):
    generator, found = random.SeedGenerator(3), []
    in_four_threads(lambda: found.extend([generator.advance()[1] for _ in range(2000)]))
    assert sorted(found) == list(range(8000))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("shape", [(131_071,), (131_072,), (3, 100_001), (8, 25, 4, 331)])
@pytest.mark.parametrize("count", [1, 2, 3])
def test_many_numbers_are_the_same_for_any_number_of_threads(shape, dtype, count, change):
    run, handed = parallel_run.run, []
    assert run is threads.run
    change(parallel_run, run=lambda f, parts: (handed.append(parts), run(f, parts)))
    alone = np.random.Generator(np.random.Philox(key=[5, 0], counter=[0, 0, 7, 0]))
    expected = alone.random(shape, dtype=dtype)
    threads.set_count(count)
    try:
        found = random.draw(random.Stateless(5, 7), "uniform", shape, dtype).numpy()
        scaled = random.draw(random.Stateless(5, 7), "uniform", shape, dtype, -1.0, 3.0).numpy()
    finally:
        threads.set_count()
    np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(scaled, expected * np.dtype(dtype).type(4) - 1)
    assert len(handed) == (2 if found.size >= 131_072 else 0)


def test_a_generators_state_is_a_variable():
    generator = random.SeedGenerator(9)
    assert generator.state.numpy().tolist() == [9, 0]
    assert not generator.state.trainable
    first = random.draw(generator, "uniform", (2,)).numpy()
    assert generator.state.numpy().tolist() == [9, 1]
    generator.state.assign([9, 0])
    np.testing.assert_array_equal(random.draw(generator, "uniform", (2,)).numpy(), first)
    assert random.SeedGenerator.from_config(generator.get_config()).state.numpy().tolist() == [9, 0]


@pytest.mark.parametrize("seed", [-1, 1.5, "a", True])
def test_what_is_no_seed(seed):
    with pytest.raises(ValueError, match="seed must be an int >= 0"):
        random.SeedGenerator(seed)


def test_moments():
    tf.random.set_seed(0)
    x = tf.random.normal([200_000], 3.0, 2.0).numpy()
    assert (x.mean(), x.std()) == (pytest.approx(3, abs=0.02), pytest.approx(2, abs=0.02))
    u = tf.random.uniform([200_000], -1, 3).numpy()
    assert u.min() >= -1
    assert u.max() < 3
    assert u.mean() == pytest.approx(1, abs=0.01)
    t = tf.random.truncated_normal([100_000], 1.0, 0.5).numpy()
    assert np.abs(t - 1).max() <= 1
    assert t.std() == pytest.approx(0.5 * 0.8796, abs=0.01)
    n = tf.random.uniform([10_000], 2, 5, tf.int32).numpy()
    assert (sorted(set(n.tolist())), n.dtype) == ([2, 3, 4], np.int32)


def test_a_symbolic_call_draws_nothing():
    generator = random.SeedGenerator(1)
    with calling("layer"):
        drawn = random.draw(generator, "normal", (None, 3))
    assert isinstance(drawn, KerasTensor)
    assert drawn.shape == (None, 3)
    assert generator.state.numpy().tolist() == [1, 0]


def test_recorders_can_draw_again():
    class Listener(Recorder):
        def random_draw(self, draw, tensor):
            self.draw, self.tensor = draw, tensor

    listener, generator = Listener(), random.SeedGenerator(4)
    push(listener)
    try:
        first = random.draw(generator, "normal", (3,))
    finally:
        remove(listener)
    assert listener.tensor is first
    fresh = random.SeedGenerator(4)
    random.draw(fresh, "normal", (3,))
    np.testing.assert_array_equal(listener.draw(), random.draw(fresh, "normal", (3,)).numpy())


# ---- tf.random -----------------------------------------------------------------------------------


def test_tensorflows_seeds_go_on_from_call_to_call():
    def run():
        tf.random.set_seed(5)
        return [tf.random.normal([2], seed=1).numpy().tolist() for _ in range(2)]

    first, second = run()
    assert first != second
    assert run() == [first, second]
    tf.random.set_seed(6)
    assert tf.random.normal([2], seed=1).numpy().tolist() != first


def test_stateless_functions_repeat():
    for function in (tf.random.stateless_normal, tf.random.stateless_uniform,
                     tf.random.stateless_truncated_normal):  # fmt: skip
        a, b, c = (function([3], seed=s).numpy().tolist() for s in ((1, 2), (1, 2), (2, 1)))
        assert a == b != c
    with pytest.raises(ValueError, match="two integers"):
        tf.random.stateless_normal([3], seed=1)


def test_generators():
    a, b = tf.random.Generator.from_seed(1), tf.random.Generator.from_seed(1)
    x = a.normal([2])
    assert (x == b.normal([2])).numpy().all()
    assert not (x == a.normal([2])).numpy().any()
    b.reset(a.state)
    assert (a.uniform([2]) == b.uniform([2])).numpy().all()
    b.skip(1)
    a.normal([2])
    assert (a.normal([2]) == b.normal([2])).numpy().all()
    first, second = a.split(2)
    assert not (first.normal([2]) == second.normal([2])).numpy().any()
    a.reset_from_seed(1)
    assert (a.normal([2]) == x).numpy().all()


def test_shuffle_keeps_rows_together():
    tf.random.set_seed(1)
    x = tf.reshape(tf.range(20), [10, 2])
    shuffled = tf.random.shuffle(x).numpy()
    assert shuffled.tolist() != x.numpy().tolist()
    assert sorted(shuffled.tolist()) == x.numpy().tolist()
    by_columns = keras.random.shuffle(x, axis=1, seed=3).numpy()
    assert {frozenset(row) for row in by_columns.tolist()} == {
        frozenset(r) for r in x.numpy().tolist()
    }


def test_categorical_follows_the_logits():
    tf.random.set_seed(1)
    p = np.array([[0.1, 0.2, 0.7], [0.5, 0.5, 0.0]])
    with np.errstate(divide="ignore"):
        drawn = tf.random.categorical(np.log(p).astype("f4"), 20_000)
    assert (drawn.shape, drawn.dtype) == ((2, 20_000), "int64")
    for row, expected in zip(drawn.numpy(), p, strict=True):
        found = np.bincount(row, minlength=3) / row.size
        np.testing.assert_allclose(found, expected, atol=0.02)
    assert keras.random.categorical([[0.0, 50.0]], 3, seed=1).numpy().tolist() == [[1, 1, 1]]


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_few_bits_do_not_reach_the_upper_end(dtype):
    for low, high in ((0, 1), (-1, 3), (2.0, 2.5)):
        found = tf.random.uniform([100_000], low, high, dtype, seed=1).numpy().astype(np.float32)
        assert low <= found.min() < found.max() < high
        assert found.mean() == pytest.approx((low + high) / 2, rel=0.01)
    assert keras.random.uniform((100_000,), dtype=dtype, seed=1).numpy().max() < 1


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32"])
def test_a_class_that_cannot_be_is_never_drawn(dtype):
    logits = tf.constant([[-np.inf, 0.0, -9.0]], dtype)
    for draw in (tf.random.categorical, keras.random.categorical):
        shares = np.bincount(draw(logits, 200_000, seed=1).numpy()[0], minlength=3) / 200_000
        assert shares[0] == 0
        assert shares[2] == pytest.approx(np.exp(-9), rel=0.5)


def test_gradients_reach_mean_and_stddev():
    mean, stddev = tf.Variable(1.0), tf.Variable(2.0)
    with tf.GradientTape() as tape:
        x = tf.reduce_sum(tf.random.normal([4], mean, stddev, seed=1))
    d_mean, d_stddev = tape.gradient(x, [mean, stddev])
    assert float(d_mean) == 4
    np.testing.assert_allclose(float(d_stddev), (float(x) - 4) / 2, rtol=1e-5)


# ---- keras.random --------------------------------------------------------------------------------


@pytest.mark.parametrize("function", [keras.random.uniform, keras.random.normal,
                                      keras.random.truncated_normal])  # fmt: skip
def test_an_int_seed_is_stateless(function):
    assert function((3,), seed=1).numpy().tolist() == function((3,), seed=1).numpy().tolist()
    assert function((3,), seed=1).numpy().tolist() != function((3,), seed=2).numpy().tolist()
    generator = keras.random.SeedGenerator(1)
    assert (
        function((3,), seed=generator).numpy().tolist()
        != function((3,), seed=generator).numpy().tolist()
    )
    assert function((2, 3), dtype="float64").dtype == "float64"
    with pytest.raises(ValueError, match=r"SeedGenerator or None, got 'a'"):
        function((3,), seed="a")


def test_randint_and_dropout():
    drawn = keras.random.randint((1000,), 2, 5, seed=1)
    assert (drawn.dtype, sorted(set(drawn.numpy().tolist()))) == ("int32", [2, 3, 4])
    dropped = keras.random.dropout(tf.ones([1000]), 0.25, seed=1).numpy()
    np.testing.assert_allclose(np.unique(dropped), [0, 4 / 3], rtol=1e-6)
    assert (dropped == 0).mean() == pytest.approx(0.25, abs=0.05)
    together = keras.random.dropout(tf.ones([50, 4]), 0.5, noise_shape=(50, 1), seed=1).numpy()
    assert set(together.sum(1).tolist()) == {0.0, 8.0}


def test_set_random_seed_seeds_everything():
    import random as python_random

    def run():
        keras.utils.set_random_seed(3)
        return (python_random.random(), np.random.random(), float(tf.random.normal([])),  # noqa: NPY002
                float(keras.random.normal(())))  # fmt: skip

    assert run() == run()
