"""Image layers: Keras's numbers, what is drawn, dicts of images, every way of running, errors."""

import threading

import numpy as np
import pytest

import framework as tf
from framework import keras
from framework.layers.images.base import BaseImagePreprocessingLayer
from tests.layers import image_cases, keras_images
from tests.samples.layers.images import SAMPLES

layers = keras.layers
RNG = np.random.default_rng(11)
IMAGES = RNG.uniform(0, 1, (4, 8, 8, 3)).astype("float32")


# ---- numbers -------------------------------------------------------------------------------------

IDS = [f"{i}-{case[0]}" for i, case in enumerate(image_cases.CASES)]


@pytest.mark.parametrize("i", range(len(image_cases.CASES)), ids=IDS)
def test_numbers_are_those_of_keras(i):
    found = image_cases.results(layers, image_cases.CASES[i], np.asarray, tf.constant)
    expected = keras_images.NUMBERS[i]
    assert found.keys() == expected.keys()
    for part, (dtype, shape, *numbers) in expected.items():
        assert (str(found[part].dtype), list(found[part].shape)) == (dtype, shape), part
        np.testing.assert_allclose(
            image_cases.summary(found[part]), numbers, rtol=1e-4, atol=2e-3, err_msg=part
        )


def test_boxes_of_turned_images_are_right_in_every_format():
    for case in image_cases.CASES:
        name, arguments, transformation, _ = case
        if name not in image_cases.ONLY_XYXY:
            continue
        found = []
        for form, boxes in image_cases.FORMATS.items():
            layer = getattr(layers, name)(**arguments, bounding_box_format=form)
            data = {"boxes": boxes, "labels": image_cases.NAMES}
            data = layer.transform_bounding_boxes(data, transformation)
            found.append(keras.utils.bounding_boxes.convert_format(data, form, "xyxy", 6, 7))
        for other in found[1:]:
            np.testing.assert_allclose(other["boxes"], found[0]["boxes"], atol=1e-4)


# ---- dicts: the parts go with the images ---------------------------------------------------------

MOVING = {
    "RandomFlip": [{"mode": "horizontal"}, {"mode": "vertical"}, {}],
    "RandomRotation": [{"factor": 0.4, "fill_mode": "constant"}],
    "RandomTranslation": [{"height_factor": 0.2, "width_factor": 0.3, "fill_mode": "constant"}],
    "RandomZoom": [{"height_factor": 0.4, "width_factor": 0.3, "fill_mode": "constant"}],
    "RandomPerspective": [{"factor": (1.0, 1.0), "scale": 0.4}],
    "RandomCrop": [{"height": 20, "width": 18}],
    "CenterCrop": [{"height": 20, "width": 18}, {"height": 30, "width": 10}],
    "Resizing": [
        {"height": 12, "width": 40},
        {"height": 30, "width": 40, "crop_to_aspect_ratio": True},
        {"height": 30, "width": 40, "pad_to_aspect_ratio": True},
    ],
    "RandAugment": [{"num_ops": 1, "value_range": (0, 1), "factor": 0.2}],
}


@pytest.mark.parametrize("first", [False, True], ids=["last", "first"])
@pytest.mark.parametrize("form", ["xyxy", "rel_yxyx", "center_xywh"])
@pytest.mark.parametrize(("name", "i"), [(n, i) for n in MOVING for i in range(len(MOVING[n]))])
def test_boxes_and_masks_move_with_the_pixels(name, i, form, first):
    """Each box stays around the pixels of its own value."""
    images, boxes = np.zeros((6, 24, 26, 1), "float32"), np.zeros((6, 1, 4), "float32")
    for k in range(6):
        x, y, w, h = 7 + k, 8 + k % 3, 5 + k % 4, 4 + k
        images[k, y : y + h, x : x + w] = 1
        boxes[k, 0] = x, y, x + w, y + h
    convert = keras.utils.bounding_boxes.convert_format
    layer = getattr(layers, name)(
        **MOVING[name][i], bounding_box_format=form,
        data_format="channels_first" if first else None,
        **({} if name in {"CenterCrop", "Resizing"} else {"seed": 5}),
    )  # fmt: skip
    arranged = images.transpose(0, 3, 1, 2) if first else images
    arranged = np.repeat(arranged, 3, axis=1 if first else 3)
    masks = arranged[:, :1] if first else arranged[..., :1]
    given = convert(boxes, "xyxy", form, 24, 26)
    found = layer(
        {
            "images": arranged, "segmentation_masks": masks.astype("int32"),
            "bounding_boxes": {"boxes": given, "labels": np.arange(6)[:, None]},
        },
        training=True,
    )  # fmt: skip
    masks = np.asarray(found["segmentation_masks"])
    masks = masks[:, 0] if first else masks[..., 0]
    edges = convert(found["bounding_boxes"]["boxes"], form, "xyxy", *masks.shape[1:]).numpy()
    compared = 0
    for k in range(6):
        y, x = np.nonzero(masks[k] > 0.5)
        if not len(x):
            continue
        tight = np.array([x.min(), y.min(), x.max() + 1, y.max() + 1])
        left_out = tight[:2] - edges[k, 0, :2], edges[k, 0, 2:] - tight[2:]
        # Keras's positions are those of corners for boxes, of centres for pixels: a pixel apart
        slack = 1.6 if name not in {"RandomFlip", "RandomCrop"} else 1e-4
        assert np.min(left_out) > -slack
        if name not in {"RandomRotation", "RandomPerspective", "RandAugment"}:
            assert np.max(left_out) < slack + 0.6
        compared += 1
    assert compared >= 3


def test_labels_mix_like_images():
    """With one-hot images, labels and images stay the same."""
    eye = np.eye(5, dtype="float32")
    images = np.broadcast_to(eye[:, None, None, :], (5, 16, 16, 5)).copy()
    mixed = layers.MixUp(alpha=0.9, seed=1)({"images": images, "labels": eye}, training=True)
    np.testing.assert_allclose(mixed["images"][:, 3, 4], mixed["labels"], atol=1e-6)
    assert (np.asarray(mixed["labels"]).max(-1) < 0.999).any()
    cut = layers.CutMix(seed=1)({"images": images, "labels": eye}, training=True)
    shares = np.asarray(cut["images"]).mean((1, 2))
    np.testing.assert_allclose(shares, cut["labels"], atol=0.15)  # parts of pixels count, too
    assert (np.asarray(cut["labels"]).max(-1) < 0.9).any()


def test_mixed_boxes_are_those_of_both_images():
    boxes = {"boxes": image_cases.BOXES, "labels": image_cases.NAMES}
    layer = layers.MixUp(seed=3, bounding_box_format="xyxy")
    transformation = {"mix_weight": np.float32([0.5, 0.5]), "permutation_order": np.array([1, 0])}
    found = layer.transform_bounding_boxes(boxes, transformation)
    np.testing.assert_array_equal(found["labels"], [[1, 2, 3, 4, 5, 6], [4, 5, 6, 1, 2, 3]])
    np.testing.assert_array_equal(found["boxes"][0, 3:], image_cases.BOXES[1])


def test_lists_of_boxes_are_padded_and_other_keys_stay():
    layer = layers.RandomFlip("horizontal", seed=2, bounding_box_format="xyxy")
    data = {
        "images": IMAGES[:2], "name": "mine", "labels": np.array([1, 2]),
        "bounding_boxes": {"boxes": [[[1, 1, 3, 3]], [[0, 0, 2, 2], [4, 4, 8, 8]]],
                           "labels": [[5], [6, 7]]},
    }  # fmt: skip
    found = layer(data, training=True)
    assert found["name"] == "mine"
    assert found["bounding_boxes"]["boxes"].shape == (2, 2, 4)
    assert found["bounding_boxes"]["labels"].numpy().tolist() == [[5, -1], [6, 7]]
    np.testing.assert_array_equal(found["labels"], [1, 2])
    assert data["images"] is not found["images"]
    assert isinstance(data["bounding_boxes"]["boxes"], list)


@pytest.mark.parametrize("name", [n for n in SAMPLES if n not in {"CutMix", "MixUp", "Pipeline"}])
def test_one_image_is_a_batch_of_one(name):
    arguments = dict(SAMPLES[name][0][0])
    channels = 2 if name == "RandomElasticTransform" else 3
    image = IMAGES[0, :6, :7, :channels]
    boxes = {"boxes": np.float32([[1, 1, 4, 5], [0, 2, 6, 3]]), "labels": np.array([1, 2])}
    single = {"images": image, "labels": np.float32([1, 0]), "bounding_boxes": boxes,
              "segmentation_masks": np.arange(42).reshape(6, 7, 1) % 3}  # fmt: skip
    batch = tf.nest.map_structure(lambda x: x[None], single)
    one, many = (
        getattr(layers, name)(**arguments, bounding_box_format="xyxy")(data, training=True)
        for data in (single, batch)
    )
    for a, b in zip(tf.nest.flatten(one), tf.nest.flatten(many)):
        np.testing.assert_allclose(a, np.asarray(b)[0], atol=1e-6)
        assert a.dtype == b.dtype


def test_a_functional_model_of_dicts():
    inputs = {
        "images": keras.Input((8, 8, 3)), "labels": keras.Input((3,)),
        "bounding_boxes": {"boxes": keras.Input((None, 4)), "labels": keras.Input((None,))},
    }  # fmt: skip
    layer = layers.Resizing(4, 6, bounding_box_format="xyxy")
    outputs = layer(inputs)
    assert outputs["images"].shape == (None, 4, 6, 3)
    assert outputs["bounding_boxes"]["boxes"].shape == (None, None, 4)
    model = keras.Model(inputs, outputs)
    boxes = {"boxes": np.float32([[[2, 2, 4, 8]]] * 4), "labels": np.ones((4, 1), "float32")}
    found = model({"images": IMAGES, "labels": np.ones((4, 3)), "bounding_boxes": boxes})
    np.testing.assert_allclose(found["bounding_boxes"]["boxes"][0, 0], [1.5, 1, 3, 4])


# ---- what is drawn -------------------------------------------------------------------------------

DRAWN = [  # layer, arguments, key, lowest and highest value
    ("RandomBrightness", {"factor": (-0.2, 0.4), "value_range": (0, 1)}, "rgb_delta", -0.2, 0.4),
    ("RandomContrast", {"factor": (0.2, 0.5)}, "contrast_factor", 0.8, 1.5),
    ("RandomColorDegeneration", {"factor": 0.5}, "factor", -0.5, 0.5),
    ("RandomHue", {"factor": 0.6}, "factor", -0.3, 0.3),
    ("RandomSharpness", {"factor": (0.2, 0.7)}, "factor", 0.2, 0.7),
    ("RandomRotation", {"factor": (-0.1, 0.25)}, "angle", -36, 90),
    ("RandomShear", {"x_factor": 0.4, "y_factor": 0.4}, "shear_factor", -0.4, 0.4),
    ("RandomTranslation", {"height_factor": 0.5, "width_factor": 0.5}, "translations", -4, 4),
    ("RandomZoom", {"height_factor": (-0.5, 0.25)}, "height_zoom", 0.5, 1.25),
    ("Solarization", {"addition_factor": 0.4}, "additions", 0, 102),
    ("RandomPosterization", {"factor": (2, 8)}, "shift_factor", 1, 6),
    ("MixUp", {"alpha": 1.0}, "mix_weight", 0, 1),
    ("CutMix", {"factor": (1.0, 1.0)}, "mix_weight", 0, 1),
]


@pytest.mark.parametrize("row", DRAWN, ids=lambda row: row[0])
def test_drawn_numbers_fill_their_range(row):
    name, arguments, key, low, high = row
    layer = getattr(layers, name)(**arguments, seed=4)
    images = np.zeros((800, 8, 8, 3), "float32")
    drawn = np.asarray(layer.get_random_transformation(images)[key], "float64")
    room = (high - low) * 0.02
    assert low <= drawn.min() < low + room
    assert high - room < drawn.max() <= high
    if not key.startswith("shift"):
        assert abs(drawn.mean() - (low + high) / 2) < room * 3


def test_weights_of_cut_mix_are_beta_distributed():
    uniform = layers.CutMix((1.0, 1.0), seed=2)  # beta(1, 1)
    drawn = uniform.get_random_transformation(np.zeros((4000, 100, 100, 1), "float32"))
    quarters = np.quantile(np.ravel(drawn["mix_weight"]), [0.25, 0.5, 0.75])
    np.testing.assert_allclose(quarters, [0.25, 0.5, 0.75], atol=0.03)
    low = layers.CutMix((0.5, 0.5), seed=2)  # the arcsine distribution
    drawn = low.get_random_transformation(np.zeros((4000, 100, 100, 1), "float32"))
    quarters = np.quantile(np.ravel(drawn["mix_weight"]), [0.25, 0.5, 0.75])
    expected = np.sin(np.pi / 2 * np.array([0.25, 0.5, 0.75])) ** 2
    np.testing.assert_allclose(quarters, expected, atol=0.03)


IDENTITIES = {
    "RandomBrightness": {"factor": 0}, "RandomContrast": {"factor": 0},
    "RandomColorDegeneration": {"factor": 0}, "RandomHue": {"factor": 0},
    "RandomInvert": {"factor": 0}, "RandomRotation": {"factor": 0}, "RandomShear": {},
    "RandomTranslation": {"height_factor": 0, "width_factor": 0},
    "RandomZoom": {"height_factor": 0}, "RandomPerspective": {"factor": 0},
    "RandomErasing": {"factor": 0}, "RandomElasticTransform": {"scale": 0},
    "RandomGaussianBlur": {"factor": 0}, "RandomGrayscale": {"factor": 0},
    "RandomSharpness": {"factor": (0.5, 0.5)}, "RandomSaturation": {"factor": (0.5, 0.5)},
    "RandomPosterization": {"factor": (8, 8), "value_range": (0, 255)},
}  # fmt: skip


@pytest.mark.parametrize("name", IDENTITIES)
def test_a_factor_of_zero_is_the_identity(name):
    arguments = {"value_range": (0, 1), **IDENTITIES[name]}
    if name in {"RandomRotation", "RandomShear", "RandomTranslation", "RandomZoom",
                "RandomPerspective", "RandomGrayscale"}:  # fmt: skip
        del arguments["value_range"]
    images = np.round(IMAGES * 255) if name == "RandomPosterization" else IMAGES
    found = getattr(layers, name)(**arguments)(images, training=True)
    np.testing.assert_allclose(found, images, atol=1e-5)


ALWAYS = {"Resizing", "CenterCrop", "AutoContrast", "ContrastLimitedAdaptiveHistogramEqualization",
          "Pipeline"}  # fmt: skip


@pytest.mark.parametrize("name", SAMPLES)
def test_inference_changes_nothing_and_draws_nothing(name):
    arguments, images = SAMPLES[name][0]
    layer = getattr(layers, name)(**arguments)
    before = [v.numpy() for v in layer.variables]
    found = layer(images.astype("float32"), training=False)
    assert (found.shape == images.shape and np.allclose(found, images)) == (name not in ALWAYS)
    for variable, value in zip(layer.variables, before):
        np.testing.assert_array_equal(variable, value)


def test_flipping_twice_is_the_identity():
    layer = layers.RandomFlip(seed=1)
    transformation = layer.get_random_transformation(IMAGES)
    once = layer.transform_images(IMAGES, transformation)
    assert (np.asarray(once) != IMAGES).any()
    np.testing.assert_array_equal(layer.transform_images(once, transformation), IMAGES)


# ---- every way of running ------------------------------------------------------------------------

STOCHASTIC = [n for n in SAMPLES if "seed" in SAMPLES[n][0][0]]


@pytest.mark.parametrize("name", STOCHASTIC)
def test_one_seed_gives_the_same_images_in_every_way_of_running(name):
    arguments, images = SAMPLES[name][0]
    images = images.astype("float32")
    make = lambda: getattr(layers, name)(**arguments)
    eager, layer, mapped = make(), make(), make()
    expected = [eager(images, training=True).numpy() for _ in range(6)]
    assert len({array.tobytes() for array in expected}) > 1
    function = tf.function(lambda x: layer(x, training=True))
    for array in expected[:4]:
        np.testing.assert_allclose(function(tf.constant(images)), array, atol=2e-5)
    rows = tf.data.Dataset.from_tensor_slices(np.tile(images, (4, 1, 1, 1))).batch(len(images))
    found = [array.numpy() for array in rows.map(lambda x: mapped(x, training=True))]
    skipped = (
        4 - len(found) if len(found) < 4 else int(not np.allclose(found[0], expected[0], atol=2e-5))
    )
    for array, same in zip(found, expected[skipped:]):
        np.testing.assert_allclose(array, same, atol=2e-5)


def test_threads_share_the_draws():
    """Each draw is used once, by any thread."""
    eager, layer = (
        layers.RandomBrightness(0.5, (0, 1), seed=1),
        layers.RandomBrightness(0.5, (0, 1), seed=1),
    )
    expected = [eager(IMAGES, training=True).numpy().tobytes() for _ in range(32)]
    found = []

    def work():
        found.extend(layer(IMAGES, training=True).numpy().tobytes() for _ in range(8))

    workers = [threading.Thread(target=work) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert sorted(found) == sorted(expected)


def test_models_draw_in_training_and_not_in_inference():
    x = np.repeat(RNG.uniform(0, 255, (12, 8, 8, 1)), 3, axis=-1).astype("float32")
    y = (x.mean((1, 2, 3)) > 127).astype("int32")

    def trained():
        keras.utils.set_random_seed(3)
        model = keras.Sequential([
            layers.RandomFlip("horizontal", seed=1), layers.RandomRotation(0.1, seed=2),
            layers.RandomZoom(0.2, seed=3), layers.Rescaling(1 / 255), layers.Flatten(),
            layers.Dense(2),
        ])  # fmt: skip
        loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
        model.compile("sgd", loss)
        history = model.fit(x, y, epochs=3, batch_size=4, verbose=0).history["loss"]
        return model, history

    (model, history), (again, repeated) = trained(), trained()
    assert history == repeated
    assert [layer.generator.state.numpy()[1] for layer in model.layers[:3]] == [9, 9, 9]
    np.testing.assert_array_equal(model.predict(x, verbose=0), again.predict(x, verbose=0))
    plain = keras.Sequential(model.layers[3:])
    np.testing.assert_allclose(model(x, training=False), plain(x), atol=1e-6)


def test_a_policy_computes_in_float16():
    for name in ("RandomRotation", "RandomHue", "CutMix", "RandAugment", "RandomGaussianBlur"):
        arguments = {"factor": 0.3} if name in {"RandomRotation", "RandomHue"} else {}
        layer = getattr(layers, name)(**arguments, dtype="mixed_float16", seed=1)
        found = layer(IMAGES * 255, training=True)
        assert found.dtype == "float16"
        assert np.isfinite(np.asarray(found, "float32")).all()


@pytest.mark.parametrize(("name", "axis"), [("RandomHeight", 1), ("RandomWidth", 2)])
def test_former_layers_change_one_size(name, axis):
    eager, layer = (getattr(layers, name)((-0.5, 0.5), seed=1) for _ in range(2))
    expected = [eager(IMAGES, training=True) for _ in range(6)]
    sizes = [found.shape[axis] for found in expected]
    assert min(sizes) >= 4
    assert max(sizes) < 12
    assert len(set(sizes)) > 2
    assert all(found.shape[3 - axis] == 8 for found in expected)
    function = tf.function(lambda x: layer(x, training=True))
    for found in expected:
        np.testing.assert_allclose(function(tf.constant(IMAGES)), found, atol=1e-6)
    np.testing.assert_array_equal(layer(IMAGES, training=False), IMAGES)
    assert layer(keras.Input((8, 8, 3))).shape.count(None) == 2
    again = type(layer).from_config(layer.get_config())
    assert again.get_config() == layer.get_config()
    assert layer.get_config().keys() == {
        "name", "trainable", "dtype", "factor", "interpolation", "seed"
    }  # fmt: skip


@pytest.mark.parametrize("training", [False, True])
@pytest.mark.parametrize("name", sorted(SAMPLES))
def test_integers_become_floats_but_for_four_layers(name, training):
    arguments, images = SAMPLES[name][0]
    layer = getattr(layers, name)(**arguments)
    keeps = name in {"Resizing", "RandomGrayscale", "MaxNumBoundingBoxes",
                     "ContrastLimitedAdaptiveHistogramEqualization"}  # fmt: skip
    whole = (images * 255).astype("uint8")
    assert layer(whole, training=training).dtype == ("uint8" if keeps else "float32")
    assert layer(keras.Input(images.shape[1:], dtype="uint8")).dtype == (
        "uint8" if keeps else "float32"
    )


# ---- users' subclasses, saving, errors -----------------------------------------------------------


class Darker(BaseImagePreprocessingLayer):
    """Written as a subclass of Keras's base: draws a share, and hooks for every part."""

    def __init__(self, share=0.5, seed=None, **kwargs):
        super().__init__(**kwargs)
        self.share, self.seed = share, seed
        self.generator = keras.random.SeedGenerator(seed)

    def get_random_transformation(self, data, training=True, seed=None):
        seed = seed or self._get_seed_generator()
        return keras.random.uniform((), 0, self.share, seed=seed)

    def transform_images(self, images, transformation, training=True):
        return images * (1 - transformation) if training else images

    def transform_labels(self, labels, transformation, training=True):
        return labels + 1

    def transform_bounding_boxes(self, bounding_boxes, transformation, training=True):
        return {**bounding_boxes, "boxes": bounding_boxes["boxes"] * 2}

    def transform_segmentation_masks(self, segmentation_masks, transformation, training=True):
        return segmentation_masks - 1

    def compute_output_shape(self, input_shape):
        return input_shape

    def get_config(self):
        return {**super().get_config(), "share": self.share, "seed": self.seed}


def test_users_subclasses():
    layer = Darker(seed=2, bounding_box_format="xyxy")
    boxes = {"boxes": np.ones((4, 1, 4)), "labels": np.ones((4, 1))}
    data = {"images": IMAGES, "labels": np.arange(4), "bounding_boxes": boxes,
            "segmentation_masks": np.ones((4, 8, 8, 1), "int32")}  # fmt: skip
    found = layer(data)
    factors = np.asarray(found["images"]) / IMAGES
    np.testing.assert_allclose(factors, factors[0, 0, 0, 0], rtol=1e-5)
    assert 0.5 < factors[0, 0, 0, 0] < 1
    assert found["labels"].numpy().tolist() == [1, 2, 3, 4]
    assert (np.asarray(found["bounding_boxes"]["boxes"]) == 2).all()
    assert (np.asarray(found["segmentation_masks"]) == 0).all()
    single = layer(tf.nest.map_structure(lambda x: x[0], data))
    assert single["labels"].shape == ()
    assert single["images"].shape == (8, 8, 3)
    again = Darker.from_config(layer.get_config())
    assert (again.share, again.seed, again.bounding_box_format) == (0.5, 2, "xyxy")

    class Half(BaseImagePreprocessingLayer):
        def transform_images(self, images, transformation, training=True):
            return images[:, ::2]

    assert Half()(keras.Input((8, 6, 3))).shape == (None, 4, 6, 3)
    assert Half()(IMAGES[0]).shape == (4, 8, 3)
    model = keras.Sequential([keras.Input((8, 8, 3)), layer])
    assert model.output_shape == (None, 8, 8, 3)
    np.testing.assert_array_equal(model.predict(IMAGES, verbose=0), IMAGES)


def test_models_with_image_layers_are_saved(tmp_path):
    model = keras.Sequential([
        keras.Input((8, 8, 3)), layers.RandomColorJitter((0, 1), 0.1, seed=1),
        layers.RandAugment((0, 1), seed=2), layers.Resizing(4, 4), layers.CutMix(seed=3),
    ])  # fmt: skip
    model.save(tmp_path / "model.keras")
    again = keras.models.load_model(tmp_path / "model.keras")
    np.testing.assert_array_equal(again(IMAGES, training=True), model(IMAGES, training=True))
    assert again.get_config() == model.get_config()


def test_keras_configs():
    """The keys are Keras's; without them in Keras: `seed` of RandomGrayscale, `fill_value` of
    MaxNumBoundingBoxes."""
    assert layers.RandomShear(0.2).get_config()["x_factor"] == (-0.2, 0.2)
    assert layers.RandomZoom(0.2).get_config()["height_factor"] == 0.2
    assert layers.RandomContrast(0.2).factor == (0, 0.2)
    assert layers.RandomFlip().get_config().keys() == {
        "name", "trainable", "dtype", "data_format", "seed", "mode"
    }  # fmt: skip
    config = layers.RandomFlip(bounding_box_format="xyxy").get_config()
    assert config["bounding_box_format"] == "xyxy"
    assert isinstance(layers.RandomCrop(2, 2).get_config()["seed"], int)
    early = keras.layers.experimental.preprocessing
    assert early.RandomFlip is layers.RandomFlip
    assert early.Normalization is layers.Normalization


BAD = [
    (lambda: layers.RandomRotation(2), ValueError, "factor"),
    (lambda: layers.RandomContrast((0.1, 0.2, 0.3)), ValueError, "factor"),
    (lambda: layers.RandomBrightness("a"), ValueError, "factor"),
    (lambda: layers.RandomBrightness(0.1, value_range=3), ValueError, "value_range"),
    (lambda: layers.RandomRotation(0.1, fill_mode="mirror"), NotImplementedError, "fill_mode"),
    (lambda: layers.RandomZoom(0.1, interpolation="cubic"), NotImplementedError, "interpolation"),
    (lambda: layers.RandomZoom(-1.0), ValueError, "height_factor"),
    (lambda: layers.RandomTranslation(0.1, 1.5), ValueError, "width_factor"),
    (lambda: layers.RandomShear(-0.1), ValueError, "x_factor"),
    (lambda: layers.RandomGaussianBlur(kernel_size=4), ValueError, "kernel_size"),
    (lambda: layers.RandomGrayscale(1.5), ValueError, "factor"),
    (lambda: layers.RandomPosterization(9), ValueError, "factor"),
    (lambda: layers.RandomPerspective(scale=1.5), ValueError, "scale"),
    (lambda: layers.RandomErasing(fill_value=[1, 2]), ValueError, "fill_value"),
    (lambda: layers.Solarization(1.5), ValueError, "addition_factor"),
    (lambda: layers.RandomFlip("diagonal"), ValueError, "mode"),
    (lambda: layers.Resizing(0, 3), ValueError, "height"),
    (lambda: layers.RandomHeight((0.2, -0.2)), ValueError, "factor"),
    (lambda: layers.RandomFlip()(np.ones((3, 3))), ValueError, "rank 3"),
    (lambda: layers.RandomFlip()({"images": IMAGES, "bounding_boxes": {"boxes": [], "labels": []}}),
     ValueError, "bounding_box_format"),
    (lambda: layers.RandomFlip(bounding_box_format="xyxy")(
        {"images": IMAGES, "bounding_boxes": np.ones((4, 1, 4))}
    ), ValueError, "'labels'"),
    (lambda: layers.RandomColorDegeneration(0.1)(keras.Input((8, 8, 2))), ValueError, "3 channels"),
    (lambda: layers.RandomCrop(2, 2).get_random_transformation(keras.Input((None, 8, 3))),
     ValueError, "fully defined"),
    (lambda: layers.Pipeline(3), ValueError, "list of layers"),
    (lambda: layers.CutMix().transform_bounding_boxes({}), NotImplementedError, "CutMix"),
]  # fmt: skip


@pytest.mark.parametrize("row", BAD, ids=[f"{i}-{row[2]}" for i, row in enumerate(BAD)])
def test_errors_name_the_argument(row):
    call, error, message = row
    with pytest.raises(error, match=message):
        call()
