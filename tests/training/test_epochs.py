"""Where fit's batches come from, and what happens at their end."""

import threading
from contextlib import nullcontext

import numpy as np
import pytest

import framework as tf
from framework import keras

RNG = np.random.default_rng(0)
X = np.arange(20, dtype="float32")[:, None]
Y = X * 2


def watching(**options):
    """A model, and the list of first rows of the batches it is trained on."""
    seen = []

    class Own(keras.Sequential):
        def train_step(self, data):
            x = data[0] if isinstance(data, tuple) else data
            seen.append(int(np.asarray(x)[0, 0]))
            return {"loss": 0.0}

        def test_step(self, data):
            seen.append(-1 - int(np.asarray(data[0])[0, 0]))
            return {"loss": 0.0}

    model = Own([keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    return model, seen


def batches(count=5):
    for i in range(count):
        yield X[4 * i : 4 * i + 4], Y[4 * i : 4 * i + 4]


class Indexed(keras.utils.PyDataset):
    def __init__(self, count=5, **options):
        super().__init__(**options)
        self.count, self.calls, self.threads = count, [], set()

    def __len__(self):
        return self.count

    def __getitem__(self, i):
        self.threads.add(threading.current_thread().name)
        return X[4 * i : 4 * i + 4], Y[4 * i : 4 * i + 4]

    def on_epoch_begin(self):
        self.calls.append("begin")

    def on_epoch_end(self):
        self.calls.append("end")


SOURCES = {
    "arrays": lambda: {"x": X, "y": Y, "batch_size": 4, "shuffle": False},
    "dataset": lambda: {"x": tf.data.Dataset.from_tensor_slices((X, Y)).batch(4)},
    "pydataset": lambda: {"x": Indexed(), "shuffle": False},
    "workers": lambda: {"x": Indexed(workers=3, max_queue_size=2), "shuffle": False},
    "list of batches": lambda: {"x": tf.data.Dataset.from_generator(
        batches, output_signature=(tf.TensorSpec((None, 1)), tf.TensorSpec((None, 1))))},
}  # fmt: skip


@pytest.mark.parametrize("source", SOURCES.values(), ids=SOURCES)
def test_data_that_can_be_begun_anew(source):
    model, seen = watching()
    model.fit(**source(), epochs=2, verbose=0)
    assert seen == [0, 4, 8, 12, 16] * 2


@pytest.mark.parametrize("source", SOURCES.values(), ids=SOURCES)
def test_with_a_number_of_steps_they_go_on(source):
    model, seen = watching()
    with pytest.warns(UserWarning, match="ran out of data.*2 of 3 steps"):
        history = model.fit(**source(), epochs=4, steps_per_epoch=3, verbose=0)
    assert seen == [0, 4, 8, 12, 16] * 2  # epochs of 3 and 2 and 3 and 2 batches
    assert history.epoch == [0, 1, 2, 3]


def test_each_pass_has_an_order_of_its_own():
    orders = []
    for steps in (None, 5, 2):
        keras.utils.set_random_seed(1)
        model, seen = watching()
        told = nullcontext() if steps != 2 else pytest.warns(UserWarning, match="1 of 2 steps")
        with told:
            epochs = 3 if steps != 2 else 9
            model.fit(X, Y, batch_size=4, epochs=epochs, steps_per_epoch=steps, verbose=0)
        orders.append(seen)
    assert orders[0] == orders[1] == orders[2]
    assert len({tuple(orders[0][i : i + 5]) for i in (0, 5, 10)}) == 3


def test_a_generator_goes_on():
    model, seen = watching()
    model.fit(batches(), epochs=2, steps_per_epoch=2, verbose=0)
    assert seen == [0, 4, 8, 12]


def test_a_generator_that_ends_early():
    model, seen = watching()
    with pytest.warns(
        UserWarning, match=r"after 1 of 2 steps in epoch 3 of 9.*iterated again"
    ) as told:
        history = model.fit(batches(), epochs=9, steps_per_epoch=2, verbose=0)
    assert len(told) == 1
    assert seen == [0, 4, 8, 12, 16]
    assert history.epoch == [0, 1, 2]


def test_a_generator_without_steps_is_one_epoch():
    model, seen = watching()
    with pytest.warns(UserWarning, match=r"after 0 steps in epoch 2 of 3") as told:
        history = model.fit(batches(), epochs=3, verbose=0)
    assert len(told) == 1
    assert len(seen) == 5
    assert history.epoch == [0]


def test_an_endless_dataset_goes_on():
    model, seen = watching()
    dataset = tf.data.Dataset.from_tensor_slices((X, Y)).batch(4).repeat()
    model.fit(dataset, epochs=2, steps_per_epoch=3, verbose=0)
    assert seen == [0, 4, 8, 12, 16, 0]
    with pytest.raises(ValueError, match=r"infinite, so an epoch needs a number of batches"):
        model.fit(dataset, verbose=0)


def test_validation_begins_anew_each_epoch():
    model, seen = watching()
    dataset = tf.data.Dataset.from_tensor_slices((X, Y)).batch(4)
    model.fit(
        X[:4],
        Y[:4],
        epochs=2,
        shuffle=False,
        validation_data=dataset,
        validation_steps=2,
        verbose=0,
    )
    assert seen == [0, -1, -5] * 2


def test_a_generator_validates_until_it_has_run_out():
    model, seen = watching()
    told = r"validation_data: the data ran out after 0 steps\. Pass data that"
    with pytest.warns(UserWarning, match=told):
        history = model.fit(X, Y, epochs=3, verbose=0, validation_data=batches()).history
    assert seen.count(-1) == 1
    assert {name: len(values) for name, values in history.items()} == {"loss": 3, "val_loss": 1}


def test_steps_without_a_batch_size_share_the_rows():
    model, seen = watching()
    options = {"epochs": 2, "shuffle": False, "verbose": 0}
    held_out = {"validation_data": (X[:7], Y[:7]), "validation_steps": 3}  # 3 and 3 and 1
    model.fit(X, Y, steps_per_epoch=3, **held_out, **options)
    assert seen == [0, 7, 14, -1, -4, -7] * 2
    seen.clear()
    with pytest.warns(UserWarning, match="1 of 3 steps"):
        model.fit(X, Y, batch_size=5, steps_per_epoch=3, **options)
    assert seen == [0, 5, 10, 15]
    seen.clear()
    model.evaluate(X, Y, steps=2, verbose=0)
    assert seen == [-1, -11]
    assert len(model.predict(X, steps=1, verbose=0)) == 20


def test_too_few_steps_to_evaluate():
    model, seen = watching()
    with pytest.warns(UserWarning, match=r"evaluate: the data ran out after 5 of 9 steps"):
        model.evaluate(X, Y, batch_size=4, steps=9, verbose=0)
    assert len(seen) == 5


def test_epochs_of_a_pydataset():
    source = Indexed()
    model, seen = watching()
    model.fit(source, epochs=2, verbose=0)
    assert source.calls == ["begin", "end"] * 2
    assert sorted(seen) == sorted([0, 4, 8, 12, 16] * 2)
    source.calls.clear()
    with pytest.warns(UserWarning, match="1 of 2 steps"):
        model.fit(source, epochs=3, steps_per_epoch=2, verbose=0)
    assert source.calls == ["begin", "end"] * 3


def test_workers_of_a_pydataset():
    source = Indexed(workers=2)
    model, _ = watching()
    model.fit(source, verbose=0)
    assert all(name.startswith("framework-pydataset") for name in source.threads)


def test_an_error_in_a_worker_is_raised():
    class Broken(Indexed):
        def __getitem__(self, i):
            if i == 2:
                raise OSError("disk full")
            return super().__getitem__(i)

    model, seen = watching()
    source = Broken(workers=2)
    with pytest.raises(OSError, match="disk full"):
        model.fit(source, shuffle=False, verbose=0)
    assert seen == [0, 4]
    assert source.calls == ["begin", "end"]


class Pairs(keras.utils.PyDataset):
    """Can be copied to another process."""

    def __len__(self):
        return 3

    def __getitem__(self, i):
        return X[4 * i : 4 * i + 4], Y[4 * i : 4 * i + 4]


def test_processes():
    source = Pairs(workers=1, use_multiprocessing=True)
    assert [float(x[0, 0]) for x, _ in source] == [0.0, 4.0, 8.0]


def test_nests_of_inputs():
    a, b = keras.Input((1,), name="a"), keras.Input((2,), name="b")
    model = keras.Model([a, b], keras.layers.Dense(1)(keras.layers.Concatenate()([a, b])))
    model.compile("sgd", "mse")
    wide = np.repeat(X, 2, axis=1)
    first = model.fit([X, wide], Y, verbose=0, shuffle=False, batch_size=20).history["loss"]
    assert np.isfinite(first[0])
    for inputs in ({"a": X, "b": wide}, (X, wide)):
        assert model.predict(inputs, verbose=0).shape == (20, 1)
    data = tf.data.Dataset.from_tensor_slices(({"a": X, "b": wide}, Y)).batch(5)
    assert np.isfinite(model.evaluate(data, verbose=0))


def test_class_weights_of_each_target():
    inputs = keras.Input((1,))
    outputs = {name: keras.layers.Dense(3, name=name)(inputs) for name in "ab"}
    model = keras.Model(inputs, outputs)
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(keras.optimizers.SGD(0.0), loss)
    labels = np.arange(20) % 3
    y = {"a": labels, "b": labels}
    weighted = model.fit(X / 20, y, class_weight={"a": {0: 2.0}, "b": None}, verbose=0).history
    factors = np.where(labels == 0, 2.0, 1.0)
    by_rows = model.fit(
        X / 20, y, sample_weight={"a": factors, "b": np.ones(20)}, verbose=0
    ).history
    plain = model.fit(X / 20, y, verbose=0).history
    np.testing.assert_allclose(weighted["loss"], by_rows["loss"], rtol=1e-5)
    assert weighted["a_loss"] != pytest.approx(plain["a_loss"])
    np.testing.assert_allclose(weighted["b_loss"], plain["b_loss"], rtol=1e-5)


def test_steps_per_execution_changes_no_number():
    runs = []
    for steps in (1, 4):
        keras.utils.set_random_seed(0)
        model = keras.Sequential([keras.layers.Dense(1)])
        model.compile("adam", "mse", steps_per_execution=steps, run_eagerly=True, jit_compile=True)
        runs.append(model.fit(X / 20, Y, batch_size=3, epochs=2, verbose=0).history)
    assert runs[0] == runs[1]


class Told(keras.callbacks.Callback):
    """The numbers of batches that callbacks are told of."""

    def __init__(self):
        self.batches = []

    def on_train_batch_begin(self, batch, logs=None):
        self.batches.append(f"{batch}")

    def on_train_batch_end(self, batch, logs=None):
        self.batches[-1] += f"-{batch}"
        assert "outputs" in logs or logs["loss"] > 0

    on_test_batch_begin = on_predict_batch_begin = on_train_batch_begin
    on_test_batch_end = on_predict_batch_end = on_train_batch_end


def test_callbacks_run_once_for_several_steps_as_in_keras(capsys):
    model = keras.Sequential([keras.layers.Dense(1)])
    model.compile("sgd", "mse", steps_per_execution=3)
    x, y = np.ones((14, 2)), 2 * np.ones((14, 1))
    told = Told()
    model.fit(x, y, batch_size=2, callbacks=told, validation_data=(x, y), validation_batch_size=4)
    assert told.batches == ["0-2", "3-5", "6-8", "0-2", "3-5"]  # of 7 and of 4
    assert "7/7" in capsys.readouterr().out
    told.batches.clear()
    model.predict(x, batch_size=2, verbose=0, callbacks=[told])
    assert told.batches == ["0-2", "3-5", "6-8"]
    told.batches.clear()
    model.evaluate(x, y, batch_size=2, verbose=0, callbacks=[told], steps=4)
    assert told.batches == ["0-2", "3-5"]
    assert int(model.optimizer.iterations) == 7


def test_outputs_of_a_group_are_joined():
    seen = []

    class Look(keras.callbacks.Callback):
        def on_predict_batch_end(self, batch, logs=None):
            seen.append(np.shape(logs["outputs"]))

    model = keras.Sequential([keras.layers.Dense(1)])
    model.compile("sgd", "mse", steps_per_execution=3)
    found = model.predict(np.ones((14, 2)), batch_size=2, verbose=0, callbacks=[Look()])
    assert seen == [(6, 1), (6, 1), (2, 1)]
    assert found.shape == (14, 1)


def test_class_weight_on_a_batch():
    keras.utils.set_random_seed(0)
    model = keras.Sequential([keras.layers.Dense(3)])
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(keras.optimizers.SGD(0.0), loss)
    labels = np.arange(20) % 3
    factors = np.where(labels == 1, 5.0, 1.0)
    expected = model.train_on_batch(X / 20, labels, sample_weight=factors)
    for given in (labels, labels.tolist()):
        found = model.train_on_batch(X / 20, given, class_weight={1: 5.0})
        assert found == pytest.approx(expected)
