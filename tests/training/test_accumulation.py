"""accumulate=k is the update of one batch k times as large."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import framework as tf
from framework import keras
from tests.samples.optimizers import SAMPLES

RNG = np.random.default_rng(5)
X = RNG.normal(size=(26, 6)).astype("float32")
Y = (X[:, :2] @ RNG.normal(size=(2, 3))).astype("float32")
WEIGHTS = RNG.uniform(0, 3, size=26).astype("float32")
CLASSES = RNG.integers(0, 3, 26)


def dense(**options):
    keras.utils.set_random_seed(4)
    model = keras.Sequential([
        keras.layers.Dense(8, activation="tanh", **options),
        keras.layers.Dense(3),
    ])  # fmt: skip
    model.build((None, 6))
    return model


OPTIMIZERS = {
    "sgd": lambda: keras.optimizers.SGD(0.1),
    "momentum": lambda: keras.optimizers.SGD(0.1, momentum=0.9, nesterov=True),
    "adam": lambda: keras.optimizers.Adam(0.02),
    "decay": lambda: keras.optimizers.Adam(0.02, weight_decay=0.1),
    "global_clipnorm": lambda: keras.optimizers.SGD(0.1, global_clipnorm=0.2),
    "clipvalue": lambda: keras.optimizers.Adam(0.02, clipvalue=0.05),
    "ema": lambda: keras.optimizers.Adam(0.02, use_ema=True, ema_overwrite_frequency=2),
    "schedule": lambda: keras.optimizers.SGD(
        keras.optimizers.schedules.ExponentialDecay(0.1, 1, 0.5)
    ),
    "loss_scale": lambda: keras.optimizers.LossScaleOptimizer(keras.optimizers.Adam(0.02)),
    "loss_scale_factor": lambda: keras.optimizers.SGD(0.1, loss_scale_factor=8.0),
}

LOSSES = {
    "mean": "mse",
    "sum": lambda: keras.losses.MeanSquaredError(reduction="sum"),
    "weighted mean": lambda: keras.losses.MeanSquaredError(reduction="mean_with_sample_weight"),
}


def pieces(*arrays, size=4):
    """Batches of `size`, the last one of 2 rows."""
    for start in range(0, len(arrays[0]), size):
        yield tuple(a[start : start + size] for a in arrays)


def large_and_small(model, optimizer, loss, weights=WEIGHTS, y=Y, every=3, **options):
    """Weights after steps on whole batches, and after accumulated ones; both runs' iterations."""
    found = []
    for size, accumulate in ((4 * every, None), (4, every)):
        made = model()
        step = made.training_step(
            loss=(made_loss := loss() if callable(loss) else loss),
            # without this the sums diverge, and tell nothing
            loss_weights=0.05 if getattr(made_loss, "reduction", None) == "sum" else None,
            optimizer=optimizer(), accumulate=accumulate,
            **options,
        )  # fmt: skip
        for _ in range(2):
            for x, target, weight in pieces(X, y, weights, size=size):
                step(x, target, sample_weight=weight)
            assert step.flush() == (accumulate is not None)  # 26 rows are 7 batches: one is left
        found.append((made.get_weights(), int(step.optimizer.iterations)))
    return found


def same(found, rtol=2e-4):
    (large, iterations), (small, accumulated) = found
    assert iterations == accumulated == 6
    for a, b in zip(large, small, strict=True):
        np.testing.assert_allclose(a, b, rtol=rtol, atol=2e-5)


@pytest.mark.parametrize("loss", LOSSES.values(), ids=LOSSES)
@pytest.mark.parametrize("optimizer", OPTIMIZERS.values(), ids=OPTIMIZERS)
def test_as_one_large_batch(optimizer, loss):
    same(large_and_small(dense, optimizer, loss))


EVERY = [n for n, s in SAMPLES.items() if "gradient_accumulation_steps" not in s.arguments]


@settings(max_examples=3)
@given(seed=st.integers(0, 2**16), rows=st.integers(5, 26), size=st.integers(2, 5),
       every=st.integers(2, 4))  # fmt: skip
@pytest.mark.parametrize("name", EVERY)
def test_every_optimizer_as_on_one_large_batch(name, seed, rows, size, every):
    """With any number of rows, a tail of any length, and any weights of the rows."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(rows, 6)).astype("float32")
    y = rng.normal(size=(rows, 3)).astype("float32")
    weights = rng.uniform(0.2, 3, size=rows).astype("float32")
    found = []
    for many, accumulate in ((size * every, None), (size, every)):
        model = dense()
        optimizer = SAMPLES[name].create()
        step = model.training_step(loss="mse", optimizer=optimizer, accumulate=accumulate)
        for part, target, weight in pieces(x, y, weights, size=many):
            step(part, target, sample_weight=weight)
        step.flush()
        found.append((model.get_weights(), int(optimizer.iterations)))
    (large, iterations), (small, accumulated) = found
    assert iterations == accumulated == -(-rows // (size * every))
    for a, b in zip(large, small, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-3, atol=2e-5)


def test_losses_of_rows_from_a_layer_add_up():
    class Penalty(keras.layers.Layer):
        def call(self, x):
            self.add_loss(0.01 * tf.reduce_sum(tf.square(x), axis=-1))
            return x

    def model():
        made = dense()
        made.add(Penalty())
        return made

    same(large_and_small(model, lambda: keras.optimizers.SGD(0.05), "mse"))


def test_regularizers_count_once():
    def model():
        return dense(kernel_regularizer=keras.regularizers.L2(0.3))

    for loss in LOSSES.values():
        same(large_and_small(model, OPTIMIZERS["momentum"], loss))


def test_rows_that_count_for_nothing():
    ignoring = keras.losses.SparseCategoricalCrossentropy(from_logits=True, ignore_class=1)
    same(large_and_small(dense, OPTIMIZERS["sgd"], lambda: ignoring, y=CLASSES))


def test_several_outputs_with_losses_of_different_kinds():
    def model():
        keras.utils.set_random_seed(4)
        inputs = keras.Input((6,))
        hidden = keras.layers.Dense(5, activation="tanh", kernel_regularizer="l2")(inputs)
        outputs = {name: keras.layers.Dense(3)(hidden) for name in "abc"}
        return keras.Model(inputs, outputs)

    losses = {
        "a": "mse", "b": keras.losses.MeanSquaredError(reduction="sum"),
        "c": keras.losses.MeanAbsoluteError(reduction="mean_with_sample_weight"),
    }  # fmt: skip
    found = []
    for size, accumulate in ((12, None), (4, 3)):
        made = model()
        step = made.training_step(
            loss=losses, optimizer=keras.optimizers.SGD(0.02), accumulate=accumulate,
            loss_weights={"a": 1.0, "b": 0.1, "c": 2.0},
        )  # fmt: skip
        for x, y, w in pieces(X, Y, WEIGHTS, size=size):
            step(x, dict.fromkeys("abc", y), sample_weight={"a": w, "b": w, "c": w * w})
        step.flush()
        found.append(made.get_weights())
    for a, b in zip(*found, strict=True):
        np.testing.assert_allclose(a, b, rtol=2e-4, atol=2e-6)


def test_rows_looked_up_stay_sparse():
    tokens = RNG.integers(0, 9, (12, 4))

    class Lookup(keras.Model):
        def __init__(self):
            super().__init__()
            self.table = self.add_weight(
                (9, 3), initializer=keras.initializers.RandomNormal(seed=1)
            )

        def call(self, x):
            return tf.reduce_sum(tf.gather(self.table, x), axis=1)

    found = []
    for size, accumulate in ((12, None), (4, 3)):
        model = Lookup()
        step = model.training_step(loss="mse", optimizer="adam", accumulate=accumulate)
        for x, y in pieces(tokens, Y[:12], size=size):
            step(x, y)
        found.append(model.get_weights()[0])
    np.testing.assert_allclose(*found, rtol=1e-5)


def test_nothing_happens_before_the_last_batch():
    model = dense()
    step = model.training_step(loss="mse", optimizer="adam", accumulate=3)
    before = model.get_weights()
    for x, y in pieces(X[:8], Y[:8]):
        step(x, y)
    assert step.accumulated == 2
    assert int(step.optimizer.iterations) == 0
    for a, b in zip(before, model.get_weights(), strict=True):
        np.testing.assert_array_equal(a, b)
    step(X[8:12], Y[8:12])
    assert step.accumulated == 0
    assert int(step.optimizer.iterations) == 1
    assert not step.flush()


def test_the_parts_accumulate_as_well():
    whole, parts = dense(), dense()
    by_call = whole.training_step(loss="mse", optimizer="adam", accumulate=2, global_clipnorm=0.1)
    by_parts = parts.training_step(loss="mse", optimizer="adam", accumulate=2, global_clipnorm=0.1)
    for x, y in pieces(X[:16], Y[:16]):
        by_call(x, y)
        _, gradients = by_parts.gradients(x, y)
        by_parts.apply(gradients)
    for a, b in zip(whole.get_weights(), parts.get_weights(), strict=True):
        np.testing.assert_array_equal(a, b)


def test_fit_flushes_the_tail_of_every_epoch():
    runs = []
    for size, accumulate in ((12, None), (4, 3)):
        model = dense()
        model.compile(keras.optimizers.Adam(0.02), "mse", accumulate=accumulate)
        history = model.fit(
            X, Y, batch_size=size, epochs=3, shuffle=False, verbose=0, sample_weight=WEIGHTS
        )
        runs.append(model.get_weights())
        assert int(model.optimizer.iterations) == 9
        assert history.history["loss"][-1] < history.history["loss"][0]
    for a, b in zip(*runs, strict=True):
        np.testing.assert_allclose(a, b, rtol=2e-4, atol=2e-6)


def test_clipping_of_the_step():
    plain, clipped = dense(), dense()
    step = plain.training_step(loss="mse", optimizer=keras.optimizers.SGD(1.0))
    _, gradients = step.gradients(X, Y)
    norm = gradients.norm()
    assert norm > 0.01
    clipped.training_step(loss="mse", optimizer=keras.optimizers.SGD(1.0), global_clipnorm=0.01)(
        X, Y
    )
    step.apply(gradients.map(lambda path, g: g * (0.01 / norm)))
    for a, b in zip(plain.get_weights(), clipped.get_weights(), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-5)


@pytest.mark.parametrize("name", ["clipnorm", "clipvalue", "global_clipnorm"])
def test_the_steps_clipping_is_the_optimizers(name):
    by_step, by_optimizer = dense(), dense()
    by_step.training_step(loss="mse", optimizer=keras.optimizers.SGD(0.1), **{name: 0.03})(X, Y)
    optimizer = keras.optimizers.SGD(0.1, **{name: 0.03})
    by_optimizer.training_step(loss="mse", optimizer=optimizer)(X, Y)
    for a, b in zip(by_step.get_weights(), by_optimizer.get_weights(), strict=True):
        np.testing.assert_array_equal(a, b)


def several(inner=keras.optimizers.Adam):
    chosen = {".*/bias": keras.optimizers.SGD(0.1, momentum=0.9)}
    return keras.optimizers.MultiOptimizer(keras.optimizers.OptimizerMap(inner(0.02), chosen))


@pytest.mark.parametrize("scaled", [False, True])
def test_several_optimizers_in_one(scaled):
    def optimizer():
        return keras.optimizers.LossScaleOptimizer(several()) if scaled else several()

    same(large_and_small(dense, optimizer, "mse"))
    runs = []
    for size, accumulate in ((12, None), (4, 3)):
        model = dense()
        model.compile(optimizer(), "mse", accumulate=accumulate)
        model.fit(X, Y, batch_size=size, epochs=2, shuffle=False, verbose=0)
        runs.append(model.get_weights())
        inner = getattr(model.optimizer, "inner_optimizer", model.optimizer)
        assert [int(o.iterations) for o in inner.optimizers] == [6, 6]
    for a, b in zip(*runs, strict=True):
        np.testing.assert_allclose(a, b, rtol=2e-4, atol=2e-6)


def test_two_ways_to_accumulate_exclude_each_other():
    optimizer = keras.optimizers.SGD(0.1, gradient_accumulation_steps=2)
    with pytest.raises(ValueError, match=r"accumulate=3 and the optimizer's.*=2 cannot be used"):
        dense().training_step(loss="mse", optimizer=optimizer, accumulate=3)
    with pytest.raises(ValueError, match="compile: accumulate=3 and"):
        dense().compile(optimizer, "mse", accumulate=3)
    own = several(lambda rate: keras.optimizers.SGD(rate, gradient_accumulation_steps=2))
    for each in (own, keras.optimizers.LossScaleOptimizer(own)):
        with pytest.raises(ValueError, match=r"accumulate=3 and the optimizer's.*=2 cannot"):
            dense().compile(each, "mse", accumulate=3)
