"""Images and texts of a folder: files, labels, splits and pixels are those of real Keras 3."""

import numpy as np
import pytest

from framework import keras

utils = keras.utils
RAMP = np.add.outer(np.arange(6) * 7, np.arange(9) * 5)


@pytest.fixture
def images(tmp_path):
    pytest.importorskip("PIL")
    for label in "ab":
        (tmp_path / label).mkdir()
        for number in range(3):
            x = RAMP[..., None] * [1, 2, 3] + 10 * number + (label == "b")
            utils.save_img(tmp_path / label / f"{number}.png", x.astype(np.uint8), scale=False)
    return tmp_path


def read(folder, size=(4, 5), **arguments):
    given = {"image_size": size, "shuffle": False, "verbose": False, **arguments}
    return utils.image_dataset_from_directory(folder, **given)


def numbers(text):
    return np.array(text.split(), float)


KERAS = {  # the first channel of a/0.png, 6 x 9 pixels, resized to 4 x 5 by Keras on TensorFlow
    "nearest": "0 10 20 30 40 14 24 34 44 54 21 31 41 51 61 35 45 55 65 75",
    "bilinear": """3.75 12.75 21.75 30.75 39.75 14.25 23.25 32.25 41.25 50.25 24.75 33.75 42.75
        51.75 60.75 35.25 44.25 53.25 62.25 71.25""",
    "bicubic": """2.707 12.176 21.175 30.174 39.643 13.782 23.251 32.25 41.249 50.718 24.282 33.751
        42.75 51.749 61.218 35.357 44.826 53.825 62.824 72.293""",
    "area": """4.556 13.444 22.333 31.222 40.111 13.889 22.778 31.667 40.556 49.444 25.556 34.444
        43.333 52.222 61.111 34.889 43.778 52.667 61.556 70.444""",
    "lanczos3": """2.344 11.899 20.997 30.096 39.65 13.88 23.434 32.533 41.631 51.186 23.814 33.369
        42.467 51.566 61.12 35.35 44.904 54.003 63.101 72.656""",
    "lanczos5": """2.351 11.713 21.015 30.317 39.68 13.922 23.285 32.586 41.888 51.251 23.749 33.112
        42.414 51.715 61.078 35.32 44.683 53.985 63.287 72.649""",
    "gaussian": """3.889 12.765 21.883 31.0 39.876 14.436 23.312 32.429 41.547 50.423 24.577 33.453
        42.571 51.688 60.564 35.124 44.0 53.117 62.235 71.111""",
    "mitchellcubic": """3.306 12.55 21.55 30.55 39.793 14.007 23.25 32.25 41.25 50.493 24.507 33.75
        42.75 51.75 60.993 35.207 44.45 53.45 62.45 71.694""",
}


@pytest.mark.parametrize("method", KERAS)
def test_resized_pixels(images, method):
    x, y = next(iter(read(images, batch_size=None, interpolation=method)))
    assert x.dtype.name == ("uint8" if method == "nearest" else "float32")
    assert (y.dtype.name, int(y)) == ("int32", 0)
    # TensorFlow's bicubic reads its kernel from a table of 1,024 values
    atol = 0.004 if method == "bicubic" else 0.001
    np.testing.assert_allclose(x.numpy()[..., 0].ravel(), numbers(KERAS[method]), atol=atol)


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({"size": (8, 12)}, "0 10.625 21.875 33.125 14.875 25.5 36.75 48 30.625 41.25 52.5 63.75"),
        ({"size": (8, 12), "interpolation": "lanczos3"}, """-0.583 10.205 21.47 32.479 14.521
            25.309 36.573 47.582 31.14 41.928 53.193 64.202"""),
        ({"size": 4, "crop_to_aspect_ratio": True}, "8 30.5 39.5 62"),
        ({"size": (4, 4), "color_mode": "rgba"}, "4.875 38.625 36.375 70.125"),
    ],
)  # fmt: skip
def test_larger_cropped_and_coloured_images(images, arguments, expected):
    x, _ = next(iter(read(images, batch_size=None, **arguments)))
    found = x.numpy()[::3, ::3, 0].ravel()
    np.testing.assert_allclose(found, numbers(expected), atol=0.001)


def test_padding_is_black_and_around_the_centre(images):
    padded = next(iter(read(images, (9, 9), labels=None, batch_size=1, pad_to_aspect_ratio=True)))
    expected = np.pad(RAMP, ((1, 2), (0, 0)))
    np.testing.assert_array_equal(padded.numpy()[0, ..., 0], expected)


def test_both_image_orders(images):
    last, _ = next(iter(read(images)))
    first, _ = next(iter(read(images, data_format="channels_first")))
    assert last.shape.as_list() == [6, 4, 5, 3]
    np.testing.assert_array_equal(first.numpy().transpose(0, 2, 3, 1), last.numpy())


def names(dataset):
    return [path.replace("\\", "/")[-7:] for path in dataset.file_paths]


def test_a_seed_gives_keras_split_of_the_files(images, capsys):
    both = utils.image_dataset_from_directory(
        images, validation_split=0.34, subset="both", seed=3, batch_size=2, image_size=(4, 4),
        label_mode="categorical",
    )  # fmt: skip
    assert "Found 6 files belonging to 2 classes." in capsys.readouterr().out
    assert names(both[0]) == ["b/0.png", "b/2.png", "b/1.png", "a/1.png"]
    assert names(both[1]) == ["a/0.png", "a/2.png"]
    x, y = next(iter(both[1]))
    assert x.numpy()[:, 0, 0, 0].astype(int).tolist() == [4, 24]
    assert y.tolist() == [[1, 0], [1, 0]]
    for subset, of_both in zip(("training", "validation"), both):
        part = read(images, seed=3, shuffle=True, subset=subset, validation_split=0.34)
        assert names(part) == names(of_both)
        assert part.class_names == ["a", "b"]


def test_batches_are_shuffled_with_their_labels(images):
    data = read(images, seed=1, shuffle=True, batch_size=4, interpolation="nearest")
    epochs = [[(x.numpy()[:, 0, 0, 0], y.numpy()) for x, y in data] for _ in range(2)]
    for epoch in epochs:
        x, y = (np.concatenate(parts) for parts in zip(*epoch))
        assert sorted(x) == [0, 1, 10, 11, 20, 21]
        np.testing.assert_array_equal(x % 2, y)  # images of b are odd
    assert np.concatenate([x for x, _ in epochs[0]]).tolist() != [
        *np.concatenate([x for x, _ in epochs[1]])
    ]


@pytest.mark.parametrize(
    ("arguments", "labels", "classes"),
    [
        ({"label_mode": "binary"}, [[0], [0], [0], [1], [1], [1]], ["a", "b"]),
        ({"class_names": ["b", "a"]}, [0, 0, 0, 1, 1, 1], ["b", "a"]),
        ({"class_names": ["b"]}, [0, 0, 0], ["b"]),
        ({"labels": [5, 5, 5, 7, 7, 7]}, [5, 5, 5, 7, 7, 7], ["5", "7"]),
    ],
)
def test_labels(images, arguments, labels, classes):
    data = read(images, **arguments)
    assert data.class_names == classes
    assert next(iter(data))[1].tolist() == labels


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({"labels": [1]}, "labels: expected one for each of the 6 files"),
        ({"labels": "none"}, "labels: expected 'inferred'"),
        ({"label_mode": "one_hot"}, "label_mode: expected one of 'int'"),
        ({"label_mode": "binary", "class_names": ["a"]}, "needs two classes"),
        ({"class_names": ["c"]}, "class_names: expected names from the subfolders"),
        ({"labels": None, "class_names": ["a"]}, "class_names: expected None"),
        ({"color_mode": "bgr"}, "color_mode"),
        ({"interpolation": "cubic"}, "interpolation: expected one of 'bilinear'"),
        ({"size": (4,)}, "image_size: expected two ints"),
        ({"subset": "training"}, "both or none of validation_split and subset"),
        ({"subset": "half", "validation_split": 0.5}, "subset: expected one of"),
        ({"subset": "both", "validation_split": 2}, "validation_split: expected a number in"),
        ({"subset": "both", "validation_split": 0.5, "shuffle": True}, "seed: expected an int"),
        ({"subset": "validation", "validation_split": 0.1}, "leaves no file for validation, of 6"),
        ({"format": "grain"}, "format: expected one of 'tf'"),
    ],
)
def test_images_say_what_is_wrong(images, arguments, told):
    with pytest.raises(ValueError, match=told):
        read(images, **arguments)


def test_texts(tmp_path):
    for label, texts in {"neg": ["bad", "worse"], "pos": ["gut, größer"]}.items():
        (tmp_path / label).mkdir()
        for number, text in enumerate(texts):
            (tmp_path / label / f"{number}.txt").write_text(text, "utf-8")
    (tmp_path / "pos" / "notes.md").write_text("no text of the set")

    def texts(**arguments):
        given = {"shuffle": False, "verbose": False, **arguments}
        return utils.text_dataset_from_directory(tmp_path, **given)

    data = texts()
    assert data.class_names == ["neg", "pos"]
    x, y = next(iter(data))
    assert x.dtype.name == "string"
    assert x.numpy().tolist() == [b"bad", b"worse", "gut, größer".encode()]
    assert y.tolist() == [0, 0, 1]
    single, _ = next(iter(texts(batch_size=None, max_length=2)))
    assert single.numpy() == b"ba"
    with pytest.raises(ValueError, match=r"no files that end with \.txt"):
        texts(class_names=[], labels="inferred")
    vectorize = keras.layers.TextVectorization(vocabulary=["bad", "worse"])
    assert vectorize(x).tolist()[:2] == [[2, 0], [3, 0]]


def test_a_model_trains_on_a_folder(images):
    train, validation = read(images, subset="both", validation_split=0.34, seed=0, shuffle=True)
    layers = [keras.layers.Rescaling(1 / 255), keras.layers.Flatten(), keras.layers.Dense(2)]
    model = keras.Sequential(layers)
    model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    history = model.fit(train, validation_data=validation, epochs=2, verbose=0).history
    assert np.isfinite([*history["loss"], *history["val_loss"]]).all()
