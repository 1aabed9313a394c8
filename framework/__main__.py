"""`python -m framework`: compile the kernels in advance, or describe the machine."""

import argparse
import sys
import time

from framework.kernels import tier
from framework.kernels.report import show_config


def main(arguments=None):
    """Run a command and return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m framework", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("config", help="print libraries, threads, and how fast they are here")
    commands.add_parser("warmup", help="compile the library's Numba kernels into their cache")
    command = parser.parse_args(arguments).command
    if not tier.numba_missing() and (jit := tier.library("jit")) is not None:
        jit.notice.logged = True
    if command == "config":
        show_config()
        return 0
    return warmup()


def warmup():
    """Compile the library's Numba kernels; later programs load them from disk.

    The loop kernels of a model are generated and compiled when it first runs on a machine.
    """
    if reason := tier.numba_missing():
        print(f"Numba cannot be used ({reason}): pip install 'framework[fast]'")
        return 1
    begin = time.perf_counter()
    for name in tier.libraries():
        start = time.perf_counter()
        warm = getattr(tier.library(name), "warm", None)
        if warm is not None:
            warm()
            print(f"{name:12} {time.perf_counter() - start:6.1f} s", flush=True)
    print(f"{'all':12} {time.perf_counter() - begin:6.1f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
