"""ImageDataGenerator and its iterators: Keras's numbers for equal seeds, splits, tables, errors."""

import numpy as np
import pytest
import scipy.ndimage

import framework as tf
from framework import keras
from framework.data import image_transforms
from framework.keras.preprocessing import image

X = (np.arange(6 * 4 * 5 * 3) * 37 % 251).reshape(6, 4, 5, 3).astype("float32")
Y = np.arange(6)

# what Keras 3.15 gives for seed 3 and batches of four: parts of the first and the second batch
KERAS = [
    (
        {"rotation_range": 30, "fill_mode": "reflect"},
        [49.356, 156.721, 99.703, 209.874], [143.729, 221.227, 153.903, 126.595], 125.1532,
    ),
    (
        {"width_shift_range": 0.3, "height_shift_range": 2, "fill_mode": "constant", "cval": 7.0},
        [109.479, 175.59, 7.0, 7.0], [7.0, 7.0, 85.858, 196.858], 68.8874,
    ),
    (
        {"shear_range": 25, "zoom_range": [0.6, 1.4], "fill_mode": "wrap"},
        [118.509, 130.948, 122.005, 188.995], [152.333, 127.573, 155.968, 160.18], 125.0736,
    ),
    (
        {"horizontal_flip": True, "vertical_flip": True, "channel_shift_range": 40.0,
         "rescale": 0.5},
        [39.352, 94.852, 65.852, 121.352], [27.644, 83.144, 54.144, 109.644], 63.2542,
    ),
    (
        {"brightness_range": (0.5, 1.5), "samplewise_center": True,
             "samplewise_std_normalization": True},
        [-1.126, 0.681, -0.263, 1.089], [-0.673, 0.856, 0.054, 1.583], 0.0,
    ),
]  # fmt: skip


@pytest.mark.parametrize(("options", "first", "second", "mean"), KERAS)
def test_batches_of_arrays_are_those_of_keras(options, first, second, mean):
    batches = image.ImageDataGenerator(**options).flow(X, Y, batch_size=4, seed=3)
    assert len(batches) == 2
    x, y = next(batches)
    assert y.tolist() == [3, 5, 4, 1]
    assert x.dtype == np.float32
    np.testing.assert_allclose(x[0, 1:3, 1:3, 0].ravel(), first, atol=2e-3)
    np.testing.assert_allclose(x.mean(), mean, atol=2e-4)
    x, y = next(batches)
    assert y.tolist() == [0, 2]
    np.testing.assert_allclose(x[1, :2, 3:, 2].ravel(), second, atol=2e-3)
    assert len(next(batches)[0]) == 4  # a new epoch


def test_fit_for_whole_images():
    made = image.ImageDataGenerator(
        featurewise_center=True, featurewise_std_normalization=True, rotation_range=20
    )
    with pytest.warns(UserWarning, match="featurewise_center has no effect before fit"):
        image.ImageDataGenerator(featurewise_center=True).standardize(X[0])
    made.fit(X, augment=True, rounds=2, seed=1)
    np.testing.assert_allclose(made.mean.ravel(), [126.257034, 124.07088, 122.49944], rtol=1e-5)
    np.testing.assert_allclose(made.std.ravel(), [52.880127, 53.793045, 53.26475], rtol=1e-5)
    with pytest.warns(UserWarning, match="featurewise_center is set"):
        made = image.ImageDataGenerator(zca_whitening=True)
    made.fit(X)
    np.testing.assert_allclose(
        made.standardize(X[1])[0, :2].ravel(),
        [0.2814, 0.6933, -0.3095, -0.0173, 0.0917, 0.1401], atol=2e-3,
    )  # fmt: skip


@pytest.mark.parametrize("fill_mode", image_transforms.FILL_MODES)
@pytest.mark.parametrize("order", [0, 1])
def test_interpolation_is_that_of_scipy(fill_mode, order):
    rng = np.random.default_rng(1)
    for _ in range(5):
        matrix = rng.normal(size=(2, 2)) * 2
        offset = rng.uniform(-20, 20, 2)
        whole = np.block([[matrix, offset[:, None]], [np.zeros((1, 2)), np.ones((1, 1))]])
        found = image_transforms._resampled(X[0], whole, fill_mode, 0.5, order)
        for channel in range(3):
            expected = scipy.ndimage.affine_transform(
                X[0, :, :, channel], matrix, offset, order=order, mode=fill_mode, cval=0.5
            )
            np.testing.assert_allclose(found[:, :, channel], expected, atol=1e-4)


def test_channels_first_and_splines():
    first = image.ImageDataGenerator(rotation_range=30, data_format="channels_first")
    last = image.ImageDataGenerator(rotation_range=30)
    for seed in range(3):
        moved = first.random_transform(X[0].transpose(2, 0, 1), seed)
        np.testing.assert_allclose(moved.transpose(1, 2, 0), last.random_transform(X[0], seed))
    still = image.apply_affine_transform(X[0], 90, order=3, fill_mode="reflect",
                                         row_axis=0, col_axis=1, channel_axis=2)  # fmt: skip
    assert still.shape == X[0].shape


def test_other_arrays_weights_and_subsets():
    made = image.ImageDataGenerator(validation_split=0.34)
    batch = next(made.flow((X, Y * 10), Y % 2, sample_weight=Y / 2, batch_size=3, shuffle=False))
    assert batch[0][1].tolist() == [0, 10, 20]
    np.testing.assert_array_equal(batch[0][0], X[:3])
    assert batch[1].tolist() == [0, 1, 0]
    assert batch[2].tolist() == [0, 0.5, 1]
    parts = [
        next(made.flow(X, Y % 2, subset=name, shuffle=False))[0]
        for name in ("validation", "training")
    ]
    np.testing.assert_array_equal(np.concatenate(parts), X)
    assert len(parts[0]) == 2
    with pytest.raises(tf.errors.InvalidArgumentError, match="all classes in both"):
        made.flow(X, Y, subset="training")
    assert len(next(made.flow(X, Y, subset="training", ignore_class_split=True))[0]) == 4


@pytest.fixture
def folder(tmp_path):
    for k, name in enumerate(("cats", "dogs")):
        (tmp_path / name / "inner").mkdir(parents=True)
        for i in range(3):
            place = tmp_path / name / ("inner" if i == 2 else "") / f"{i}.png"
            keras.utils.save_img(place, np.full((4, 4, 3), 10.0 * i + 100 * k), scale=False)
    (tmp_path / "dogs" / "notes.txt").write_text("not an image")
    return tmp_path


def test_batches_of_a_folder(folder, capsys):
    made = image.ImageDataGenerator(rescale=0.5, validation_split=0.34)
    batches = made.flow_from_directory(folder, (2, 3), batch_size=4, shuffle=False)
    assert capsys.readouterr().out == "Found 6 images belonging to 2 classes.\n"
    assert [name.replace("\\", "/") for name in batches.filenames[:3]] == [
        "cats/0.png", "cats/1.png", "cats/inner/2.png",
    ]  # fmt: skip
    assert batches.classes.tolist() == [0, 0, 0, 1, 1, 1]
    x, y = next(batches)
    assert x.shape == (4, 2, 3, 3)
    assert x[:, 0, 0, 0].tolist() == [0, 5, 10, 50]
    assert y.tolist() == [[1, 0], [1, 0], [1, 0], [0, 1]]
    sizes = {
        part: made.flow_from_directory(folder, (2, 2), subset=part, class_mode="binary").samples
        for part in ("training", "validation")
    }
    assert sizes == {"training": 4, "validation": 2}
    only = made.flow_from_directory(folder, (2, 2), classes=["dogs"], class_mode="sparse")
    assert next(only)[1].tolist() == [0, 0, 0]
    assert next(made.flow_from_directory(folder, (2, 2), class_mode=None)).shape == (6, 2, 2, 3)
    gray = made.flow_from_directory(folder, (2, 2), color_mode="grayscale", class_mode="input")
    x, y = next(gray)
    assert x.shape == (6, 2, 2, 1)
    np.testing.assert_array_equal(x, y)


def test_changed_images_are_written(folder, tmp_path):
    target = tmp_path / "written"
    target.mkdir()
    batches = image.ImageDataGenerator().flow_from_directory(
        folder, (2, 2), classes=["cats"], save_to_dir=target, save_prefix="a", save_format="jpeg"
    )
    next(batches)
    assert len(list(target.glob("a_*.jpeg"))) == 3


def test_batches_of_a_table(folder):
    table = {
        "file": ["cats/0.png", "dogs/0.png", "cats/9.png", "dogs/1.png"],
        "kind": ["b", "a", "a", "b"],
        "kinds": [["p"], ["p", "q"], ["q"], ["r"]],
        "price": [1.5, 2.0, 3.0, 4.0],
    }
    made = image.ImageDataGenerator()

    def batch(**options):
        with pytest.warns(UserWarning, match="1 names in the column 'file' are not existing"):
            found = made.flow_from_dataframe(
                table, folder, x_col="file", target_size=(2, 2), shuffle=False, **options
            )
        return found, next(found)

    found, (x, y, weight) = batch(y_col="kind", weight_col="price")
    assert x[:, 0, 0, 0].tolist() == [0, 100, 110]
    assert found.class_indices == {"a": 0, "b": 1}
    assert y.tolist() == [[0, 1], [1, 0], [0, 1]]
    assert weight.tolist() == [1.5, 2, 4]
    assert batch(y_col="kind", class_mode="binary")[1][1].tolist() == [1, 0, 1]
    assert batch(y_col="kinds")[1][1].tolist() == [[1, 0, 0], [1, 1, 0], [0, 0, 1]]
    assert batch(y_col="kinds", classes=["q", "p"])[1][1].tolist() == [[0, 1], [1, 1]]
    assert batch(y_col="price", class_mode="raw")[1][1].tolist() == [1.5, 2, 4]
    several = batch(y_col=["price", "kind"], class_mode="multi_output")[1][1]
    assert [each.tolist() for each in several] == [[1.5, 2, 4], ["b", "a", "b"]]
    assert batch(class_mode=None)[1].shape == (3, 2, 2, 3)
    with pytest.raises(TypeError, match=r"expected strings in column 'price'\. Use class"):
        batch(y_col="price")
    with pytest.raises(tf.errors.InvalidArgumentError, match="needs two classes, got 3"):
        batch(y_col="file", class_mode="binary", classes=["a", "b", "c"])


def test_a_model_trains_on_batches(folder):
    batches = image.ImageDataGenerator(rescale=1 / 255, horizontal_flip=True).flow_from_directory(
        folder, (4, 4), batch_size=2, class_mode="binary", seed=0
    )
    model = keras.Sequential([keras.layers.Flatten(), keras.layers.Dense(1)])
    model.compile(keras.optimizers.Adam(0.1), "mse")
    losses = model.fit(batches, epochs=8, verbose=0, validation_data=batches).history["loss"]
    assert losses[-1] < losses[0] / 2
    assert model.predict(batches, verbose=0).shape == (6, 1)
    made = tf.data.Dataset.from_generator(
        lambda: batches, output_types=(tf.float32, tf.float32),
        output_shapes=([None, 4, 4, 3], [None]),
    )  # fmt: skip
    assert [x.shape[0] for x, _ in made.take(4)] == [2, 2, 2, 2]


def test_bad_arguments(tmp_path):
    made = image.ImageDataGenerator
    for options, text in (
        ({"zoom_range": [1, 2, 3]}, r"zoom_range: expected two numbers, got \[1, 2, 3\]"),
        ({"brightness_range": 2}, "brightness_range: expected two numbers, got 2"),
        ({"validation_split": 1.5}, r"validation_split: expected a number in \(0, 1\), got 1.5"),
        ({"fill_mode": "edge"}, "fill_mode: expected one of .*, got 'edge'"),
    ):
        with pytest.raises(tf.errors.InvalidArgumentError, match=text):
            made(**options)
    for options, text in (
        ({"y": [1]}, "y: expected 6 rows, as many as images, got 1"),
        ({"subset": "test"}, "subset: expected 'training', 'validation' or None, got 'test'"),
    ):
        with pytest.raises(tf.errors.InvalidArgumentError, match=text):
            made().flow(X, **options)
    with pytest.raises(tf.errors.InvalidArgumentError, match="expected images of rank 4"):
        made().flow(X[0])
    with pytest.raises(tf.errors.InvalidArgumentError, match="batch 2 is out of range for 2"):
        made().flow(X, batch_size=3)[2]
    with pytest.raises(tf.errors.InvalidArgumentError, match="class_mode: expected 'categorical'"):
        made().flow_from_directory(tmp_path, class_mode="raw")
    with pytest.raises(tf.errors.InvalidArgumentError, match="expected the three axes of an image"):
        image.apply_affine_transform(X[0], 10, row_axis=0, col_axis=0)
