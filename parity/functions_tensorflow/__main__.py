"""Compare every function and print what differs; exit status 1 if something unexplained does."""

import argparse
import os
import sys
from collections import Counter

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")


def main():
    parser = argparse.ArgumentParser(prog="python -m parity.functions_tensorflow")
    parser.add_argument("patterns", nargs="*", metavar="PATTERN")
    parser.add_argument("--all", action="store_true", help="print accepted differences too")
    options = parser.parse_args()
    import tensorflow as tf  # pyright: ignore[reportMissingImports]

    import framework
    from parity.functions_tensorflow.calls import calls, chosen
    from parity.functions_tensorflow.differences import accepted
    from parity.functions_tensorflow.outcomes import compared

    counts, functions = Counter(), set()
    for call in calls(options.patterns):
        for aspect, said in compared(call, framework, tf):
            reason = said and accepted(call, aspect, said)
            verdict = "equal" if not said else "accepted" if reason else "DIFFERENT"
            counts[verdict] += 1
            functions.add(call.name)
            if verdict == "DIFFERENT" or (verdict == "accepted" and options.all):
                print(f"{verdict} {call.name} [{call.variant}] {aspect}: {said}", flush=True)
    print(
        f"{sum(counts.values())} comparisons of {len(functions)} functions: "
        f"{counts['equal']} equal, {counts['accepted']} accepted, {counts['DIFFERENT']} different"
    )
    if left := sorted(set(chosen(options.patterns)) - functions):
        print(f"functions without a comparison: {' '.join(left)}")
    return 1 if counts["DIFFERENT"] or not counts else 0


if __name__ == "__main__":
    sys.exit(main())
