"""Machine code on disk: results are correct for any content and owner of the files."""

import ast
import os
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from framework.kernels import sealed
from framework.kernels.sealed import SealedFile

ROOT = str(Path(__file__).parents[2])
POSIX = pytest.mark.skipif(not hasattr(os, "getuid"), reason="about POSIX permissions")


@pytest.fixture
def root(tmp_path, change, monkeypatch):
    """Return a folder for machine code that does not exist yet."""
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    monkeypatch.setenv("FRAMEWORK_CACHE_DIR", str(tmp_path / "code"))
    change(sealed, _told=[])
    sealed._opened.cache_clear()
    yield tmp_path / "code"
    sealed._opened.cache_clear()


def reopened():
    """Reset the caches, as in a new process."""
    sealed._opened.cache_clear()
    sealed._told.clear()
    return sealed.folder()


# ---- seals ---------------------------------------------------------------------------------------


def test_written_content_is_read(root):
    file = SealedFile("a.code", b"of this")
    assert not file.exists()
    assert file.read() is None
    file.write(b"content")
    assert file.exists()
    assert file.read() == b"content"
    assert reopened().parent == root
    assert file.read() == b"content"
    assert sorted(path.name for path in sealed.folder().iterdir()) == ["a.code", "key"]


def test_every_flipped_bit_is_noticed(root):
    file = SealedFile("a.code")
    file.write(b"content")
    path = sealed.folder() / "a.code"
    whole = path.read_bytes()
    for place in range(8 * len(whole)):
        damaged = bytearray(whole)
        damaged[place // 8] ^= 1 << place % 8
        path.write_bytes(damaged)
        assert file.read() is None
    file.write(b"content")
    assert path.read_bytes() == whole


@pytest.mark.parametrize("length", [0, 1, 31, 32, 38])
def test_truncated_files_are_invalid(root, length):
    file = SealedFile("a.code")
    file.write(b"content")
    path = sealed.folder() / "a.code"
    path.write_bytes(path.read_bytes()[:length])
    assert file.read() is None


def test_files_cannot_replace_each_other(root):
    one, other = SealedFile("a.code", b"of a"), SealedFile("b.code", b"of b")
    one.write(b"content")
    (sealed.folder() / "a.code").replace(sealed.folder() / "b.code")
    assert other.read() is None
    assert SealedFile("b.code", b"of a").read() == b"content"
    # the digest covers the boundary between origin and content
    assert SealedFile("b.code", b"of acon").read() is None


@pytest.mark.parametrize("key", [b"", b"short", bytes(32), bytes(33)])
def test_a_file_with_another_key_is_invalid(root, key):
    file = SealedFile("a.code")
    file.write(b"content")
    (sealed.folder() / "key").write_bytes(key)
    assert reopened()
    assert file.read() is None
    file.write(b"anew")
    assert reopened()
    assert file.read() == b"anew"
    assert len((sealed.folder() / "key").read_bytes()) == 32


# ---- owners ------------------------------------------------------------------------------------


def modes(*paths):
    return [stat.S_IMODE(path.stat().st_mode) for path in paths]


@POSIX
@pytest.mark.parametrize("umask", [0o000, 0o022, 0o077])
def test_only_the_user_can_write_or_read_the_key(root, umask):
    before = os.umask(umask)
    try:
        SealedFile("a.code").write(b"content")
    finally:
        os.umask(before)
    folder = sealed.folder()
    assert modes(root, folder) == [0o700, 0o700]
    assert modes(folder / "key", folder / "a.code") == [0o600, 0o600]


@POSIX
@pytest.mark.parametrize("mode", [0o777, 0o1777, 0o775])
def test_a_folder_that_others_can_write_to_is_not_used(root, mode, caplog):
    SealedFile("a.code").write(b"planted")
    root.chmod(mode)
    own = reopened()
    assert own.parent == root / f"user-{os.getuid()}"
    assert modes(own.parent, own) == [0o700, 0o700]
    file = SealedFile("a.code")
    assert file.read() is None
    file.write(b"content")
    assert reopened() == own
    assert file.read() == b"content"
    assert not caplog.records


@POSIX
def test_the_inner_folder_has_to_be_private_too(root):
    SealedFile("a.code").write(b"planted")
    sealed.folder().chmod(0o777)
    assert reopened().parent == root / f"user-{os.getuid()}"
    assert SealedFile("a.code").read() is None


@POSIX
def test_no_folder_is_used_if_none_is_private(root, caplog):
    SealedFile("a.code").write(b"planted")
    root.chmod(0o777)
    reopened().chmod(0o777)
    assert reopened() is None
    assert SealedFile("a.code").read() is None
    SealedFile("a.code").write(b"content")
    (record,) = caplog.records
    assert f"other users may write to {root}" in record.getMessage()


@POSIX
def test_links_are_not_followed(root, tmp_path):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir(mode=0o700)
    root.mkdir()
    root.chmod(0o777)
    (root / f"user-{os.getuid()}").symlink_to(elsewhere)
    assert sealed.folder() is None
    assert not list(elsewhere.iterdir())


@POSIX
def test_files_that_others_can_write_to_are_invalid(root):
    file = SealedFile("a.code")
    file.write(b"content")
    (sealed.folder() / "a.code").chmod(0o622)
    assert file.read() is None
    file.write(b"content")
    assert file.read() == b"content"
    key = (sealed.folder() / "key").read_bytes()
    (sealed.folder() / "key").chmod(0o640)  # then the key is not secret
    reopened()
    assert file.read() is None
    assert (sealed.folder() / "key").read_bytes() != key
    assert modes(sealed.folder() / "key") == [0o600]


@pytest.mark.skipif(
    not hasattr(os, "getuid") or os.getuid() != 0, reason="only root can give files away"
)
@pytest.mark.parametrize("given", ["a.code", "key", ".", ".."])
def test_files_of_others_are_invalid(root, given):
    file = SealedFile("a.code")
    file.write(b"content")
    os.chown(sealed.folder() / given, 65534, 65534)
    reopened()
    assert file.read() is None
    file.write(b"anew")
    assert file.read() == b"anew"


@POSIX
def test_the_users_cache_is_the_folder_by_default(tmp_path, root, monkeypatch):
    monkeypatch.delenv("FRAMEWORK_CACHE_DIR")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    assert reopened().parent == tmp_path / "cache" / "framework"
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "numba"))
    assert reopened().parent == tmp_path / "numba"


@pytest.mark.parametrize("name", ["relative", os.fsdecode(b"no \xff text"), "many/folders/deep"])
def test_names_of_folders(root, tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("FRAMEWORK_CACHE_DIR", name)
    assert reopened().parent == tmp_path / name
    file = SealedFile("a.code")
    file.write(b"content")
    monkeypatch.chdir("/")
    assert file.read() == b"content"  # also after a change of directory


# ---- programs ------------------------------------------------------------------------------------

# Root may write to all folders, so the program drops root's rights.
MODULE = """
import ctypes, os, sys
if hasattr(os, "getuid") and os.getuid() == 0 and sys.platform == "linux":
    version, nothing = (ctypes.c_uint32 * 2)(0x20080522, 0), (ctypes.c_uint32 * 6)()
    assert ctypes.CDLL(None).capset(version, nothing) == 0

import numpy as np
from numba.core import event
from framework.compiler import loop_kernels
from framework.compiler.loop_codegen import LoopCodegen
from framework.kernels.fast.jit import kernel
from framework.kernels.fast.routine import routine

@routine
def halve(x, i):
    for k in range(2):
        x[i] *= 0.5

@kernel
def work(x):
    for i in range(x.size):
        x[i] *= 8
        halve(x, i)

X = loop_kernels.full("x", "float64", 1)
PROGRAM = loop_kernels.LoopProgram([X], [("y", "multiply", ("x", 3.0))], {"y": None})

def run():
    "The results of newly loaded code, and how many functions were compiled for them."
    with event.install_recorder("numba:compile") as compiled:
        x = np.arange(3.0)
        kernel(work.py_func)(x)
        y = np.zeros(3)
        loop_kernels.LoopKernel(*LoopCodegen(PROGRAM).text())(x, y)
    return *x.tolist(), *y.tolist(), len(compiled.buffer) // 2
"""
RIGHT = "(0.0, 2.0, 4.0, 0.0, 6.0, 12.0, {})"
FLIPS = """
import sys
from pathlib import Path
from program import run
run()
for path in Path(sys.argv[1]).rglob("*.code"):
    if not path.name.startswith(("program.work", "loop")):
        continue  # this process has compiled the routines
    whole = path.read_bytes()
    for place in range(5, len(whole), len(whole) // 9):
        damaged = bytearray(whole)
        damaged[place] ^= 16
        path.write_bytes(damaged)
        *numbers, compiled = run()
        assert numbers == [0, 2, 4, 0, 6, 12], numbers
        assert compiled == 1, (path, place, compiled)
        assert len(path.read_bytes()) > len(whole) // 2
print("done")
"""


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """The folder of the program, which is part of the names of its files of machine code."""
    pytest.importorskip("numba")
    place = tmp_path_factory.mktemp("program")
    (place / "program.py").write_text(MODULE)
    return place


@pytest.fixture(scope="module")
def program(place):
    """`program(folder)` runs the program in a new process: (what it prints, what it logs)."""
    path = f"{place}{os.pathsep}{ROOT}"

    def start(folder, text="from program import run; print(run())", *arguments):
        environment = {**os.environ, "PYTHONPATH": path, "FRAMEWORK_CACHE_DIR": str(folder)}
        environment["FRAMEWORK_COMPILE"] = "auto"
        return subprocess.Popen(
            [sys.executable, "-c", text, *arguments], env=environment, cwd=place, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip

    def run(*arguments):
        process = start(*arguments)
        out, log = process.communicate(timeout=300)
        assert process.returncode == 0, (process.returncode, log)
        return out.strip(), log

    run.start = start
    return run


# cold: the kernel, its routine, the loop and four routines of loops
COLD, WARM = RIGHT.format(7), RIGHT.format(0)


@pytest.fixture(scope="module")
def compiled(program, place):
    """A folder with the machine code of the program; compiling it takes seconds."""
    assert program(place / "code")[0] == COLD
    return place / "code"


@pytest.fixture
def warm(compiled, tmp_path):
    return shutil.copytree(compiled, tmp_path / "code")  # with the permissions


def test_programs_survive_flipped_bits(program, warm):
    assert program(warm)[0] == WARM
    assert program(warm, FLIPS, str(warm))[0] == "done"
    assert program(warm)[0] == WARM


def test_programs_survive_files_without_code(program, warm):
    """Empty, truncated and swapped files are compiled again, and replaced."""
    files = sorted(warm.rglob("*.code"))
    assert len(files) == 7
    whole = [file.read_bytes() for file in files]
    damages = [
        lambda k: b"", lambda k: whole[k][: len(whole[k]) // 2], lambda k: whole[k - 1],
        lambda k: b"\xff\xfe" * 50,
    ]  # fmt: skip
    for damage in damages:
        for k, file in enumerate(files):
            file.write_bytes(damage(k))
        assert program(warm)[0] == COLD
        assert program(warm)[0] == WARM


def test_programs_load_no_code_with_another_key(program, warm, tmp_path):
    ours = tmp_path / "ours"
    program(ours, "from framework.kernels import sealed; sealed.folder()")
    (into,), (source,) = ours.iterdir(), warm.iterdir()
    assert (into / "key").read_bytes() != (source / "key").read_bytes()
    for file in source.glob("*.code"):
        (into / file.name).write_bytes(file.read_bytes())
    assert program(ours)[0] == COLD
    assert program(ours)[0] == WARM


@POSIX
def test_a_warm_folder_that_is_read_only_is_used(program, warm):
    (inner,) = warm.iterdir()
    inner.chmod(0o500), warm.chmod(0o500)
    assert program(warm) == (WARM, "")
    inner.chmod(0o700), warm.chmod(0o700)


UNUSABLE = """
import os, sys
from framework.kernels import sealed
from program import run
for folder in sys.argv[1:]:
    os.environ["FRAMEWORK_CACHE_DIR"] = folder
    sealed._told.clear()
    print((folder, *run()))
"""


@POSIX
def test_an_unusable_folder_causes_one_warning(program, tmp_path):
    (tmp_path / "file").write_text("")
    (tmp_path / "locked").mkdir(mode=0o500)
    names = ("file", "file/code", "locked", "locked/code", "x" * 300)
    folders = [str(tmp_path / name) for name in names]
    out, log = program(folders[0], UNUSABLE, *folders)
    compiled = (7, 2, 2, 2, 2)  # in the first run also the routines
    numbers = (0.0, 2.0, 4.0, 0.0, 6.0, 12.0)
    expected = [(folder, *numbers, n) for folder, n in zip(folders, compiled, strict=True)]
    assert [ast.literal_eval(line) for line in out.splitlines()] == expected
    assert log.count("Machine code cannot be cached on disk") == 5
    assert log.count("\n") == 6  # the notice about compiling, and a warning for each folder


def test_processes_that_compile_at_once_have_correct_code(program, tmp_path):
    folder = tmp_path / "code"
    processes = [program.start(folder) for _ in range(4)]
    for process in processes:
        out, log = process.communicate(timeout=300)
        assert (process.returncode, out.strip()[:-2]) == (0, COLD[:-2]), log
        assert "cannot" not in log
    assert program(folder)[0] == WARM
    assert not list(folder.rglob("*.new"))


WRITER = """
import sys
from framework.kernels.sealed import SealedFile, _folder
file = SealedFile("a.code")
for k in range(400):
    file.write(bytes([k % 256]) * 50_000)
    found = file.read()
    assert found and len(found) == 50_000 and len(set(found)) == 1, found and len(found)
print(_folder()[1].hex())
"""


def test_files_are_written_atomically_with_one_key(program, tmp_path):
    processes = [program.start(tmp_path / "code", WRITER) for _ in range(5)]
    found = [process.communicate(timeout=300) for process in processes]
    assert len({key for key, _ in found}) == 1, found
    assert all(key and not log for key, log in found), found
