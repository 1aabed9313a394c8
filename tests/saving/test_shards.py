import contextlib
import json
import threading
import warnings
from pathlib import Path

import numpy as np
import pytest

from framework import keras
from framework.core.errors import DamagedFileError, LoadError, SaveError, UnsafeFileError
from framework.saving import model_folder, writing

_SHARD = ["m_00000.weights.h5"]
KILOBYTE = 2.0**-20  # in GB


def model(seed=0, units=30):
    keras.utils.set_random_seed(seed)
    made = keras.Sequential([keras.Input((8,)), keras.layers.Dense(units), keras.layers.Dense(20)])
    made.compile("adam", "mse")
    made.optimizer.build(made.trainable_variables)
    return made


def state(made):
    return [np.array(v) for v in (*made.weights, *made.optimizer.variables)]


def test_the_layout_is_that_of_keras(tmp_path):
    path = tmp_path / "m.weights.json"
    saved, loaded = model(1), model(2)
    saved.optimizer.learning_rate = 0.25
    saved.save_weights(path, max_shard_size=2.5 * KILOBYTE)
    index = json.loads(path.read_bytes())
    files = [p.name for p in sorted(tmp_path.iterdir()) if p != path]
    assert files == [f"m_{i:05}.weights.h5" for i in range(len(files))]
    assert 3 < len(files) < 10
    assert index["metadata"]["total_size"] == sum(a.nbytes for a in state(saved))
    assert index["weight_map"]["/layers/dense/vars"] == "m_00000.weights.h5"
    assert index["weight_map"]["/optimizer/vars"] == files[1:]
    loaded.load_weights(path)
    assert all(map(np.array_equal, state(saved), state(loaded)))


def test_fewer_shards_replace_more(tmp_path):
    path = tmp_path / "m.weights.json"
    model(1).save_weights(path, max_shard_size=2.5 * KILOBYTE)
    model(2).save_weights(path, max_shard_size=1)
    assert len(list(tmp_path.iterdir())) == 2
    loaded = model(3)
    loaded.load_weights(path)
    assert all(map(np.array_equal, state(model(2)), state(loaded)))


def test_errors(tmp_path):
    with pytest.raises(ValueError, match="max_shard_size"):
        model().save_weights(tmp_path / "m.weights.json", max_shard_size=KILOBYTE / 2)
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(SaveError, match="must end in"):
        model().save_weights(tmp_path / "m.json", max_shard_size=1)
    with pytest.raises(SaveError, match="must end in"):
        model().save_weights(tmp_path / "m.weights.json")
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        model().save_weights(tmp_path / "m.weights.h5", max_shard_size=1)
    assert "m.weights.json" in str(found[0].message)
    assert (tmp_path / "m.weights.json").exists()


def test_an_error_keeps_the_old_files(tmp_path):
    path = tmp_path / "m.weights.json"
    model(1).save_weights(path, max_shard_size=2.5 * KILOBYTE)
    before = {p.name: p.read_bytes() for p in tmp_path.iterdir()}

    class Bad(keras.layers.Layer):
        def call(self, inputs):
            return inputs

        def save_own_variables(self, store):
            store["0"] = np.zeros(500, "float32")
            raise ZeroDivisionError

    bad = keras.Sequential([keras.Input((8,)), keras.layers.Dense(60), Bad()])
    with pytest.raises(ZeroDivisionError):
        bad.save_weights(path, max_shard_size=2.5 * KILOBYTE)
    assert {p.name: p.read_bytes() for p in tmp_path.iterdir()} == before


@pytest.mark.parametrize(
    ("change", "kind"),
    [
        (lambda index: index["weight_map"].update({"/x": "/etc/passwd"}), UnsafeFileError),
        (lambda index: index["weight_map"].update({"/x": "../m.weights.h5"}), UnsafeFileError),
        (lambda index: index["weight_map"].update({"/x": ["none.weights.h5"]}), DamagedFileError),
        (lambda index: index["weight_map"].update({"/x": 3}), UnsafeFileError),
        (lambda index: index.update(weight_map=[]), DamagedFileError),
        (lambda index: index.update(metadata=3), DamagedFileError),
        (lambda index: index.pop("weight_map"), DamagedFileError),
        (lambda index: index["metadata"]["crc32"].update(dict(zip(_SHARD, [1]))), DamagedFileError),
        (lambda index: index["weight_map"].pop("/layers/dense/vars"), LoadError),
    ],
)  # fmt: skip
def test_a_changed_index_is_one_error(change, kind, tmp_path):
    path = tmp_path / "m.weights.json"
    model().save_weights(path, max_shard_size=2.5 * KILOBYTE)
    index = json.loads(path.read_bytes())
    change(index)
    path.write_text(json.dumps(index))
    with pytest.raises(kind):
        model().load_weights(path)


@pytest.mark.parametrize("named", range(6))
def test_a_killed_process_is_completed(named, tmp_path):
    path = tmp_path / "m.weights.json"
    model(1).save_weights(path, max_shard_size=2.5 * KILOBYTE)
    old = {p.name: p.read_bytes() for p in tmp_path.iterdir()}
    model(2).save_weights(path, max_shard_size=2.5 * KILOBYTE)
    # As if it was killed when the first shards had their names.
    path.rename(tmp_path / ".m.weights.json.next")
    for i, shard in enumerate(sorted(tmp_path.glob("m_*"))):
        if i >= named:
            shard.rename(tmp_path / f".{shard.name}.partial")
            shard.write_bytes(old[shard.name])
    loaded = model(3)
    loaded.load_weights(path)
    assert all(map(np.array_equal, state(model(2)), state(loaded)))
    assert sorted(p.name for p in tmp_path.iterdir()) == sorted(old)


def test_links_and_mixed_shards_are_refused(tmp_path):
    path = tmp_path / "m.weights.json"
    model(1).save_weights(path, max_shard_size=2.5 * KILOBYTE)
    shard = tmp_path / "m_00001.weights.h5"
    old = shard.read_bytes()
    model(2).save_weights(path, max_shard_size=2.5 * KILOBYTE)
    shard.write_bytes(old)
    with pytest.raises(DamagedFileError, match="not written with the index"):
        model().load_weights(path)
    shard.unlink()
    shard.symlink_to("/etc/passwd")
    with pytest.raises(UnsafeFileError, match="link"):
        model().load_weights(path)


# ---- folders -------------------------------------------------------------------------------------


def test_a_model_in_a_folder(tmp_path):
    keras.models.load_model(saved_folder(tmp_path, 1))
    made = model(2)
    made.save(tmp_path / "m", zipped=False)  # replaces it
    assert sorted(p.name for p in tmp_path.iterdir()) == ["m"]
    assert sorted(p.name for p in (tmp_path / "m").iterdir()) == [
        "config.json", "metadata.json", "model.weights.h5"
    ]  # fmt: skip
    again = keras.models.load_model(tmp_path / "m")
    assert all(map(np.array_equal, state(made), state(again)))


def saved_folder(tmp_path, seed):
    model(seed).save(tmp_path / "m", zipped=False)
    return tmp_path / "m"


def test_vocabularies_in_a_folder(tmp_path):
    lookup = keras.layers.StringLookup()
    lookup.adapt(np.array(["a", "b", "b"]))
    made = keras.Sequential([keras.Input((1,), dtype="string"), lookup])
    made.save(tmp_path / "m", zipped=False)
    again = keras.models.load_model(tmp_path / "m")
    assert again.layers[0].get_vocabulary() == lookup.get_vocabulary()


def test_a_folder_that_was_moved_aside_comes_back(tmp_path):
    saved_folder(tmp_path, 1).rename(tmp_path / ".m.old")
    assert keras.models.load_model(tmp_path / "m").count_params() == model().count_params()


def test_hostile_folders(tmp_path):
    folder = saved_folder(tmp_path, 1)
    (folder / "assets").mkdir()
    (folder / "assets" / "link").symlink_to("/etc/passwd")
    with pytest.raises(UnsafeFileError, match="link"):
        keras.models.load_model(folder)
    (folder / "assets" / "link").unlink()
    weights = (folder / "model.weights.h5").read_bytes()
    (folder / "model.weights.h5").write_bytes(weights[:700])
    with pytest.raises(DamagedFileError):
        keras.models.load_model(folder)
    (folder / "model.weights.h5").unlink()
    with pytest.raises(DamagedFileError, match="no file"):
        keras.models.load_model(folder)
    (tmp_path / "other").mkdir()
    with pytest.raises(SaveError, match="not the folder of a model"):
        model().save(tmp_path / "other", zipped=False)


# ---- several writers and readers -----------------------------------------------------------------


def contents(folder):
    return {p.relative_to(folder): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def save_shards(made, folder):
    made.save_weights(folder / "m.weights.json", max_shard_size=2.5 * KILOBYTE)


def save_folder(made, folder):
    made.save(folder / "m", zipped=False)


needs_locks = pytest.mark.skipif(writing.fcntl is None, reason="needs file locks")


@needs_locks
@pytest.mark.parametrize("save", [save_shards, save_folder])
def test_a_second_writer_changes_nothing(save, tmp_path):
    save(model(1), tmp_path)
    before = contents(tmp_path)
    name = "m.weights.json" if save is save_shards else "m"
    with writing.only_writer(tmp_path / name), pytest.raises(SaveError, match="another writer"):
        save(model(2), tmp_path)
    assert contents(tmp_path) == before
    save(model(2), tmp_path)
    assert contents(tmp_path) != before


@needs_locks
def test_a_shard_that_is_being_written_stops_a_writer(tmp_path):
    save_shards(model(1), tmp_path)
    before = contents(tmp_path)
    with writing.replacing(tmp_path / "m_00000.weights.h5") as file:
        file.write(before[Path("m_00000.weights.h5")])
        with pytest.raises(SaveError, match="another writer"):
            save_shards(model(2), tmp_path)
    assert contents(tmp_path) == before


@needs_locks
def test_a_folder_that_another_writer_fills_stays(tmp_path):
    with model_folder.FolderWriter(tmp_path / "m", "config.json") as folder:
        folder.write("config.json", b"{}")
        with pytest.raises(SaveError, match="another writer"):
            save_folder(model(2), tmp_path)
    assert contents(tmp_path) == {Path("m", "config.json"): b"{}"}


@needs_locks
@pytest.mark.parametrize("save", [save_shards, save_folder])
def test_many_writers_leave_one_model(save, tmp_path):
    models, written = [model(i) for i in range(4)], []

    def work(made):
        for _ in range(10):
            with contextlib.suppress(SaveError):
                save(made, tmp_path)
                written.append(made)

    threads = [threading.Thread(target=work, args=(made,)) for made in models]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert written
    if save is save_folder:
        loaded = keras.models.load_model(tmp_path / "m")
    else:
        loaded = model(9)
        loaded.load_weights(tmp_path / "m.weights.json")
    assert any(all(map(np.array_equal, state(made), state(loaded))) for made in models)
    assert not [p.name for p in tmp_path.iterdir() if p.name.startswith(".")]


@needs_locks
def test_a_reader_waits_while_folders_are_exchanged(tmp_path):
    save_folder(model(1), tmp_path)
    with writing.only_writer(tmp_path / "m"):
        (tmp_path / "m").rename(tmp_path / ".m.old")
        loaded = []
        read = lambda: loaded.append(keras.models.load_model(tmp_path / "m"))
        reader = threading.Thread(target=read)
        reader.start()
        reader.join(0.2)
        assert reader.is_alive()
        (tmp_path / ".m.old").rename(tmp_path / "m")
    reader.join()
    assert len(loaded) == 1


def test_a_file_of_an_old_index_that_is_no_shard_stays(tmp_path):
    other = tmp_path / "other.weights.h5"
    model(1).save_weights(other)
    index = {"metadata": {}, "weight_map": {"/layers/dense/vars": other.name}}
    (tmp_path / "m.weights.json").write_text(json.dumps(index))
    save_shards(model(2), tmp_path)
    assert other.exists()
