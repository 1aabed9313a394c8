"""tf.io.gfile in a temporary folder."""

import pytest

import framework as tf

gfile = tf.io.gfile


def test_files_and_folders(tmp_path):
    folder = gfile.join(tmp_path, "a", "b")
    gfile.makedirs(folder)
    gfile.makedirs(folder)
    path = gfile.join(folder, "x.txt")
    with gfile.GFile(path, "w") as file:
        file.write("two words")
    with gfile.GFile(path.encode(), "rb") as file:
        assert file.read() == b"two words"
    assert gfile.exists(path)
    assert gfile.isdir(folder)
    assert not gfile.isdir(path)
    assert gfile.listdir(folder) == ["x.txt"]
    assert gfile.stat(path).length == 9
    assert not gfile.stat(path).is_directory
    other = gfile.join(folder, "y.txt")
    gfile.copy(path, other)
    with pytest.raises(tf.errors.InvalidArgumentError, match="overwrite=True"):
        gfile.copy(path, other)
    gfile.rename(path, other, overwrite=True)
    assert gfile.glob(gfile.join(folder, "*.txt")) == [other]
    assert [names for _, _, names in gfile.walk(tmp_path)][-1] == ["y.txt"]
    gfile.remove(other)
    gfile.mkdir(gfile.join(folder, "c"))
    gfile.rmtree(gfile.join(tmp_path, "a"))
    assert gfile.listdir(tmp_path) == []
    assert gfile.get_registered_schemes() == [""]


@pytest.mark.parametrize("call", [
    lambda p: gfile.GFile(p), gfile.listdir, gfile.remove, gfile.rmtree, gfile.stat,
    lambda p: gfile.copy(p, p + "2"), lambda p: gfile.rename(p, p + "2"),
    lambda p: gfile.mkdir(p + "/below"),
])  # fmt: skip
def test_what_is_missing(tmp_path, call):
    with pytest.raises(tf.errors.NotFoundError, match="there is no such file or folder"):
        call(str(tmp_path / "none"))
