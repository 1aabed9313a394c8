"""tf.distribute with one replica: what programs for several devices get on one."""

import numpy as np
import pytest

import framework as tf
from framework import keras

D = tf.distribute
STRATEGIES = {
    "mirrored": D.MirroredStrategy, "of devices": lambda: D.MirroredStrategy(["GPU:0", "GPU:1"]),
    "of logical devices": lambda: D.MirroredStrategy(tf.config.list_logical_devices("CPU")),
    "one device": lambda: D.OneDeviceStrategy("/cpu:0"), "workers": D.MultiWorkerMirroredStrategy,
    "central": D.experimental.CentralStorageStrategy, "default": D.get_strategy,
    "options": lambda: D.MirroredStrategy(cross_device_ops=D.HierarchicalCopyAllReduce()),
}  # fmt: skip


@pytest.mark.parametrize("name", STRATEGIES)
def test_one_replica(name):
    strategy = STRATEGIES[name]()
    assert strategy.num_replicas_in_sync == 1
    with strategy.scope():
        assert D.get_strategy() is strategy
        v = tf.Variable(3.0)
    data = tf.data.Dataset.range(6).batch(2)
    assert strategy.experimental_distribute_dataset(data) is data

    @tf.function
    def step(x):
        return strategy.run(lambda t: tf.cast(t, tf.float32) * v, args=(x,))

    totals = [strategy.reduce("SUM", step(x), axis=None).numpy().tolist() for x in data]
    assert totals == [[0, 3], [6, 9], [12, 15]]
    assert strategy.experimental_local_results(v) == (v,)
    assert strategy.gather(v, axis=0) is v


def test_contexts():
    strategy = D.MirroredStrategy()
    assert not D.has_strategy()
    assert not D.in_cross_replica_context()
    assert D.get_replica_context().num_replicas_in_sync == 1
    with strategy.scope():
        assert D.has_strategy()
        assert D.in_cross_replica_context()
        assert D.get_replica_context() is None

        def replica(x):
            context = D.get_replica_context()
            assert not D.in_cross_replica_context()
            assert context.strategy is strategy
            assert context.replica_id_in_sync_group == 0
            merged = context.merge_call(lambda s, y: (s, D.in_cross_replica_context(), y), (x,))
            assert merged == (strategy, True, x)
            return context.all_reduce(D.ReduceOp.SUM, x)

        assert strategy.run(replica, args=(5,)) == 5
        assert D.get_replica_context() is None
    assert D.get_strategy() is not strategy


def test_an_error_closes_the_contexts():
    strategy = D.MirroredStrategy()
    with pytest.raises(ZeroDivisionError), strategy.scope():
        strategy.run(lambda: 1 / 0)
    assert not D.has_strategy()


def test_reduce():
    strategy, x = D.MirroredStrategy(), tf.constant([[1.0, 2.0], [3.0, 4.0]])
    assert strategy.reduce("sum", x, axis=0).numpy().tolist() == [4, 6]
    assert strategy.reduce(D.ReduceOp.MEAN, x, axis=1).numpy().tolist() == [1.5, 3.5]
    assert strategy.reduce(D.ReduceOp.MEAN, x, axis=None) is x
    with pytest.raises(tf.errors.InvalidArgumentError, match="'SUM' or 'MEAN', got 'MAX'"):
        strategy.reduce("MAX", x, axis=None)


def test_datasets_and_values_from_functions():
    strategy = D.MirroredStrategy()

    def dataset(context):
        assert (context.num_input_pipelines, context.input_pipeline_id) == (1, 0)
        return tf.data.Dataset.range(4).batch(context.get_per_replica_batch_size(4))

    assert next(iter(strategy.distribute_datasets_from_function(dataset))).shape == (4,)
    values = strategy.experimental_distribute_values_from_function(
        lambda context: context.replica_id_in_sync_group
    )
    assert values == 0


def test_several_workers_are_refused(monkeypatch):
    cluster = '{"cluster": {"worker": ["a:1", "b:1"]}, "task": {"type": "worker", "index": 0}}'
    monkeypatch.setenv("TF_CONFIG", cluster)
    with pytest.raises(tf.errors.InvalidArgumentError, match="TF_CONFIG has 2 workers"):
        D.MultiWorkerMirroredStrategy()
    with pytest.raises(AttributeError, match="accumulate=n"):
        D.TPUStrategy()


def test_models_train_in_a_scope():
    strategy = D.MirroredStrategy()
    with strategy.scope():
        model = keras.Sequential([keras.Input((2,)), keras.layers.Dense(1)])
        model.compile("sgd", "mse")
    x = np.random.default_rng(0).normal(size=(64, 2)).astype("float32")
    history = model.fit(x, x.sum(1), epochs=5, verbose=0)
    assert history.history["loss"][-1] < history.history["loss"][0]


# values of TensorFlow
@pytest.mark.parametrize(("arguments", "expected"), [
    (([1.0, 2.0], None, 4), 0.75), (([[1.0, 2.0], [3.0, 4.0]],), 5.0),
    (([[1.0, 2.0], [3.0, 4.0]], [1.0, 0.5]), 3.25), (([1.0, 3.0], [1, 2], 2), 3.5),
])  # fmt: skip
def test_average_loss(arguments, expected):
    assert tf.nn.compute_average_loss(*arguments).numpy() == expected
    assert tf.nn.scale_regularization_loss([1.0, 2.0]).numpy() == 3.0
    assert tf.nn.scale_regularization_loss([1, 2]).dtype == tf.float64
    assert tf.nn.compute_average_loss(tf.zeros((0,))).numpy() == 0.0


def test_average_loss_of_a_scalar():
    with pytest.raises(tf.errors.InvalidArgumentError, match="loss for each sample"):
        tf.nn.compute_average_loss(3.0)


def test_options_of_devices_and_graphs():
    tf.debugging.set_log_device_placement(True)
    assert tf.debugging.get_log_device_placement()
    tf.debugging.set_log_device_placement(False)
    assert tf.config.get_soft_device_placement()
    tf.config.set_soft_device_placement(True)
    tf.config.optimizer.set_experimental_options({"constant_folding": False})
    assert tf.config.optimizer.get_experimental_options() == {"constant_folding": False}
    tf.config.optimizer.set_experimental_options({"constant_folding": True})
    tf.config.optimizer.set_jit(True)
    parts = [tf.config.LogicalDeviceConfiguration(memory_limit=64)] * 2
    tf.config.set_logical_device_configuration(tf.config.list_physical_devices()[0], parts)
    assert len(tf.config.list_logical_devices()) == 1
    with pytest.raises(tf.errors.InvalidArgumentError, match="`device`: expected"):
        tf.config.set_logical_device_configuration("GPU:0", parts)
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"'constant_fold'.*constant_folding"):
        tf.config.optimizer.set_experimental_options({"constant_fold": True})
    assert tf.version.VERSION == tf.__version__ == tf.version.GIT_VERSION
