import copy
import pickle
import subprocess
import sys

import numpy as np
import pytest

import framework as tf
from framework import keras
from framework.core.op import table
from parity.scenarios.file_models import inputs
from parity.scenarios.file_models import table as models
from tests.looped import looped

MODELS = models()
COPIES = {"pickle": lambda x: pickle.loads(pickle.dumps(x)), "deepcopy": copy.deepcopy}


class Net(keras.Model):
    def __init__(self):
        super().__init__()
        self.parts = [keras.layers.Dense(3), keras.layers.Dropout(0.5)]

    def call(self, x):
        for part in self.parts:
            x = part(x)
        return x


def arrays(outputs):
    return [np.asarray(x) for x in tf.nest.flatten(outputs)]


@pytest.mark.parametrize("how", COPIES)
@pytest.mark.parametrize("name", [n for n in MODELS if n != "words"])
def test_a_copied_model_computes_the_same(name, how):
    make, x = MODELS[name]
    model = make(keras)
    again = COPIES[how](model)
    for a, b in zip(arrays(model(x)), arrays(again(x)), strict=True):
        np.testing.assert_array_equal(a, b)
    mine = {id(v) for v in model.variables}
    assert not mine & {id(v) for v in again.variables}


@pytest.mark.parametrize("how", COPIES)
@pytest.mark.parametrize("make", [
    Net, lambda: keras.Sequential([keras.layers.Dense(3), keras.layers.Dropout(0.5)]),
])  # fmt: skip
def test_training_goes_on_in_a_copy(make, how):
    x, y = inputs(8, 4), inputs(8, 3)
    model = make()
    model.compile(keras.optimizers.Adam(0.01), "mse", metrics=["mae"])
    model.fit(x, y, epochs=2, verbose=0)
    again = COPIES[how](model)
    for _ in range(2):  # with dropout: the seed generators are copied too
        assert model.train_on_batch(x, y) == again.train_on_batch(x, y)
    for a, b in zip(model.get_weights(), again.get_weights(), strict=True):
        np.testing.assert_array_equal(a, b)
    again.fit(x, y, verbose=0)
    assert int(again.optimizer.iterations) == int(model.optimizer.iterations) + 1


@pytest.mark.parametrize("how", COPIES)
def test_a_copy_does_not_need_the_original(how):
    model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(2, activity_regularizer="l1")])
    model.compile("sgd", "mse", metrics=["mae"])
    model.train_on_batch(inputs(8, 4), inputs(8, 2))
    again = COPIES[how](model)
    del model
    assert again.train_on_batch(inputs(8, 4), inputs(8, 2))[0] > 0


@pytest.mark.parametrize("how", COPIES)
@pytest.mark.parametrize("make", [
    lambda: tf.constant([1.0, 2.0]), lambda: tf.Variable([1.0]), lambda: keras.Variable([1.0]),
    lambda: tf.TensorShape([1, None]), lambda: tf.float32, lambda: keras.metrics.Mean(),
    lambda: keras.losses.Huber(0.5), lambda: keras.optimizers.Adam(0.1), lambda: keras.Input((3,)),
    lambda: keras.optimizers.schedules.CosineDecay(0.1, 3), lambda: keras.initializers.HeNormal(3),
    lambda: tf.data.Dataset.from_tensor_slices(np.arange(4)).batch(2),
    lambda: keras.DTypePolicy("mixed_float16"), lambda: keras.random.SeedGenerator(3),
])  # fmt: skip
def test_other_objects(make, how):
    assert type(COPIES[how](make())) is type(make())


@pytest.mark.parametrize("how", COPIES)
def test_a_metric_keeps_its_state(how):
    metric = keras.metrics.Mean()
    metric.update_state([1.0, 4.0])
    again = COPIES[how](metric)
    again.update_state([4.0])
    assert (float(again.result()), float(metric.result())) == (3.0, 2.5)


@looped("name", sorted(table))
def test_an_op_is_copied_as_itself(name):
    assert copy.deepcopy(table[name]) is table[name]
    assert pickle.loads(pickle.dumps(table[name])) is table[name]


def test_another_process_reads_a_model(tmp_path):
    make, x = MODELS["operators"]
    model = make(keras)
    (tmp_path / "m").write_bytes(pickle.dumps((model, x)))
    program = (
        "import pickle, sys; model, x = pickle.load(open(sys.argv[1], 'rb')); "
        "print(float(model(x).numpy().sum()))"
    )
    result = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path / "m")],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert result.returncode == 0, result.stderr
    assert float(result.stdout) == pytest.approx(float(model(x).numpy().sum()))
