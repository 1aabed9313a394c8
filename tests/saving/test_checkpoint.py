import gc

import numpy as np
import pytest

import framework as tf
from framework import keras
from framework.core import deferred
from framework.core.errors import DamagedFileError, LoadError, NotFoundError, SaveError

SUFFIX = "/.ATTRIBUTES/VARIABLE_VALUE"


@pytest.fixture(autouse=True)
def nothing_waits():
    yield
    gc.collect()
    assert deferred.waiting == []


def model(seed=0, units=3):
    keras.utils.set_random_seed(seed)
    made = keras.Sequential(
        [keras.layers.Dense(units, "relu"), keras.layers.Dropout(0.5), keras.layers.Dense(1)]
    )
    made.compile("adam", "mse")
    return made


def fitted(seed=0):
    made = model(seed)
    x = np.arange(24, dtype="float32").reshape(6, 4)
    made.fit(x, x[:, :1], epochs=2, verbose=0)
    return made


def state(made):
    return [np.array(v) for v in (*made.variables, *made.optimizer.variables)]


def same(a, b):
    return len(a) == len(b) and all(np.array_equal(x, y) for x, y in zip(a, b, strict=True))


class Net(tf.Module):
    def __init__(self):
        super().__init__()
        self.w = tf.Variable([1.0, 2.0])
        self.parts = [tf.Variable(3.0), {"a.b": tf.Variable(4)}]


def test_names_are_those_of_tensorflow(tmp_path):
    path = tf.train.Checkpoint(net=Net(), step=tf.Variable(5)).save(tmp_path / "c")
    assert path == str(tmp_path / "c-1")
    assert tf.train.list_variables(path) == [
        ("net/parts/0" + SUFFIX, []), ("net/parts/1/a..b" + SUFFIX, []), ("net/w" + SUFFIX, [2]),
        ("save_counter" + SUFFIX, []), ("step" + SUFFIX, []),
    ]  # fmt: skip
    assert tf.train.load_variable(tmp_path, "step" + SUFFIX) == 5
    reader = tf.train.load_checkpoint(path)
    assert reader.has_tensor("net/w" + SUFFIX)
    assert reader.get_variable_to_dtype_map()["net/parts/0" + SUFFIX] is tf.float32
    with pytest.raises(NotFoundError):
        reader.get_tensor("w")


def test_a_model_and_its_optimizer(tmp_path):
    first, second = fitted(1), fitted(2)
    path = tf.train.Checkpoint(model=first, optimizer=first.optimizer).save(tmp_path / "c")
    assert not same(state(first), state(second))
    other = tf.train.Checkpoint(model=second, optimizer=second.optimizer)
    other.restore(path).assert_consumed().assert_nontrivial_match()
    assert same(state(first), state(second))
    assert int(other.save_counter) == 1


@pytest.mark.parametrize("how", ["fit", "step", "build"])
def test_values_wait_for_variables(how, tmp_path):
    first = fitted(1)
    path = tf.train.Checkpoint(model=first).save(tmp_path / "c")
    second = model(2)
    checkpoint = tf.train.Checkpoint(model=second)
    status = checkpoint.restore(path)
    with pytest.raises(AssertionError, match="no variable exists"):
        status.assert_consumed()
    x = np.arange(24, dtype="float32").reshape(6, 4)
    if how == "build":
        second.build((None, 4))
        second.optimizer.build(second.trainable_variables)
        assert same(state(first), state(second))
    else:
        for made in (first, second):
            if how == "fit":
                made.fit(x, x[:, :1], verbose=0, shuffle=False)
            else:
                made.training_step()(x, x[:, :1])
        assert same([np.array(v) for v in first.weights], [np.array(v) for v in second.weights])
    status.assert_consumed()


def test_values_wait_for_attributes_of_modules(tmp_path):
    path = tf.train.Checkpoint(net=Net()).write(tmp_path / "c")
    net = tf.Module()
    checkpoint = tf.train.Checkpoint(net=net)
    status = checkpoint.read(path)
    net.w = tf.Variable([0.0, 0.0])
    assert net.w.numpy().tolist() == [1.0, 2.0]
    with pytest.raises(AssertionError):
        status.assert_consumed()
    status.expect_partial().assert_existing_objects_matched()
    del checkpoint


def test_values_wait_for_items_of_lists_and_dicts(tmp_path):
    values = [tf.Variable(float(n)) for n in range(8)]
    named = {"a": values[5], "b": values[6], "c": values[7]}
    path = tf.train.Checkpoint(items=values[:5], named=named).write(tmp_path / "c")
    checkpoint = tf.train.Checkpoint()
    status = checkpoint.read(path)
    checkpoint.items, checkpoint.named = [None], {}
    made = [tf.Variable(-1.0) for _ in range(8)]
    checkpoint.items[0] = made[0]
    checkpoint.items.append(made[1])
    checkpoint.items.extend(made[2:3])
    checkpoint.items += [made[3]]
    checkpoint.items.insert(4, made[4])
    checkpoint.named["a"] = made[5]
    checkpoint.named.update(b=made[6])
    checkpoint.named.setdefault("c", made[7])
    assert [float(v) for v in made] == [float(n) for n in range(8)]
    status.assert_consumed()


def test_one_object_under_two_names(tmp_path):
    v = tf.Variable(3.0)
    path = tf.train.Checkpoint(a=v, b=v).write(tmp_path / "c")
    w = tf.Variable(0.0)
    tf.train.Checkpoint(b=w).read(path).assert_consumed()
    assert w.numpy() == 3.0


def test_a_root_has_its_own_names(tmp_path):
    path = tf.train.Checkpoint(Net(), extra=tf.Variable(1)).write(tmp_path / "c")
    names = [name for name, _ in tf.train.list_variables(path)]
    assert "w" + SUFFIX in names
    assert "extra" + SUFFIX in names


@pytest.mark.parametrize("value", [3, "text", None, object(), [1]])
def test_what_holds_no_variables_is_refused(value):
    with pytest.raises(ValueError, match="expecting v to be a trackable object"):
        tf.train.Checkpoint(v=value)


def test_what_does_not_fit_changes_nothing(tmp_path):
    saved = tf.train.Checkpoint(a=tf.Variable(1.0), b=tf.Variable([1.0, 2.0]))
    path = saved.write(tmp_path / "c")
    for bad in (tf.Variable([0.0]), tf.Variable([0, 0])):
        a = tf.Variable(0.0)
        with pytest.raises(LoadError, match="has shape"):
            tf.train.Checkpoint(a=a, b=bad).read(path)
        assert a.numpy() == 0.0
    with pytest.raises(AssertionError, match="no values for 1 variables"):
        tf.train.Checkpoint(a=tf.Variable(0.0), c=tf.Variable(0.0)).read(
            path
        ).assert_existing_objects_matched()
    with pytest.raises(AssertionError, match="nothing was restored"):
        tf.train.Checkpoint(c=tf.Variable(0.0)).read(path).assert_nontrivial_match()


def test_missing_and_damaged_files(tmp_path):
    v = tf.Variable([1.0] * 100)
    checkpoint = tf.train.Checkpoint(v=v)
    with pytest.raises(NotFoundError, match="No checkpoint"):
        checkpoint.restore(tmp_path / "none")
    assert checkpoint.restore(None).assert_existing_objects_matched()
    path = checkpoint.write(tmp_path / "c")
    v.assign(v * 0)
    data = (tmp_path / "c.ckpt").read_bytes()
    at = data.index(np.ones(100, "float32").tobytes()) + 40
    for bad in (data[: len(data) // 2], data[:at] + b"\x00\x00\x01" + data[at + 3 :], b""):
        (tmp_path / "c.ckpt").write_bytes(bad)
        with pytest.raises(DamagedFileError):
            checkpoint.read(path)
        assert not v.numpy().any()


def test_other_values(tmp_path):
    values = {
        "c": tf.Variable(1 + 2j), "h": tf.Variable(np.float16(3)), "b": tf.Variable([True, False]),
        "empty": tf.Variable(np.zeros((0, 3))), "i": tf.Variable(np.int64(2**60)),
        "g": tf.random.Generator.from_seed(3), "m": keras.metrics.Mean(),
        "s": keras.random.SeedGenerator(1),
    }  # fmt: skip
    values["m"].update_state(3.0)
    saved = tf.train.Checkpoint(**values)
    path = saved.write(tmp_path / "c")
    drawn = values["g"].normal([2]).numpy()
    values["m"].reset_state()
    saved.read(path).assert_consumed()
    assert values["m"].result() == 3.0
    assert np.array_equal(values["g"].normal([2]).numpy(), drawn)
    assert values["c"].numpy() == 1 + 2j
    assert values["i"].numpy() == 2**60


# ---- CheckpointManager ---------------------------------------------------------------------------


def test_the_manager_keeps_the_latest(tmp_path):
    v = tf.Variable(0)
    manager = tf.train.CheckpointManager(tf.train.Checkpoint(v=v), tmp_path, max_to_keep=2)
    assert manager.latest_checkpoint is None
    assert manager.restore_or_initialize() is None
    for i in range(4):
        v.assign(i)
        manager.save()
    assert manager.checkpoints == [str(tmp_path / f"ckpt-{i}") for i in (3, 4)]
    assert sorted(p.name for p in tmp_path.iterdir()) == [
        "checkpoint",
        "ckpt-3.ckpt",
        "ckpt-4.ckpt",
    ]
    again = tf.train.CheckpointManager(tf.train.Checkpoint(v=tf.Variable(9)), tmp_path, 2)
    assert again.checkpoints == manager.checkpoints
    assert again.restore_or_initialize() == manager.latest_checkpoint
    assert again.checkpoint.v.numpy() == 3
    assert again.save() == str(tmp_path / "ckpt-5")
    assert tf.train.latest_checkpoint(tmp_path) == str(tmp_path / "ckpt-5")
    found = tf.train.get_checkpoint_state(tmp_path)
    assert found.all_model_checkpoint_paths == again.checkpoints
    assert len(found.all_model_checkpoint_timestamps) == 2
    assert next(tf.train.checkpoints_iterator(tmp_path, timeout=0)) == again.latest_checkpoint


def test_the_manager_keeps_one_every_few_hours(tmp_path, monkeypatch):
    from framework.saving import checkpoint_manager

    now = [1e9]
    monkeypatch.setattr(checkpoint_manager.time, "time", lambda: now[0])
    manager = tf.train.CheckpointManager(
        tf.train.Checkpoint(v=tf.Variable(0)), tmp_path, 1, keep_checkpoint_every_n_hours=2
    )
    for _ in range(6):
        now[0] += 3600
        manager.save()
    kept = sorted(path.name for path in tmp_path.glob("*.ckpt"))
    assert kept == ["ckpt-2.ckpt", "ckpt-4.ckpt", "ckpt-6.ckpt"]


def test_the_manager_waits_for_steps(tmp_path):
    step, called = tf.Variable(0), []
    manager = tf.train.CheckpointManager(
        tf.train.Checkpoint(step=step), tmp_path, 3, step_counter=step, checkpoint_interval=5,
        init_fn=lambda: called.append(1),
    )  # fmt: skip
    assert manager.restore_or_initialize() is None
    assert called == [1]
    saved = []
    for i in range(12):
        step.assign(i)
        saved.append(manager.save() is not None)
    assert [i for i, yes in enumerate(saved) if yes] == [0, 5, 10]


def test_writing_in_the_background(tmp_path):
    v, done = tf.Variable(np.zeros(1000)), []
    checkpoint = tf.train.Checkpoint(v=v)
    options = tf.train.CheckpointOptions(
        enable_async=True, experimental_write_callbacks=[done.append]
    )
    paths = []
    for i in range(3):
        v.assign_add(np.ones(1000))
        paths.append(checkpoint.save(tmp_path / "c", options))
        assert len(done) >= i
    v.assign_add(np.ones(1000))
    checkpoint.sync()
    assert done == paths
    assert [tf.train.load_variable(p, "v" + SUFFIX)[0] for p in paths] == [1, 2, 3]
    checkpoint.write(tmp_path / "none" / "c", options)
    (tmp_path / "none").chmod(0o700)
    checkpoint.sync()
    (tmp_path / "file").write_text("")
    checkpoint._own["background"].start(lambda: checkpoint_error(tmp_path))
    with pytest.raises(SaveError):
        checkpoint.save(tmp_path / "c", options)


def checkpoint_error(folder):
    from framework.saving.states import write_state

    write_state(folder / "no folder" / "x", "checkpoint", {}, {})


def test_files_that_are_no_checkpoint(tmp_path):
    from framework.saving.states import write_state

    for nodes in (3, [], [3], [{"children": {"v": 7}}], [{"children": 3}], [{"value": "x"}], None):
        write_state(tmp_path / "c.ckpt", "checkpoint", {}, {"nodes": nodes})
        with pytest.raises(LoadError):
            tf.train.Checkpoint(v=tf.Variable(1)).read(tmp_path / "c")
    write_state(tmp_path / "c.ckpt", "training", {}, {})
    with pytest.raises(LoadError, match="expected a file of a checkpoint"):
        tf.train.Checkpoint(v=tf.Variable(1)).read(tmp_path / "c")


@pytest.mark.parametrize("taken", [0, 3, 10])
def test_the_position_of_an_iterator(tmp_path, taken):
    def pipeline():
        return tf.data.Dataset.range(20).shuffle(20, seed=3).map(lambda x: x * 2).batch(2)

    iterator, step = iter(pipeline()), tf.Variable(1)
    for _ in range(taken):
        next(iterator)
    checkpoint = tf.train.Checkpoint(step=step, iterator=iterator)
    path = checkpoint.save(tmp_path / "ckpt")
    rest = [batch.numpy().tolist() for batch in iterator]
    other, again = iter(pipeline()), tf.Variable(0)
    status = tf.train.Checkpoint(step=again, iterator=other).restore(path)
    status.assert_consumed()
    assert [batch.numpy().tolist() for batch in other] == rest
    assert again.numpy() == 1
    checkpoint.restore(path)
    assert [batch.numpy().tolist() for batch in iterator] == rest


def test_the_position_of_an_iterator_over_another_pipeline(tmp_path):
    shuffled = iter(tf.data.Dataset.range(4).shuffle(4))
    path = tf.train.Checkpoint(iterator=shuffled).write(tmp_path / "c")
    plain = tf.train.Checkpoint(iterator=iter(tf.data.Dataset.range(4)))
    with pytest.raises(LoadError, match="iterator/position"):
        plain.read(path)
