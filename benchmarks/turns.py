"""Training steps of several processes that stay open and take turns of a fraction of a second.

Where others use the machine too, it may run at half its speed for seconds or minutes: processes
that are measured one after the other then had different machines. Those that take turns had the
same, and their times are compared turn by turn.
"""

import contextlib
import json
import statistics
import subprocess
import time
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import measure

PAUSE = 0.2  # seconds before each turn: threads of the one before may still wait at full speed
FEWEST = 3  # steps in a turn, however long one takes


class Player(NamedTuple):
    """A process of step_worker.py: its Python, and the environment variables it is to have."""

    python: str
    peer: str
    variables: Mapping[str, str]
    clock: tuple[str, ...] = ()


class Process:
    """A player at work: it answers each line that it is sent."""

    def __init__(self, player: Player, workload: str, seconds: float) -> None:
        script = str(measure.HERE / "step_worker.py")
        told = player.peer, workload, str(seconds), "turns", *player.clock
        self._process = subprocess.Popen(
            [player.python, script, *told], env=measure.environment(**player.variables), text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        )  # fmt: skip

    def wait(self) -> dict[str, Any]:
        """Until it is warm; returns its version and the outputs of its first steps."""
        return self._answer()

    def median(self, seconds: float) -> float:
        """The median of its steps in so many seconds."""
        print(seconds, file=self._process.stdin, flush=True)
        return self._answer()["median"]

    def _answer(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            if line.startswith("{"):  # libraries may say something too
                return json.loads(line)
        raise measure.WorkerError("a process that took turns has ended")

    def close(self) -> None:
        self._process.terminate()
        self._process.communicate()


def take(
    players: Mapping[str, Player], workload: str, turns: int, seconds: float
) -> dict[str, list[float]]:
    """Each player's median step, in seconds, in each of its turns.

    Raises:
        WorkerError: a process ended.
    """
    found: dict[str, list[float]] = {name: [] for name in players}
    with contextlib.ExitStack() as opened:
        processes = {}
        for name, player in players.items():  # one after the other: they warm up alone
            processes[name] = Process(player, workload, seconds)
            opened.callback(processes[name].close)
            processes[name].wait()
        play(processes, turns, seconds, found)
    return found


def play(processes: Mapping[str, Process], turns: int, seconds: float, found) -> None:
    """Let warm processes take turns, and append each one's medians to found[name]."""
    for turn in range(turns):
        names = list(processes)
        for name in names if turn % 2 else reversed(names):
            time.sleep(PAUSE)
            found[name].append(processes[name].median(seconds))


def ratio(ours: Sequence[float], theirs: Sequence[float]) -> float:
    """The median of what one takes of the other's time, turn by turn."""
    return statistics.median(a / b for a, b in zip(ours, theirs, strict=True))
