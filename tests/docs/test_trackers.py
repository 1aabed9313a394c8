"""The callbacks for MLflow, Weights & Biases and Optuna in docs/training.md, with stand-ins.

The stand-ins have the signatures of MLflow 3, wandb 0.2x and Optuna 4, and refuse other calls.
"""

import contextlib
import math
import re
import sys
import types
from pathlib import Path

import numpy as np
import pytest

from framework import keras

TEXT = (Path(__file__).parents[2] / "docs" / "training.md").read_text("utf-8")
SECTION = TEXT.partition("## Tables, data loaders, trackers")[2].partition("\n## ")[0]
BLOCKS = {
    re.search(r"import (\w+)", block)[1]: block
    for block in re.findall(r"```py\n(.*?)```", SECTION, re.DOTALL)
    if "import " in block
}
X = np.random.default_rng(0).normal(size=(40, 8)).astype("float32")
Y = (X[:, :1] > 0).astype("float32")


def make_model():
    keras.utils.set_random_seed(1)
    model = keras.Sequential([keras.layers.Dense(1, "sigmoid")])
    model.compile(keras.optimizers.Adam(0.01), "binary_crossentropy")
    return model


@pytest.fixture
def example(monkeypatch, tmp_path):
    def run(**attributes):
        (name,) = attributes.pop("name")
        module = types.ModuleType(name)
        vars(module).update(attributes)
        monkeypatch.setitem(sys.modules, name, module)
        monkeypatch.chdir(tmp_path)
        names = {"keras": keras, "model": make_model(), "make_model": make_model, "x": X, "y": Y}
        exec(BLOCKS[name], names)
        return names

    return run


def numbers(values):
    assert all(type(v) is float and math.isfinite(v) for v in values.values())
    return dict(values)


def test_mlflow(example):
    called = []

    def log_params(params: dict):
        called.append({name: str(value) for name, value in params.items()})

    def log_metrics(metrics: dict, step: int | None = None):
        called.append((step, numbers(metrics)))

    def log_artifact(local_path: str, artifact_path=None):
        called.append(Path(local_path).is_file())

    @contextlib.contextmanager
    def start_run(run_id=None, experiment_id=None):
        called.append("start")
        yield
        called.append("end")

    example(
        name=["mlflow"], start_run=start_run, log_params=log_params, log_metrics=log_metrics,
        log_artifact=log_artifact,
    )  # fmt: skip
    start, params, first, second, saved, end = called
    assert (start, saved, end) == ("start", True, "end")
    assert params["epochs"] == "2"
    assert params["learning_rate"].startswith("0.0")
    assert [first[0], second[0]] == [0, 1]
    assert first[1].keys() == {"loss", "val_loss"}


def test_wandb(example):
    logged = []

    class Run:
        def log(self, data: dict, step: int | None = None, commit=None):
            logged.append((step, numbers(data)))

        def finish(self, exit_code=None):
            logged.append("finished")

    example(name=["wandb"], init=lambda project=None, config=None: Run())
    assert [entry[0] for entry in logged[:2]] == [0, 1]
    assert logged[0][1].keys() == {"loss"}
    assert logged[2] == "finished"


def test_optuna(example):
    class TrialPruned(Exception):  # noqa: N818 (Optuna's name)
        pass

    class Trial:
        def __init__(self, number):
            self.number, self.reports = number, []

        def suggest_float(self, name: str, low, high, *, step=None, log=False):
            return low * (high / low) ** (self.number / 2)

        def report(self, value: float, step: int):
            assert type(value) is float
            self.reports.append(step)

        def should_prune(self):
            return self.number == 1 and len(self.reports) == 2

    class Study:
        def optimize(self, func, n_trials=None):
            self.trials = [Trial(i) for i in range(n_trials)]
            self.values = [outcome(func, trial) for trial in self.trials]

    def outcome(func, trial):
        try:
            return func(trial)
        except TrialPruned as error:
            return str(error)

    names = example(
        name=["optuna"], create_study=lambda *, direction=None: Study(), TrialPruned=TrialPruned
    )
    study = names["study"]
    assert [trial.reports for trial in study.trials] == [[0, 1, 2], [0, 1], [0, 1, 2]]
    assert study.values[1] == "pruned after epoch 2"
    assert isinstance(study.values[0], float)
