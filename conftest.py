"""Which files are searched for doctests, and the summary of skipped tests."""

import collections
import importlib.util

# Numba's kernels cannot be imported without Numba.
collect_ignore_glob = [] if importlib.util.find_spec("numba") else ["framework/kernels/fast/*.py"]


def pytest_terminal_summary(terminalreporter):
    """Print why tests were skipped: one line per reason, with its number of tests or modules."""
    skipped = terminalreporter.stats.get("skipped", [])
    reasons = collections.Counter(report.longrepr[2] for report in skipped)
    for reason, count in reasons.most_common():
        terminalreporter.write_line(f"{count} skipped: {reason.removeprefix('Skipped: ')}")
