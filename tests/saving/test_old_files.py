"""Files that real Keras wrote, of several versions, and what their models predicted there.

`keras_files/make.py` wrote them. What a file holds beside the weights shows in the prediction after
one more training step: the loss, the optimizer, its slots and its iterations.
"""

import warnings
import zipfile
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from framework import keras

# Models whose further step is not compared, by the start of the file's name.
OTHER_STEPS = {
    "keras-3.0.5/conv_1d": "Keras's update of RMSprop with momentum was another one",
    "keras-3.5.0/nested.h5": "a model that occurs twice is two models in .h5 files: its optimizer",
    "keras-3.10.0/nested.h5": "has fewer slots than the loaded model",
    "tf_keras-2.21.0/recurrent.h5": "tf-keras does not store u_product of Nadam",
}

FILES = Path(__file__).parent / "keras_files"
ENDINGS = (".keras", ".h5", ".weights.h5")


@cache
def values(version):
    with zipfile.ZipFile(FILES / f"{version}.zip") as archive, archive.open("values.npz") as file:
        return dict(np.load(file))


def cases():
    for archive in sorted(FILES.glob("*.zip")):
        with zipfile.ZipFile(archive) as opened:
            for name in opened.namelist():
                model, _, ending = name.partition(".")
                if model != "values":
                    yield pytest.param(
                        archive.stem, model, f".{ending}", id=f"{archive.stem}-{name}"
                    )


@pytest.mark.parametrize(("version", "model", "ending"), list(cases()))
def test_predictions_and_a_training_step(version, model, ending, tmp_path):
    with zipfile.ZipFile(FILES / f"{version}.zip") as archive:
        path = Path(archive.extract(f"{model}{ending}", tmp_path))
        config = ending == ".weights.h5" and archive.extract(f"{model}.keras", tmp_path)
    known = values(version)
    names = sorted(n for n in known if n.startswith(f"{model}/x"))
    x = [known[n] for n in names] if len(names) > 1 else known[names[0]]
    if ending == ".weights.h5":
        loaded = keras.models.load_model(config)
        for variable in loaded.variables:
            variable.assign(np.zeros(variable.shape, variable.dtype))
        loaded.load_weights(path)
    else:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Argument `alpha` is deprecated")
            warnings.filterwarnings("ignore", "(?s).*the optimizer's state is not restored")
            loaded = keras.models.load_model(path)
    np.testing.assert_allclose(loaded.predict(x, verbose=0), known[f"{model}/y"], 1e-5, 1e-5)
    file = f"{version}/{model}{ending}"
    if f"{model}/z" in known and not file.startswith(tuple(OTHER_STEPS)):
        loaded.train_on_batch(x, known[f"{model}/t"])
        np.testing.assert_allclose(loaded.predict(x, verbose=0), known[f"{model}/z"], 1e-5, 1e-5)
