import contextlib
import errno
import os
import stat
import sys
import threading

import pytest

from framework.core.errors import SaveError
from framework.saving import writing
from framework.saving.writing import replacing


def write(path, data):
    with replacing(path) as file:
        file.write(data)


def names(folder):
    return sorted(p.name for p in folder.iterdir())


def test_a_file_is_created_and_replaced(tmp_path):
    path = tmp_path / "a"
    write(path, b"first, longer")
    write(path, b"second")
    assert path.read_bytes() == b"second"
    assert names(tmp_path) == ["a"]


def test_an_error_leaves_the_file_as_it_was(tmp_path):
    path = tmp_path / "a"
    write(path, b"first")
    with pytest.raises(ZeroDivisionError), replacing(path) as file:  # noqa: PT012
        file.write(b"half")
        1 / 0  # noqa: B018
    assert path.read_bytes() == b"first"
    assert names(tmp_path) == ["a"]


def test_a_full_disk(tmp_path, monkeypatch):
    path = tmp_path / "a"
    write(path, b"first")

    def full(_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(writing.os, "fsync", full)
    with pytest.raises(SaveError, match="the disk is full"):
        write(path, b"second")
    assert path.read_bytes() == b"first"
    assert names(tmp_path) == ["a"]


def test_a_full_disk_at_closing(tmp_path, monkeypatch):
    path = tmp_path / "a"
    write(path, b"first")

    class Full(writing._EarlyFile):
        def close(self):
            super().close()
            raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(writing, "_EarlyFile", Full)
    with pytest.raises(SaveError, match="the disk is full"), replacing(path):
        raise OSError(errno.ENOSPC, "No space left on device")
    assert path.read_bytes() == b"first"


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write")
def test_a_folder_without_permission(tmp_path):
    tmp_path.chmod(0o500)
    with pytest.raises(SaveError, match="no permission"):
        write(tmp_path / "a", b"x")


def test_the_disk_begins_to_write_before_the_end(tmp_path, monkeypatch):
    calls = []
    monkeypatch.setattr(writing, "_EARLY", 1000)
    monkeypatch.setattr(writing, "_sync_file_range", lambda: lambda *told: calls.append(told))
    data = bytes(range(256)) * 1000
    with replacing(tmp_path / "a") as file:
        file.write(data)
        assert len(calls) > 100  # the rest is in the buffer
        assert set(calls) == {(file.fileno(), 0, 0, 2)}
        file.seek(5)
        file.write(b"here")
    assert (tmp_path / "a").read_bytes() == data[:5] + b"here" + data[9:]


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="sync_file_range is Linux's")
def test_linux_has_the_function_that_begins_to_write(tmp_path):
    with (tmp_path / "a").open("wb", buffering=0) as file:
        file.write(b"text")
        assert writing._sync_file_range()(file.fileno(), 0, 0, 2) == 0


def test_no_folder(tmp_path):
    with pytest.raises(SaveError, match="folder does not exist"):
        write(tmp_path / "none" / "a", b"x")


@pytest.mark.skipif(writing.fcntl is None, reason="needs file locks")
def test_a_second_writer(tmp_path):
    path = tmp_path / "a"
    write(path, b"zero")
    with replacing(path) as file:
        file.write(b"first")
        with pytest.raises(SaveError, match="'a': another writer"):
            write(path, b"second")
        assert path.read_bytes() == b"zero"
    assert path.read_bytes() == b"first"


@pytest.mark.skipif(writing.fcntl is None, reason="needs file locks")
def test_many_writers_leave_one_whole_file(tmp_path):
    path, texts = tmp_path / "a", [bytes([65 + i]) * 100_000 for i in range(4)]

    def work(text):
        for _ in range(25):
            with contextlib.suppress(SaveError):
                write(path, text)

    threads = [threading.Thread(target=work, args=(text,)) for text in texts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert path.read_bytes() in texts
    assert names(tmp_path) == ["a"]


def test_what_a_killed_process_left_is_reused(tmp_path):
    (tmp_path / ".a.partial").write_bytes(b"left behind, longer than the new text")
    write(tmp_path / "a", b"new")
    assert (tmp_path / "a").read_bytes() == b"new"
    assert names(tmp_path) == ["a"]


@pytest.mark.skipif(os.name == "nt", reason="modes of POSIX")
def test_permissions_and_links_stay(tmp_path):
    path, link = tmp_path / "a", tmp_path / "link"
    path.write_bytes(b"old")
    path.chmod(0o640)
    link.symlink_to(path)
    write(link, b"new")
    assert link.is_symlink()
    assert path.read_bytes() == b"new"
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


@pytest.mark.skipif(os.name == "nt", reason="links of POSIX")
def test_a_planted_link_is_not_followed(tmp_path):
    (tmp_path / "victim").write_bytes(b"keep")
    (tmp_path / ".a.partial").symlink_to(tmp_path / "victim")
    with pytest.raises(SaveError):
        write(tmp_path / "a", b"x")
    assert (tmp_path / "victim").read_bytes() == b"keep"
