"""Low-rank adaptation: the sum of the weight and the delta, training, files, refusals."""

import numpy as np
import pytest

from framework import keras

layers = keras.layers
NUMBERS = np.random.default_rng(8).normal(size=(2, 6, 6, 4)).astype("float32")

# name -> (the layer, its inputs, the shapes of the factors)
CASES = {
    "Dense": (lambda **k: layers.Dense(3, "tanh", **k), NUMBERS[0, 0], ((4, 2), (2, 3))),
    "EinsumDense": (
        lambda **k: layers.EinsumDense("abc,cde->abde", (None, 2, 3), bias_axes="e", **k),
        NUMBERS[0], ((4, 2, 2), (2, 3)),
    ),
    "Embedding": (lambda **k: layers.Embedding(5, 3, **k), np.array([[1, 4]]), ((5, 2), (2, 3))),
    "ReversibleEmbedding": (
        lambda **k: layers.ReversibleEmbedding(5, 3, tie_weights=False, **k), np.array([[1, 4]]),
        ((5, 2), (2, 3)),
    ),
    "Conv1D": (lambda **k: layers.Conv1D(3, 2, **k), NUMBERS[0], ((2, 4, 2), (2, 3))),
    "Conv2D": (lambda **k: layers.Conv2D(3, 2, **k), NUMBERS, ((2, 2, 4, 2), (2, 3))),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_layers_add_the_delta_and_merge_it_in_files(name):
    make, x, shapes = CASES[name]
    layer = make(lora_rank=2, lora_alpha=3.0)
    before = layer(x).numpy()
    weight, factors = layer.weights[0], [v for v in layer.weights if "lora" in v.name]
    assert not weight.trainable
    assert [tuple(v.shape) for v in factors] == list(shapes)
    assert [v.name[:5] for v in factors] == ["lora_", "lora_"]
    factors[1].assign(np.ones(shapes[1]))
    assert np.abs(layer(x).numpy() - before).max() > 0.01
    merged = weight.numpy() + 1.5 * factors[0].numpy() @ np.ones(shapes[1])
    store = {}
    layer.save_own_variables(store)
    np.testing.assert_allclose(store["0"], merged, rtol=1e-6, atol=1e-6)
    assert len(store) == len(layer.weights) - 2
    for other in (make(), type(layer).from_config(layer.get_config())):
        other(x)
        other.load_own_variables(store)
        np.testing.assert_allclose(other(x), layer(x), rtol=1e-5, atol=1e-6)
    assert "lora_rank" not in make().get_config()
    assert layer.get_config()["lora_alpha"] == 3.0


def test_a_model_trains_its_factors_only(tmp_path):
    model = keras.Sequential([layers.Dense(3, name="a"), layers.Dense(1, name="b")])
    model.build((None, 4))
    model.layers[0].enable_lora(1)
    model.layers[1].trainable = False
    before = model.get_weights()
    model.compile("sgd", "mse")
    x = NUMBERS[0, 0]
    model.fit(x, x[:, :1], epochs=3, verbose=0)
    names = [v.name for v, old in zip(model.weights, before) if not np.array_equal(v, old)]
    assert names == ["bias", "lora_kernel_a", "lora_kernel_b"]
    for file in ("m.keras", "m.weights.h5"):
        expected = model.predict(x, verbose=0)
        if file == "m.keras":
            model.save(tmp_path / file)
            model = keras.models.load_model(tmp_path / file)
        else:
            model.save_weights(tmp_path / file)
            model.load_weights(tmp_path / file)
        np.testing.assert_allclose(model.predict(x, verbose=0), expected, rtol=1e-5, atol=1e-6)


def test_refusals():
    dense = layers.Dense(2, lora_rank=1)
    with pytest.raises(AttributeError, match="build the layer before accessing `kernel`"):
        dense.kernel  # noqa: B018 (reading it raises)
    dense.build((None, 4))
    with pytest.raises(ValueError, match="once per layer"):
        dense.enable_lora(2)
    with pytest.raises(ValueError, match="built"):
        layers.Embedding(3, 2).enable_lora(2)
    with pytest.raises(ValueError, match="remove embeddings_constraint"):
        layers.Embedding(3, 2, embeddings_constraint="non_neg", lora_rank=1)(np.array([0]))
    with pytest.raises(ValueError, match="remove kernel_constraint"):
        layers.Dense(3, kernel_constraint="non_neg", lora_rank=1).build((None, 4))
