"""How kernels are kept on the disk: what is looked at, and a disk that fails."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("numba")

from framework.kernels import tier
from framework.kernels.fast import jit

COMPILED_IN = [  # constants and code of others, which Numba does not look at
    ("math", "framework.kernels.erf"),
    ("elementwise", "framework.kernels.fast.math"),
    ("elementwise", "framework.kernels.erf"),
    ("rows", "framework.kernels.gelu"),
    ("winograd", "framework.kernels.fast.target"),
    ("winograd", "framework.kernels.toom_cook"),
    ("matmul", "framework.kernels.products"),
    ("products", "framework.kernels.fast.tiles"),
    ("attention", "framework.kernels.fast.target"),
    ("recurrent", "framework.kernels.fast.micro"),
]


@pytest.mark.parametrize(("name", "other"), COMPILED_IN)
def test_changes_of_what_is_compiled_in_are_seen(name, other, numba_tier):
    tier.library(name)
    seen = [source for source, *_ in jit._sources(f"framework.kernels.fast.{name}")]
    assert other in seen
    assert "framework.kernels.threads" not in seen  # which is called by Python


KERNEL = """
import numpy as np, {before}
from framework.kernels.fast.jit import kernel

@kernel
def double(x):
    for i in range(x.size):
        x[i] *= 2

x = np.arange(3.0)
double(x)
print(*x)
"""


def run(folder, before="os"):
    program = folder / "program.py"
    if not program.exists():  # its time is looked at too
        program.write_text(KERNEL.format(before=before))
    root = str(Path(__file__).parents[2])
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(folder), "PYTHONPATH": root}
    return subprocess.run(
        [sys.executable, str(program)], env=environment, capture_output=True,
        text=True, check=True, timeout=120,
    )  # fmt: skip


FULL = "resource; resource.setrlimit(resource.RLIMIT_FSIZE, (2048, 2048))"


def test_a_full_disk_is_told_once_and_no_error(tmp_path):
    pytest.importorskip("resource")
    done = run(tmp_path, FULL)
    assert done.stdout == "0.0 2.0 4.0\n"
    assert done.stderr.count("cannot be kept on the disk") == 1
    assert not list(tmp_path.rglob("*.nbi"))  # which would name what is not there


@pytest.mark.parametrize("kind", ["nbi", "nbc"])
@pytest.mark.parametrize("length", [0, 40, 2000])
def test_halves_of_files_are_made_anew(tmp_path, kind, length):
    run(tmp_path)
    (file,) = tmp_path.rglob(f"*.{kind}")
    whole = file.read_bytes()
    file.write_bytes(whole[: min(length, len(whole) // 2)])
    done = run(tmp_path)
    assert done.stdout == "0.0 2.0 4.0\n"
    assert len(next(iter(tmp_path.rglob(f"*.{kind}"))).read_bytes()) >= len(whole) // 2
