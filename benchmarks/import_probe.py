"""The measuring process of import_time.py, with little else loaded.

`import_probe.py MODULE NAME...` imports the module and looks up the dotted names in it.
"""

import sys
import time

start = time.perf_counter()
module = __import__(sys.argv[1])
for name in sys.argv[2:]:
    found = module
    for part in name.split("."):
        found = getattr(found, part)
seconds = time.perf_counter() - start


def resident_mb() -> float:
    """Memory in use now where Linux tells it, otherwise the most so far."""
    from pathlib import Path  # NumPy has loaded it; time is no longer measured

    status = Path("/proc/self/status")
    if status.exists():
        lines = status.read_text().splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS")) / 1024
    import resource  # not there on every system

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (1024**2 if sys.platform == "darwin" else 1024)


memory = resident_mb()

import measure  # noqa: E402  (what it loads must count neither as time nor as memory)

measure.answer({"seconds": seconds, "mb": memory, "version": getattr(module, "__version__", None)})
