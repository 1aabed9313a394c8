"""What an op costs beyond NumPy: recorded and differentiated, through an operator, by name.

One process runs each case and the NumPy calls that it comes down to in turn, nine times; the cost
is the difference of the two medians of CPU time, which a busy neighbour disturbs less than the
wall's. The garbage collector is left on, as users have it. A chain of 300 ops on float32[8] is
recorded and differentiated; the other cases are single calls, with no tape.
"""

import statistics
import sys
from collections.abc import Mapping
from typing import Any

import measure

# Microseconds an op beyond NumPy; the cases without a target are there to explain the others.
TARGETS = {
    "recorded": 2.0,
    "x * y": 0.6,
    "x - y": 0.6,
    "tf.multiply(x, 2.0)": 1.0,
    "tf.add(x, 2.0)": 1.0,
}


def summary(name: str, runs: Mapping[str, list[float]]) -> dict[str, Any]:
    """One case: median microseconds an op, ours, bare and beyond, with the runs' spread."""
    ours, bare = ([seconds * 1e6 for seconds in runs[side]] for side in ("ours", "bare"))
    beyond = [mine - theirs for mine, theirs in zip(ours, bare, strict=True)]
    return {
        "case": name,
        "ours_us": statistics.median(ours),
        "bare_us": statistics.median(bare),
        "beyond_us": statistics.median(ours) - statistics.median(bare),
        "beyond_low_us": min(beyond),
        "beyond_high_us": max(beyond),
        "target_us": TARGETS.get(name),
    }


def verdict(case: Mapping[str, Any]) -> measure.Verdict:
    return measure.Verdict(case["beyond_us"], case["target_us"])


def row(case: Mapping[str, Any]) -> list[str]:
    """The case as a line of the table."""
    target = case["target_us"]
    return [
        case["case"],
        f"{case['ours_us']:.2f}",
        f"{case['bare_us']:.2f}",
        f"{case['beyond_us']:.2f}",
        f"{case['beyond_low_us']:.2f} to {case['beyond_high_us']:.2f}",
        "" if target is None else f"{target:.1f}",
        verdict(case).text(),
    ]


def main() -> None:
    """Run the worker and report."""
    options = measure.arguments("the cost of an op beyond NumPy, in microseconds", 9).parse_args()
    info = measure.machine()
    found = measure.run_worker(sys.executable, "op_cases.py", str(options.rounds))
    cases = [summary(name, runs) for name, runs in found["cases"].items()]
    header = ["us an op", "ours", "NumPy", "beyond", "over the runs", "at most", ""]
    text = measure.table(header, [row(case) for case in cases])
    results = {"numpy": found["numpy"], "cases": cases}
    holds = all(verdict(case).holds for case in cases)
    measure.publish(options, info, text, results, holds)


if __name__ == "__main__":
    main()
