"""The benchmarks' own arithmetic, and one of them in earnest."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

FOLDER = Path(__file__).parents[2] / "benchmarks"


@pytest.fixture(autouse=True)
def _importable(monkeypatch):
    monkeypatch.syspath_prepend(str(FOLDER))


def case(peer, milliseconds, *, same_work=True, workload="mlp_small"):
    return {
        "workload": workload, "peer": peer, "status": "measured", "median_us": milliseconds * 1e3,
        "same_work": same_work,
    }  # fmt: skip


def test_a_verdict_is_against_the_fastest_peer():
    import train_step

    cases = [case("framework", 0.5), case("torch", 2.0), case("jax.jit, 1 thread", 1.0),
             case("framework, no Numba", 1.5), case("framework, eager", 0.1)]  # fmt: skip
    full, plain = train_step.verdicts(cases)
    assert (full["fastest"], full["ratio"], full["verdict"]) == ("jax.jit, 1 thread", 0.5, "wanted")
    assert (plain["ours"], plain["ratio"], plain["verdict"]) == (
        "framework, no Numba", 1.5, "MISSED",
    )  # fmt: skip
    cases[0]["median_us"] = 590
    assert train_step.verdicts(cases)[0]["verdict"] == "ok"
    cases[0]["median_us"] = 610
    assert train_step.verdicts(cases)[0]["verdict"] == "MISSED"


def test_those_that_took_turns_are_compared_turn_by_turn():
    import train_step

    cases = [case("framework", 0.9), case("torch", 1.0), case("jax.jit", 1.2),
             case("tf eager", 0.1)]  # fmt: skip
    assert train_step.verdicts(cases)[0]["fastest"] == "tf eager"
    for each, turns in zip(cases, ([1, 2, 9], [2, 4, 10], [4, 8, 20])):  # the machine slows down
        each["turns_us"] = turns
    found = train_step.verdicts(cases)[0]
    assert (found["fastest"], found["ratio"], found["ours_us"], found["fastest_us"]) == (
        "torch", 0.5, 2, 4,
    )  # fmt: skip


def test_who_may_be_the_fastest_takes_turns(change):
    import train_step
    import workloads

    cases = [case("framework", 1.0), case("framework, eager", 1.0), case("torch", 2.0),
             case("jax.jit", 2.5), case("tf.function", 9.0)]  # fmt: skip
    for each, low in zip(cases, (1000, 1000, 1900, 2500, 2650)):  # microseconds
        each["low_us"] = low
    workload = workloads.named("mlp_small")
    assert train_step.contenders(workload, cases) == ["framework", "torch", "jax.jit"]
    assert train_step.contenders(workload, cases[:2]) == []
    change(train_step, MOST_PEERS=1)
    assert train_step.contenders(workload, cases) == ["framework", "torch"]


def test_a_promise_is_judged_by_turns_where_they_were_taken():
    import tiers

    faces = {"framework": 1.0, "framework, eager": 3.0}
    lines = [{"workload": "mlp_small", "face": face, "tier": "numba", "median_ms": milliseconds}
             for face, milliseconds in faces.items()]  # fmt: skip
    assert [v["ratio"] for v in tiers.verdicts(lines, ["off", "numba"])] == [3.0]
    assert tiers.verdicts(lines, ["numba", "off"]) == []
    lines[1]["of"] = {"framework": 2.0}
    assert [v["ratio"] for v in tiers.verdicts(lines, ["numba"])] == [2.0]


def test_other_work_is_no_success():
    import train_step

    cases = [case("framework", 0.1), case("torch", 2.0, same_work=False)]
    assert train_step.verdicts(cases)[0]["verdict"] == "DIFFERS"


def test_linreg_is_held_to_torch_as_well():
    import train_step

    cases = [case("framework, @function", 1.0, workload="linreg"),
             case("torch", 5.0, workload="linreg"),
             case("jax.jit", 2.5, workload="linreg")]  # fmt: skip
    found = train_step.verdicts(cases)
    assert [(v["against"], v["ratio"], v["verdict"]) for v in found[:2]] == [
        ("all", 0.4, "ok"), ("torch", 0.2, "MISSED"),
    ]  # fmt: skip


def test_outputs_differ_relative_to_their_size():
    import train_step

    assert train_step.difference([1.0, 200.0], [1.0, 201.0]) == pytest.approx(1 / 201)
    assert train_step.difference([1e-4], [2e-4]) == pytest.approx(1e-2)  # small ones: to the floor


def test_the_median_with_its_spread():
    import measure

    assert measure.Spread.of([3.0, 1.0, 2.0]).text(1) == "2.0 (1.0 to 3.0)"


def test_workloads_match_their_names():
    import workloads

    def count(name):
        weights = workloads.named(name).problem().weights
        return sum(value.size for value in weights.values())

    assert count("mlp_small") == 784 * 128 + 128 + 128 * 10 + 10
    assert count("scaled-32-1") == 784 * 32 + 32 + 32 * 10 + 10
    assert count("lstm") == (32 + 128 + 1) * 512 + 128 * 10 + 10
    assert count("cnn") == 320 + 18496 + (9216 + 1) * 128 + 129 * 10
    first, again = (workloads.named("pinn").problem() for _ in range(2))
    assert np.array_equal(first.batches[3][0], again.batches[3][0])


def test_two_processes_take_turns():
    import turns

    player = turns.Player(sys.executable, "framework, eager", {})
    found = turns.take({"one": player, "other": player}, "linreg", 2, 0.01)
    assert [len(times) for times in found.values()] == [2, 2]
    assert all(0 < seconds < 1 for times in found.values() for seconds in times)
    assert turns.ratio([1, 2, 6], [2, 4, 3]) == 0.5


def test_a_process_without_core_binding_is_reported():
    import measure
    import turns

    player = turns.Player(sys.executable, "framework, fit", {})
    with pytest.raises(measure.WorkerError):
        turns.take({"one": player}, "linreg", 1, 0.01)  # fit has no such workload


def test_a_step_is_timed_by_two_apis_that_do_the_same_work(tmp_path):
    file = tmp_path / "result.json"
    command = [sys.executable, FOLDER / "train_step.py", "--workloads", "linreg", "--rounds", "1"]
    command += ["--seconds", "0.01", "--peers", "framework, eager", "framework, @function"]
    done = subprocess.run(
        [*map(str, command), "--json", str(file)], capture_output=True, text=True, check=True
    )
    assert "| linreg" in done.stdout
    found = json.loads(file.read_text())
    assert [c["status"] for c in found["cases"]] == ["measured"] * 2
    assert all(c["same_work"] and c["median_us"] > 0 for c in found["cases"])
    assert {"cpu", "python", "date", "load_at_start"} <= set(found["machine"])
