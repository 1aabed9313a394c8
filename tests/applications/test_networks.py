"""keras.applications: the weights of Keras's networks, arguments, preparation of images.

`keras_networks.json` has, for each network of Keras 3.15 with `weights=None`: its name, the number
of its parameters, and checksums of the weights' shapes and of their layers' names, in order.
"""

import json
import re
import zlib
from pathlib import Path

import numpy as np
import pytest

import framework as tf
from framework import keras
from framework.keras import applications

KERAS = json.loads(Path(__file__).with_name("keras_networks.json").read_text())
QUICK = (
    "MobileNet", "MobileNetV2", "MobileNetV3Small", "MobileNetV3Large", "DenseNet121",
    "EfficientNetB0", "EfficientNetV2B0", "ResNet50V2", "ResNet50",
)  # fmt: skip
_AUTOMATIC = re.compile(r"(conv2d|batch_normalization|normalization|layer_normalization)(_\d+)?")


def described(model):
    """Return what `keras_networks.json` says of a model."""
    shapes = [list(w.shape) for w in model.weights]
    layers = [w.path.rsplit("/", 1)[0] for w in model.weights]
    names = dict.fromkeys(path for path in layers if not _AUTOMATIC.fullmatch(path))
    return {
        "name": model.name, "params": model.count_params(),
        "shapes": zlib.crc32(json.dumps(shapes).encode()),
        "layers": zlib.crc32(json.dumps(list(names)).encode()),
    }  # fmt: skip


@pytest.mark.parametrize("name", QUICK)
def test_the_weights_are_those_of_keras(name):
    assert described(getattr(applications, name)(weights=None)) == KERAS[name]


def small(**arguments):
    arguments = {"weights": None, "input_shape": (32, 32, 3), "alpha": 0.35, **arguments}
    return applications.MobileNetV2(**arguments)


def test_features_and_their_pooling():
    assert small(include_top=False).output_shape == (None, 1, 1, 1280)
    assert small(include_top=False, input_shape=None).output_shape == (None, None, None, 1280)
    images = np.random.default_rng(0).uniform(-1, 1, (2, 64, 64, 3)).astype("float32")
    maps = small(include_top=False, input_shape=(64, 64, 3))
    for pooling, reduce in (("avg", np.mean), ("max", np.max)):
        model = small(include_top=False, input_shape=(64, 64, 3), pooling=pooling)
        model.set_weights(maps.get_weights())
        expected = reduce(maps(images).numpy(), axis=(1, 2))
        np.testing.assert_allclose(model(images), expected, rtol=1e-5, atol=1e-6)


def test_an_input_tensor_and_logits():
    x = keras.Input((32, 32, 3))
    model = small(input_tensor=x * 2.0 - 1.0, classes=5, classifier_activation=None)
    assert model.layers[-1].activation is keras.activations.linear
    whole = keras.Model(x, model.output)
    assert whole(np.zeros((1, 32, 32, 3))).shape == (1, 5)


def test_weights_of_a_file(tmp_path):
    first = small(classes=3)
    path = tmp_path / "m.weights.h5"
    first.save_weights(path)
    second = small(classes=3, weights=path)
    for a, b in zip(first.get_weights(), second.get_weights(), strict=True):
        np.testing.assert_array_equal(a, b)


def test_a_network_trains():
    model = applications.MobileNetV3Small(
        weights=None, input_shape=(32, 32, 3), alpha=0.35, minimalistic=True, classes=2,
        dropout_rate=0, include_preprocessing=False,
    )  # fmt: skip
    model.compile(keras.optimizers.Adam(0.003), "sparse_categorical_crossentropy")
    y = np.arange(8) % 2
    x = np.random.default_rng(1).normal(size=(8, 32, 32, 3)) + y[:, None, None, None]
    losses = model.fit(x.astype("float32"), y, epochs=6, verbose=0).history["loss"]
    assert losses[-1] < losses[0] / 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"weights": "imagenet"}, "weights: expected None or the path.*Keras's file"),
        ({"weights": "missing.h5"}, "'missing.h5', which does not exist"),
        ({"pooling": "mean"}, "pooling: expected None"),
        ({"input_shape": (16, 16, 3)}, "at least 32 x 32"),
        ({"input_shape": (32, 32)}, "three sizes"),
        ({"input_shape": (None, None, 3)}, "include_top=True expected known sizes"),
    ],
)
def test_bad_arguments(arguments, message):
    with pytest.raises(ValueError, match=message):
        small(**arguments)


@pytest.mark.parametrize(
    ("module", "expected"),
    [
        ("vgg16", [200 - 103.939, 100 - 116.779, 50 - 123.68]),
        ("xception", [50 / 127.5 - 1, 100 / 127.5 - 1, 200 / 127.5 - 1]),
        ("densenet", [(50 / 255 - 0.485) / 0.229, (100 / 255 - 0.456) / 0.224,
                      (200 / 255 - 0.406) / 0.225]),
        ("efficientnet", [50, 100, 200]),
    ],
)  # fmt: skip
def test_images_are_prepared_as_each_network_expects(module, expected):
    prepare = getattr(applications, module).preprocess_input
    pixel = np.array([50, 100, 200], "uint8")
    for form in (np.asarray, tf.constant):
        found = np.asarray(prepare(form(pixel.reshape(1, 1, 1, 3))))
        np.testing.assert_allclose(found.ravel(), expected, rtol=1e-5)
        first = prepare(form(pixel.reshape(3, 1, 1)), data_format="channels_first")
        np.testing.assert_allclose(np.asarray(first).ravel(), expected, rtol=1e-5)
    with pytest.raises(ValueError, match="mode: expected"):
        applications.imagenet_utils.preprocess_input(pixel, mode="keras")


def test_predictions_have_names(tmp_path):
    path = tmp_path / "classes.json"
    path.write_text(json.dumps({str(i): [f"n{i}", f"name {i}"] for i in range(1000)}))
    scores = np.zeros((1, 1000))
    scores[0, [7, 3]] = 0.9, 0.1
    decode = applications.resnet50.decode_predictions
    found = decode(scores, top=2, class_index=path)
    assert found == [[("n7", "name 7", 0.9), ("n3", "name 3", 0.1)]]
    with pytest.raises(ValueError, match=r"\(batch, 1000\), got shape \(1, 10\)"):
        decode(scores[:, :10], class_index=path)
