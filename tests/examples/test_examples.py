"""Every example runs at small size, without a warning, and prints what it promises.

An example that `CHECKS` does not know fails.
"""

import itertools
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
EXAMPLES = sorted(path.stem for path in (ROOT / "examples").glob("*.py"))
NUMBER = r"(-?\d+\.\d+)"
MNIST = ["custom_loop_controls", "mnist_fit", "mnist_tape"]


def run(name, folder, **environment):
    """What the example prints; it runs in `folder`, and its plots come out there."""
    environment = {
        **os.environ, "FRAMEWORK_SMALL": "1", "MPLBACKEND": "Agg", "PYTHONPATH": str(ROOT),
        "PYTHONIOENCODING": "utf-8", **environment,
    }  # fmt: skip
    command = [sys.executable, "-W", "error", str(ROOT / "examples" / f"{name}.py")]
    result = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, encoding="utf-8", check=False
    )
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


def without_mnist(folder):
    """Variables for an example that shall not find the file, wherever this machine has it."""
    caches = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")  # matplotlib's fonts
    return {"FRAMEWORK_DATA": "", "HOME": str(folder), "XDG_CACHE_HOME": caches}


def numbers(pattern, printed):
    """The one line that `pattern` matches, where # stands for a number: these numbers."""
    found = re.findall(f"^{pattern.replace('#', NUMBER)}$", printed, re.MULTILINE)
    assert len(found) == 1, f"{pattern!r} {len(found)} times in:\n{printed}"
    return [float(n) for n in ([found[0]] if isinstance(found[0], str) else found[0])]


# ---- what each one promises ----------------------------------------------------------------------


def binary_classification(printed):
    (by_fit,) = numbers("fit: accuracy #", printed)
    (by_tape,) = numbers("tape: accuracy #", printed)
    assert 0.8 < by_fit == by_tape <= 1.0
    assert "The weights are the same to the last bit." in printed.splitlines()


def checkpointing(printed):
    lines = re.findall(rf"(?m)^(.*): peak {NUMBER} MiB, {NUMBER} s, same gradients$", printed)
    peaks = {name: float(peak) for name, peak, _ in lines}
    assert list(peaks) == ["keeping all", *(f"blocks of {n}" for n in (1, 4, 8, 16))]
    assert max(peaks, key=peaks.get) == "keeping all"
    assert peaks["blocks of 4"] < 0.5 * peaks["keeping all"]


def custom_layer(printed):
    (accuracy,) = numbers("Test accuracy: #", printed)
    assert 0.5 < accuracy <= 1.0
    gates = [[float(g) for g in line.split()] for line in printed.splitlines()[-8:]]
    assert [len(row) for row in gates] == [8] * 8
    assert all(0.0 < g < 1.0 for row in gates for g in row)
    assert len({g for row in gates for g in row}) > 2  # they have learned, each its own


def custom_loop_controls(printed):
    (accuracy,) = numbers("Test accuracy on (?:MNIST|digits): #", printed)
    assert 0.3 < accuracy <= 1.0  # a guess has 0.1
    losses = [numbers(rf"Epoch {n}/2: loss #, \d+ updates clipped", printed)[0] for n in (1, 2)]
    assert losses[1] < losses[0]
    # 2 epochs of 512 rows, 256 an update: too few for the scale to grow
    assert "loss scale 32768.0, 4 updates, 0 skipped" in printed.splitlines()


def digits_or_mnist(printed):
    assert not printed  # imported by others


def fgsm(printed):
    lines = re.findall(rf"(?m)^{NUMBER} levels: accuracy {NUMBER}, with noise {NUMBER}$", printed)
    _, attacked, noisy = ([float(n) for n in column] for column in zip(*lines))
    assert attacked[0] == noisy[0] > 0.5
    assert all(a > b for a, b in itertools.pairwise(attacked))
    assert attacked[-1] < noisy[-1] - 0.2


def finetune_groups(printed):
    (pretrained,) = numbers("digits 0 to 4: accuracy #", printed)
    found = {
        name: numbers(
            rf"backbone {name}: update ratios # and # \(head\), accuracy on 5 to 9 #, on 0 to 4 #",
            printed,
        )
        for name in ("frozen", "slow", "as the head")
    }
    ratios = {name: backbone / head for name, (backbone, head, *_) in found.items()}
    assert ratios["frozen"] == 0.0
    assert ratios["as the head"] / 200 < ratios["slow"] < ratios["as the head"] / 20
    assert all(0.5 < new <= 1.0 for *_, new, _ in found.values())  # a guess has 0.2
    assert found["frozen"][3] == pretrained > found["as the head"][3]


def gan_2d(printed):
    losses = numbers("losses: discriminator #, generator #", printed)
    assert all(0.0 < loss < 3.0 for loss in losses)
    near, covered = numbers("share of samples near the data #, of the data near samples #", printed)
    assert 0.1 < near <= 1.0
    assert 0.5 < covered <= 1.0  # it has spread along the curve


def integrated_gradients(printed):
    lines = re.findall(
        rf"^digit \d: attributions add up to {NUMBER}, gain {NUMBER}$", printed, re.MULTILINE
    )
    assert len(lines) == 4
    for added_up, gain in lines:
        assert float(added_up) == pytest.approx(float(gain), abs=1e-3)


def linear_regression(printed):
    _, w, b = numbers("Epoch 3: loss #, w = #, b = #", printed)
    assert (w, b) == pytest.approx((2.0, 1.0), abs=0.03)


def maml_sine(printed):
    start, one, five = numbers(r"MAML: loss #, after 1 step #, after 5 #, rate \S+", printed)
    plain = numbers(r"pretrained: loss #, after 1 step #, after 5 #, rate \S+", printed)
    assert one < start  # trained for one step
    assert one / start < plain[1] / plain[0] * 1.2  # a hundred iterations show little
    assert 0.0 < five < 10.0


def mnist_fit(printed):
    (accuracy,) = numbers("Test accuracy on (?:MNIST|digits): #", printed)
    assert 0.3 < accuracy <= 1.0  # a guess has 0.1
    assert re.search(r"\bTotal params: ", printed)
    losses = [float(loss) for loss in re.findall(r"\bloss: (\d+\.\d+(?:e-?\d+)?)", printed)]
    assert losses[-1] < losses[0]


def mnist_tape(printed):
    (accuracy,) = numbers("Test accuracy on (?:MNIST|digits): #", printed)
    assert 0.3 < accuracy <= 1.0  # a guess has 0.1
    first, norm = numbers("Epoch 1/2: loss #, largest norm #", printed)
    second, _ = numbers("Epoch 2/2: loss #, largest norm #", printed)
    assert second < first
    assert norm > 0.0


def momentum_from_scratch(printed):
    (plain,) = numbers(" *plain: distance from the minimum #", printed)
    (by_hand,) = numbers(" *momentum by hand: distance from the minimum #", printed)
    (by_keras,) = numbers(" *keras SGD: distance from the minimum #", printed)
    assert 0.0 < by_hand < plain < 4.2
    assert by_hand == pytest.approx(by_keras, abs=1e-5)


def newton(printed):
    found = re.findall(r"^ +(\d)  (\S+)  (\S*)$", printed, re.MULTILINE)
    distances = [float(distance) for _, distance, _ in found]
    assert len(distances) == 7
    assert distances[-1] < 1e-9
    assert all(float(ratio) < 1.0 for *_, ratio in found[1:])  # quadratic convergence
    (slow,) = numbers(r"Gradient descent after \d+ steps: distance #", printed)
    assert slow > 1e-2


def onnx_serving(printed):
    assert re.search(r"inputs \['image'\], outputs \['digit'\]", printed)
    assert re.search(r"inputs \['words'\], outputs \['good'\]", printed)
    assert numbers("digits: accuracy #", printed)[0] > 0.3  # a guess has 0.1
    assert numbers("text: accuracy #", printed)[0] > 0.8
    for name in ("digits", "text"):
        assert numbers(f"{name}: largest difference #", printed)[0] < 1e-5


def pinn(printed):
    (oscillator,) = numbers("oscillator: largest error #", printed)
    (burgers,) = numbers("Burgers: largest error #", printed)
    assert 0.0 < oscillator < 1.5  # a sixtieth of the steps
    assert 0.0 < burgers < 0.3


def polynomial_regression(printed):
    found = numbers(r"y = # x\^2 \+ # x \+ # .*", printed)
    assert found == pytest.approx([6.0, 8.0, 2.0], abs=2.0)  # a tenth of the steps


def sine_derivatives(printed):
    assert "Functions and tapes agree to the last bit." in printed.splitlines()
    errors = re.findall(r"(sine|first|second|third): largest error (\S+)$", printed, re.MULTILINE)
    assert len(errors) == 4
    assert all(float(error) < 1e-14 for _, error in errors)


def wgan_gp(printed):
    rows = re.findall(r"^(?:args\[0\]|\S+/(?:kernel|bias)) +(\w+) ", printed, re.MULTILINE)
    assert rows == ["ok"] * 9
    _, near = numbers("critic's distance #; share of samples near the data #", printed)
    assert 0.0 <= near <= 1.0


CHECKS = {
    check.__name__: check
    for check in (
        binary_classification, checkpointing, custom_layer, custom_loop_controls,
        digits_or_mnist, fgsm, finetune_groups, gan_2d, integrated_gradients, linear_regression,
        maml_sine, mnist_fit, mnist_tape, momentum_from_scratch, newton, onnx_serving,
        pinn, polynomial_regression, sine_derivatives, wgan_gp,
    )
}  # fmt: skip


# ---- tests ---------------------------------------------------------------------------------------


def test_each_example_is_checked_and_each_check_has_its_example():
    assert sorted(CHECKS) == EXAMPLES


@pytest.mark.parametrize("name", EXAMPLES)
def test_example(name, tmp_path):
    pytest.importorskip("matplotlib")  # the plots are optional to the package
    printed = run(name, tmp_path, **without_mnist(tmp_path))

    CHECKS[name](printed)
    if name in MNIST:
        assert printed.startswith("mnist.npz was not found")
        assert "Test accuracy on digits" in printed
    draws = "savefig" in (ROOT / "examples" / f"{name}.py").read_text("utf-8")
    plots = [path.name for path in tmp_path.iterdir() if path.suffix == ".png"]
    assert plots == ([f"{name}.png"] if draws else [])
    assert all((tmp_path / plot).read_bytes().startswith(b"\x89PNG") for plot in plots)


@pytest.mark.mnist
@pytest.mark.parametrize("name", MNIST)
def test_example_on_mnist(name, tmp_path):
    printed = run(name, tmp_path)

    CHECKS[name](printed)
    assert "Test accuracy on MNIST" in printed
