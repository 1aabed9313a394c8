"""Values of tf.random: what a seed repeats, and the moments of what is drawn."""

import numpy as np

import framework as tf

SEED, MANY = (1, 2), [20000]
LOGITS = np.log([[0.2, 0.8]])


def moments(x):
    x = np.asarray(x, np.float64)
    return [x.mean(), x.std()]


class Near:
    """Numbers that are met but for a tolerance."""

    def __init__(self, *values, by=0.03):
        self.values, self.by = values, by

    def check(self, found):
        np.testing.assert_allclose(found, self.values, rtol=self.by, atol=self.by)


def drawn(*args, **kwargs):
    """The call that draws the same twice from one seed; gives mean and standard deviation."""

    def call(f):
        tf.random.set_seed(3)
        first = f(*args, **kwargs)
        tf.random.set_seed(3)
        np.testing.assert_array_equal(first, f(*args, **kwargs))
        return moments(first)

    return call


def by_generator(*args, **kwargs):
    def call(f):
        found = [f(tf.random.Generator.from_seed(5), *args, **kwargs) for _ in range(2)]
        np.testing.assert_array_equal(*found)
        return moments(found[0])

    return call


def state_after(change):
    def call(f):
        g = tf.random.Generator.from_seed(5)
        g.normal([2])
        change(f, g)
        return g.state

    return call


def same_draws(a, b):
    return bool(np.all(a.normal([3]).numpy() == b.normal([3]).numpy()))


def made_global(f):
    before = tf.random.get_global_generator()
    g = tf.random.Generator.from_seed(1)
    f(g)
    found = tf.random.get_global_generator() is g
    tf.random.set_global_generator(before)
    return found


def split(f):
    first, second = f(tf.random.Generator.from_seed(1), 2)
    return same_draws(first, second)


def seeded(f):
    f(7)
    first = tf.random.normal([3]).numpy()
    f(7)
    return first - tf.random.normal([3]).numpy()


UNIFORM = Near(3.5, 1 / 12**0.5)  # from 3 to 4
CUT = Near(0.0, 0.8796)  # a normal one within two standard deviations
G = "random.Generator"

VALUES = {
    "random.normal": (drawn(MANY, 1.0, 2.0), Near(1.0, 2.0)),
    "random.truncated_normal": (drawn(MANY), CUT),
    "random.uniform": (drawn(MANY, 3.0, 4.0), UNIFORM),
    "random.gamma": (drawn(MANY, 4.0, 2.0), Near(2.0, 1.0)),
    "random.poisson": (drawn(MANY, 9.0), Near(9.0, 3.0)),
    "random.categorical": (drawn(LOGITS, MANY[0]), Near(0.8, 0.4)),
    "random.shuffle": (lambda f: np.sort(f([3, 1, 2], seed=1)), [1, 2, 3]),
    "random.stateless_normal": (drawn(MANY, SEED, 1.0, 2.0), Near(1.0, 2.0)),
    "random.stateless_truncated_normal": (drawn(MANY, SEED), CUT),
    "random.stateless_uniform": (drawn(MANY, SEED, 3.0, 4.0), UNIFORM),
    "random.stateless_gamma": (drawn(MANY, SEED, 4.0, 2.0), Near(2.0, 1.0)),
    "random.stateless_poisson": (drawn(MANY, SEED, 9.0), Near(9.0, 3.0)),
    "random.stateless_binomial": (drawn(MANY, SEED, 16.0, 0.5), Near(8.0, 2.0)),
    "random.stateless_categorical": (drawn(LOGITS, MANY[0], SEED), Near(0.8, 0.4)),
    "random.uniform_candidate_sampler": (
        lambda f: f([[1]], 1, 4, False, 2, seed=1)[1:],
        ([[2.0]], [2.0] * 4),
    ),
    "random.log_uniform_candidate_sampler": (
        lambda f: moments(f([[0]], 1, MANY[0], False, 3, seed=1)[0]),
        Near(0.7075, 0.7886),
    ),
    "random.split": (lambda f: moments(f([1, 2], MANY[0]) / 2**31), Near(0.0, 3**-0.5)),
    "random.fold_in": (lambda f: f([1, 2], 5)[1], 5),
    "random.set_seed": (seeded, [0.0, 0.0, 0.0]),
    "random.get_global_generator": (lambda f: f() is tf.random.get_global_generator(), True),
    "random.set_global_generator": (made_global, True),
    "random_normal_initializer": (lambda f: moments(f(1.0, 2.0, seed=1)(MANY)), Near(1.0, 2.0)),
    "random_uniform_initializer": (lambda f: moments(f(3.0, 4.0, seed=1)(MANY)), UNIFORM),
    "random.Generator": (lambda f: f(state=(5, 2)).state, [5, 2]),
    f"{G}.algorithm": (lambda f: f.__get__(tf.random.Generator.from_seed(5)), 1),
    f"{G}.key": (lambda f: f.__get__(tf.random.Generator.from_seed(5)), 5),
    f"{G}.state": (lambda f: f.__get__(tf.random.Generator.from_seed(5)), [5, 0]),
    f"{G}.from_seed": (lambda f: f(6).state, [6, 0]),
    f"{G}.from_state": (lambda f: f((6, 3), "philox").state, [6, 3]),
    f"{G}.from_key_counter": (lambda f: f(6, 3, "philox").state, [6, 3]),
    f"{G}.from_non_deterministic_state": (lambda f: same_draws(f(), f()), False),
    f"{G}.normal": (by_generator(MANY, 1.0, 2.0), Near(1.0, 2.0)),
    f"{G}.truncated_normal": (by_generator(MANY), CUT),
    f"{G}.uniform": (by_generator(MANY, 3.0, 4.0), UNIFORM),
    f"{G}.uniform_full_int": (
        lambda f: moments(f(tf.random.Generator.from_seed(5), MANY, tf.uint8)),
        Near(127.5, 256 / 12**0.5),
    ),
    f"{G}.binomial": (by_generator(MANY, 16.0, 0.5), Near(8.0, 2.0)),
    f"{G}.make_seeds": (lambda f: f(tf.random.Generator.from_seed(5), 4).shape, (2, 4)),
    f"{G}.split": (split, False),
    f"{G}.skip": (state_after(lambda f, g: f(g, 3)), [5, 4]),
    f"{G}.reset": (state_after(lambda f, g: f(g, (9, 1))), [9, 1]),
    f"{G}.reset_from_seed": (state_after(lambda f, g: f(g, 9)), [9, 0]),
    f"{G}.reset_from_key_counter": (state_after(lambda f, g: f(g, 9, 2)), [9, 2]),
}
