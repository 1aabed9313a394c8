"""Compilation of Numba kernels in a separate process, while NumPy computes.

Numba takes seconds to compile the kernels of a convolutional network, and holds the GIL meanwhile.
So if the machine code of a needed kernel is not on disk, `is_ready` starts a worker (`work`), which
compiles the modules whose names it reads from its input. NumPy computes until the worker is done;
both give results of the same layout, so Numba can take over between any two calls.

A file beside the machine code marks a module as compiled. The mark only saves time: the machine
code itself is checked when it is loaded (`sealed`).
"""

import atexit
import functools
import hashlib
import logging
import os
import sys
import threading
from importlib import import_module
from pathlib import Path

from framework.kernels import sealed

# If this environment variable is "1", a process waits until its kernels are compiled, instead of
# computing with NumPy meanwhile.
VARIABLE = "FRAMEWORK_COMPILE_WAIT"

# name of a group of kernels -> the modules of `fast` whose `warm` functions compile it
GROUPS = {
    "conv": ("im2col", "conv", "winograd", "winograd_back"),
    "depthwise": ("depthwise",),
    "norm": ("norm",),
    "pool": ("pool",),
    "recurrent": ("recurrent",),
    "matmul": ("matmul",),
    "rows": ("matmul", "rows"),
    "row_chains": ("row_chains",),
    "csv_fields": ("csv_fields",),
    "pixel_copies": ("pixel_copies",),
    "attention": ("matmul", "attention"),
}
_PROGRAM = (
    "import sys; sys.path[:] = sys.argv[1:]; from framework.kernels import ahead; ahead.work()"
)
_IDLE = 2.0  # The worker ends after this many seconds without requests.

_lock = threading.Lock()
# name of a group -> (the worker that compiles it, callback for the end of the compilation)
_pending = {}
_failed = set()  # groups that this process compiles itself because the worker failed
_worker = None


def is_ready(name, when_done):
    """Return whether a group can be used now: it is on disk, or this process must compile it.

    Otherwise a worker compiles it, and another thread calls `when_done()` afterwards.
    """
    if name not in GROUPS or name in _failed or os.environ.get(VARIABLE) == "1":
        return True
    folder = sealed.folder()
    if folder is None or not os.access(folder, os.W_OK) or not _is_python(sys.executable):
        return True
    if _mark(name).read() is not None:
        return True
    with _lock:
        if name not in _pending:
            _ask(name, when_done)
    return name in _failed


def _is_python(path):
    return Path(path or "").name.startswith(("python", "pypy"))


def _mark(name):
    """Return the file that marks a group of kernels as compiled from the current sources."""
    return sealed.SealedFile(f"{name}.compiled", _sources() + name.encode())


@functools.cache
def _sources():
    """Return a digest of the names, sizes and times of the kernels' source files."""
    digest = hashlib.blake2b(digest_size=16)
    for file in sorted(Path(__file__).parent.rglob("*.py")):
        status = file.stat()
        digest.update(f"{file.name} {status.st_size} {status.st_mtime_ns}\n".encode())
    return digest.digest()


def mark(name):
    """Record on disk that the modules of a group are compiled."""
    _mark(name).write(b"")


# ---- in the process that needs kernels -----------------------------------------------------------


def _ask(name, when_done):
    """Ask the worker to compile the group `name`; start a worker if there is none.

    The caller holds `_lock`.
    """
    global _worker
    try:
        if _worker is None or _worker.poll() is not None:
            _worker = _started()
            threading.Thread(target=_listen, args=(_worker,), daemon=True).start()
            logging.getLogger("framework").warning(
                "Compiling kernels for this CPU in a second process; NumPy computes meanwhile. "
                "`python -m framework warmup` compiles them ahead of time."
            )
        _pending[name] = _worker, when_done
        print(name, file=_worker.stdin, flush=True)
    # The worker cannot be started, or has just ended.
    except (OSError, ValueError):
        _pending.pop(name, None)
        _failed.add(name)


def _started():
    # Importing `subprocess` takes some ms, so it is not at the top of the file.
    import subprocess

    path = filter(None, [str(Path(__file__).parents[2]), *sys.path])
    # Without -I, the worker would also import modules from the working directory.
    worker = subprocess.Popen(  # noqa: S603 (this interpreter, without arguments of the user)
        [sys.executable, "-I", "-c", _PROGRAM, *path], stdin=subprocess.PIPE,
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, start_new_session=True,
        env={**os.environ, VARIABLE: "1", "FRAMEWORK_COMPILE": "numba"},
    )  # fmt: skip
    atexit.register(_leave, worker)
    return worker


def _leave(worker):
    """Let the worker finish its requests and end, while this process exits."""
    if worker.poll() is None:
        # Without a return code, Python would warn that the subprocess is still running.
        worker.returncode = 0


def _listen(worker):
    """Report each group that the worker has compiled; leave the rest to this process."""
    with worker:
        for line in worker.stdout:
            _finish(line.strip())
    for name, (other, _) in list(_pending.items()):
        if other is worker:
            _failed.add(name)
            _finish(name)


def _finish(name):
    _, when_done = _pending.pop(name, (None, None))
    if when_done is not None:
        when_done()


# ---- in the worker process -----------------------------------------------------------------------


def work():
    """Compile the groups named on standard input, and write each name when it is done."""
    import queue

    asked, answers = queue.Queue(), os.fdopen(os.dup(1), "w")
    # Only the names of compiled groups may go to standard output, so redirect all other output.
    os.dup2(2, 1)

    def read():
        for line in sys.stdin:
            asked.put(line.strip())

    threading.Thread(target=read, daemon=True).start()
    if hasattr(os, "nice"):
        os.nice(1)
    while True:
        try:
            name = asked.get(timeout=_IDLE)
        except queue.Empty:
            return
        for module in GROUPS[name]:
            import_module(f"framework.kernels.fast.{module}").warm()
        mark(name)
        print(name, file=answers, flush=True)
