"""The disk cache of kernels: what its keys cover, and failing disks."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("numba")

from framework.kernels import tier
from framework.kernels.fast import jit

COMPILED_IN = [  # imported constants and code, which Numba's cache does not check
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
def test_changes_of_inlined_modules_are_noticed(name, other, numba_tier):
    tier.library(name)
    seen = [source for source, *_ in jit._sources(f"framework.kernels.fast.{name}")]
    assert other in seen
    assert "framework.kernels.threads" not in seen  # which no kernel contains


KERNEL = """
import numpy as np, {before}
from framework.kernels.fast.jit import kernel

@kernel
def double(x):
    for i in range(x.size):
        x[i] *= {factor}

x = np.arange(3.0)
double(x)
print(*x)
"""


def run(folder, before="os", factor=2):
    program = folder / "program.py"
    program.write_text(KERNEL.format(before=before, factor=factor))
    root = str(Path(__file__).parents[3])
    environment = {**os.environ, "FRAMEWORK_CACHE_DIR": str(folder), "PYTHONPATH": root}
    return subprocess.run(
        [sys.executable, str(program)], env=environment, capture_output=True,
        text=True, check=True, timeout=120,
    )  # fmt: skip


FULL = "resource; resource.setrlimit(resource.RLIMIT_FSIZE, (2048, 2048))"


def test_a_full_disk_causes_one_warning_and_no_error(tmp_path):
    pytest.importorskip("resource")
    done = run(tmp_path, FULL)
    assert done.stdout == "0.0 2.0 4.0\n"
    assert done.stderr.count("cannot be cached on disk") == 1
    assert not list(tmp_path.rglob("*.code"))
    assert not list(tmp_path.rglob("*.new"))


def test_a_changed_source_is_compiled_again(tmp_path):
    assert run(tmp_path).stdout == "0.0 2.0 4.0\n"
    (first,) = tmp_path.rglob("*.code")
    done = run(tmp_path, factor=3)
    assert done.stdout == "0.0 3.0 6.0\n"
    assert [first] == list(tmp_path.rglob("*.code"))  # which is replaced
