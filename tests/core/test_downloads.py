"""get_file: a local server and file addresses, hashes, archives, mistakes; hostile archives."""

import functools
import hashlib
import http.server
import io
import os
import tarfile
import threading
import time
import zipfile
from pathlib import Path

import pytest

from framework.core import archive_extraction
from framework.core.downloads import get_file
from framework.core.errors import DamagedFileError, DownloadError, UnsafeFileError

WORDS = b"one two three\n" * 1000


class _Server(http.server.SimpleHTTPRequestHandler):
    asked = ()

    def do_GET(self):
        type(self).asked = (*self.asked, self.path)
        if self.path == "/short":
            self.send_response(200)
            self.send_header("Content-Length", "100")
            self.end_headers()
            self.wfile.write(b"short")
        elif self.path == "/elsewhere":
            self.send_response(302)
            self.send_header("Location", "file:///etc/hostname")
            self.end_headers()
        else:
            super().do_GET()

    def log_message(self, *_):
        pass


@pytest.fixture
def site(tmp_path, monkeypatch):
    """A folder and its address on a local server; the cache is `tmp_path / "keras"`."""
    monkeypatch.setenv("KERAS_HOME", str(tmp_path / "keras"))
    monkeypatch.setenv("no_proxy", "*")
    folder = tmp_path / "site"
    folder.mkdir()
    (folder / "words.txt").write_bytes(WORDS)
    _Server.asked = ()
    server = http.server.ThreadingHTTPServer(
        ("127.0.0.1", 0), functools.partial(_Server, directory=str(folder))
    )
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    yield folder, f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


def test_a_file_is_downloaded_once(site, tmp_path):
    _, address = site
    for hash_of in (None, hashlib.sha256, hashlib.md5):
        known = None if hash_of is None else hash_of(WORDS).hexdigest()
        path = get_file(origin=f"{address}/words.txt?v=1", file_hash=known)
        assert path == str(tmp_path / "keras" / "datasets" / "words.txt")
        assert Path(path).read_bytes() == WORDS
    assert _Server.asked == ("/words.txt?v=1",)
    get_file(origin=f"{address}/words.txt", force_download=True)
    assert len(_Server.asked) == 2
    path = get_file("mine", f"{address}/words.txt", cache_dir=tmp_path, cache_subdir="x/y",
                    md5_hash=hashlib.md5(WORDS).hexdigest())  # fmt: skip
    assert path == str(tmp_path / "x" / "y" / "mine")
    assert sorted(p.name for p in (tmp_path / "x" / "y").iterdir()) == ["mine"]


def test_a_file_with_another_hash_is_downloaded_again(site, capsys):
    _, address = site
    known = hashlib.sha256(WORDS).hexdigest()
    path = Path(get_file(origin=f"{address}/words.txt"))
    path.write_bytes(b"old")
    get_file(origin=f"{address}/words.txt", file_hash=known, hash_algorithm="sha256")
    assert path.read_bytes() == WORDS
    assert "incomplete or outdated" in capsys.readouterr().out
    path.unlink()
    with pytest.raises(ValueError, match="Incomplete or corrupted"):
        get_file(origin=f"{address}/words.txt", file_hash="0" * 64)
    assert list(path.parent.iterdir()) == []


@pytest.mark.parametrize("name", ["none.txt", "short", "elsewhere"])
def test_what_cannot_be_downloaded_leaves_nothing(name, site, tmp_path):
    with pytest.raises(OSError, match="URL fetch failure"):
        get_file("file", f"{site[1]}/{name}")
    assert list((tmp_path / "keras" / "datasets").iterdir()) == []


def test_file_addresses(site, tmp_path):
    folder, _ = site
    assert Path(get_file(origin=(folder / "words.txt").as_uri())).read_bytes() == WORDS
    with pytest.raises(DownloadError):
        get_file(origin=(folder / "none.txt").as_uri())


def _tar(path, mode="w:gz", **members):
    with tarfile.open(path, mode) as archive:
        for name, data in members.items():
            info = tarfile.TarInfo(name.replace("__", "/"))
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))


def _zip(path, **members):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name.replace("__", "/"), data)


@pytest.mark.parametrize("kind", ["tar", "tar.gz", "tar.bz2", "tar.xz", "zip"])
def test_archives(kind, site, tmp_path):
    folder, _ = site
    archive, cache = folder / f"data.{kind}", tmp_path / "keras" / "datasets"
    members = {"a.txt": b"a", "inner__b.txt": WORDS}
    if kind == "zip":
        _zip(archive, **members)
    else:
        _tar(archive, f"w:{kind.partition('.')[2]}", **members)
    origin = archive.as_uri()
    found = get_file(origin=origin, extract=True)
    assert found == str(cache / f"data.{kind}")
    assert (cache / f"data.{kind}_archive").is_file()
    assert Path(found, "inner", "b.txt").read_bytes() == WORDS
    named = get_file("data", origin, extract=True)
    assert named == str(cache / "data")
    ending = get_file("data.tgz", origin, **{"untar" if kind != "zip" else "extract": True})
    assert ending == str(cache / "data_extracted")
    assert sorted(p.name for p in Path(ending).iterdir()) == ["a.txt", "inner"]
    Path(named, "mine").write_text("kept")  # a folder that is newer than the archive stays
    assert get_file("data", origin, extract=True) == named
    assert Path(named, "mine").exists()
    time.sleep(0.02)
    get_file("data", origin, extract=True, force_download=True)
    assert not Path(named, "mine").exists()
    with pytest.warns(UserWarning, match="Could not extract"):
        get_file("plain", (folder / "words.txt").as_uri(), extract=True)
    with pytest.warns(UserWarning, match="Could not extract"):
        get_file("other", origin, extract=True, archive_format="tar" if kind == "zip" else "zip")


def test_links_inside_are_kept(tmp_path):
    path = tmp_path / "a.tar"
    with tarfile.open(path, "w") as archive:
        for name, kind, target in (
            ("d/file", tarfile.REGTYPE, ""), ("d/link", tarfile.SYMTYPE, "file"),
            ("up", tarfile.SYMTYPE, "d/../d"), ("e/back", tarfile.SYMTYPE, "../d/file"),
            ("copy", tarfile.LNKTYPE, "d/file"),
        ):  # fmt: skip
            info = tarfile.TarInfo(name)
            info.type, info.linkname, info.size = kind, target, 3 if kind == tarfile.REGTYPE else 0
            if name != "up":
                archive.addfile(info, io.BytesIO(b"abc"))
    assert archive_extraction.extract(path, tmp_path / "out")
    for name in ("d/file", "d/link", "e/back", "copy"):
        assert (tmp_path / "out" / name).read_bytes() == b"abc"


def _entry(name, kind=tarfile.REGTYPE, target=""):
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, target
    return info


LINK, HARD = tarfile.SYMTYPE, tarfile.LNKTYPE
HOSTILE = {
    "an absolute path": [_entry("/tmp/evil")],
    "a path upwards": [_entry("../evil")],
    "a path up and down": [_entry("a/../../evil")],
    "a device": [_entry("null", tarfile.CHRTYPE)],
    "a pipe": [_entry("pipe", tarfile.FIFOTYPE)],
    "a link to the root": [_entry("root", LINK, "/")],
    "a link upwards": [_entry("up", LINK, "..")],
    "a link far upwards": [_entry("a/b/up", LINK, "../../../x")],
    "a link up behind a link": [_entry("a/l", LINK, ".."), _entry("m", LINK, "a/l/../x")],
    "a file in a link": [_entry("l", LINK, "d"), _entry("l/evil")],
    "a file in a later link": [_entry("l/evil"), _entry("l", LINK, "d")],
    "a hard link outside": [_entry("h", HARD, "../evil")],
    "a hard link to a link": [_entry("l", LINK, "d"), _entry("h", HARD, "l")],
    "a hard link to nothing": [_entry("h", HARD, "nothing")],
    "a file in a file": [_entry("a"), _entry("a/b")],
    "a name given twice": [_entry("a"), _entry("a")],
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_tar_file_writes_nothing(name, tmp_path):
    inside = tmp_path / "inside"
    inside.mkdir()
    path = tmp_path / "evil.tar"
    with tarfile.open(path, "w") as archive:
        archive.addfile(_entry("good"))
        for entry in HOSTILE[name]:
            archive.addfile(entry)
    with pytest.raises(UnsafeFileError, match=r"evil\.tar"):
        archive_extraction.extract(path, inside / "out")
    assert list(inside.iterdir()) == []
    assert sorted(p.name for p in tmp_path.iterdir()) == ["evil.tar", "inside"]


def test_hostile_zip_files_write_nothing(tmp_path):
    for name, bits in (
        ("../evil", 0),
        ("/evil", 0),
        ("link", 0o120777 << 16),
        ("dev", 0o20666 << 16),
    ):
        path = tmp_path / "evil.zip"
        with zipfile.ZipFile(path, "w") as archive:
            info = zipfile.ZipInfo(name)
            info.external_attr = bits
            archive.writestr(info, "x")
        with pytest.raises(UnsafeFileError):
            archive_extraction.extract(path, tmp_path / "out")
    assert [p.name for p in tmp_path.iterdir()] == ["evil.zip"]


@pytest.mark.parametrize("kind", ["tar", "zip"])
def test_a_bomb_is_refused(kind, tmp_path, change):
    change(archive_extraction, FLOOR=1000)
    path = tmp_path / f"bomb.{kind}"
    if kind == "tar":
        _tar(path, zeros=bytes(10**6))
    else:
        _zip(path, zeros=bytes(10**6))
    with pytest.raises(UnsafeFileError, match="times larger"):
        archive_extraction.extract(path, tmp_path / "out")
    assert [p.name for p in tmp_path.iterdir()] == [path.name]


def test_a_damaged_archive_keeps_the_old_folder(tmp_path):
    path, out = tmp_path / "a.tar.gz", tmp_path / "out"
    _tar(path, a=os.urandom(10**5))
    assert archive_extraction.extract(path, out)
    path.write_bytes(path.read_bytes()[:-20000])
    with pytest.raises(DamagedFileError):
        archive_extraction.extract(path, out)
    assert (out / "a").stat().st_size == 10**5


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({}, "origin"),
        ({"origin": "ftp://host/a"}, "http"),
        ({"origin": "/etc/hostname"}, "http"),
        ({"origin": "https://host/"}, "fname"),
        ({"origin": "https://host/a", "fname": "../a"}, "cache_dir"),
        ({"origin": "https://host/.."}, "fname"),
    ],
)
def test_mistakes(arguments, words, tmp_path):
    with pytest.raises(ValueError, match=words):
        get_file(**arguments, cache_dir=tmp_path)


def test_unknown_names_of_formats_and_hashes(site, tmp_path):
    origin = (site[0] / "words.txt").as_uri()
    with pytest.raises(ValueError, match="archive_format"):
        get_file(origin=origin, extract=True, archive_format="rar")
    with pytest.raises(ValueError, match="hash_algorithm"):
        get_file(origin=origin, file_hash="1", hash_algorithm="crc")
