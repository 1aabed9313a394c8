import inspect
import json

import numpy as np
import pytest

import framework as tf
from framework import losses
from framework.core.configurable import fields_of
from framework.core.registry import snake_case
from framework.core.symbolic import KerasTensor
from framework.keras.losses import Reduction
from framework.keras.ops import ctc_loss
from tests.looped import Properties, looped
from tests.losses.reductions import DEEP, DEEP_MASKS, DEEP_WEIGHTS, REDUCED, REDUCTIONS
from tests.samples.losses import SAMPLES, WAVE, sigmoid

losses.losses.load_all()
CASES = [(name, s.arguments, s.data, s.formula) for name in SAMPLES for s in SAMPLES[name]]
IDS = [f"{name}-{i}" for name in SAMPLES for i in range(len(SAMPLES[name]))]
IN_KERAS = [(name, s) for name in SAMPLES for s in SAMPLES[name] if s.keras]
every_case = Properties()


@pytest.mark.parametrize(("name", "arguments", "data", "formula"), CASES, ids=IDS)
def test_a_loss(name, arguments, data, formula):
    every_case.hold(name, arguments, data, formula)


def make(name, /, **arguments):
    return getattr(losses, name)(**arguments)


def with_mask(array, mask, dtype):
    tensor = tf.constant(array.astype(dtype))
    if mask is not None:
        tensor._keras_mask = tf.constant(mask)
    return tensor


def test_every_loss_has_a_sample():
    classes = {n for n, c in losses.losses.by_name.items() if inspect.isclass(c)}
    assert set(SAMPLES) == classes
    assert {snake_case(n) for n in classes} == set(losses.losses.by_name) - classes


@every_case
def samples_follow_the_formula(name, arguments, data, formula):
    found = make(name, **arguments, reduction="none", dtype="float64")(*data)
    np.testing.assert_allclose(found.numpy(), formula(*data), rtol=1e-7, atol=1e-12)


@every_case
def functions_give_what_the_classes_reduce(name, arguments, data, formula):
    function = getattr(losses, snake_case(name))
    found = function(*data, **arguments)
    assert found.dtype == "float64"  # the dtype of y_pred; classes compute in floatx
    np.testing.assert_allclose(found.numpy(), formula(*data), rtol=1e-7, atol=1e-12)


@pytest.mark.parametrize("cls", losses.losses.classes.values())
def test_fields_are_the_parameters_of_the_formula(cls):
    parameters = list(inspect.signature(cls._framework.formula).parameters.values())[2:]
    fields = fields_of(cls).items()
    own = {n: f.default for n, f in fields if n not in fields_of(losses.Loss)}
    if cls is losses.CategoricalGeneralizedCrossEntropy:  # in Keras its function has no default
        assert own.pop("q") == 0.5
        parameters.pop()
    given = {p.name: p.default for p in parameters if not p.name.startswith("ref_")}  # circle's
    assert own == given
    assert cls is losses.Circle or list(own) == list(given)


@pytest.mark.parametrize(("name", "sample"), IN_KERAS)
def test_numbers_are_keras(name, sample):
    reduced, samples = sample.keras
    found = make(name, **sample.arguments)(*sample.data)
    assert (found.dtype, found.shape) == ("float32", ())
    np.testing.assert_allclose(found.numpy(), reduced, rtol=3e-6)
    each = make(name, **sample.arguments, reduction=None)(*sample.data)
    np.testing.assert_allclose(each.numpy(), samples, rtol=3e-6, atol=2e-7)


@looped("reduction", REDUCTIONS)
@looped("weights", DEEP_WEIGHTS)
@looped("mask", DEEP_MASKS)
def test_reductions_weights_and_masks_are_keras(reduction, weights, mask):
    loss = losses.MeanSquaredError(reduction=reduction)
    y_pred = with_mask(DEEP[1], DEEP_MASKS[mask], "float32")
    found = loss(DEEP[0], y_pred, sample_weight=DEEP_WEIGHTS[weights]).numpy()
    np.testing.assert_allclose(
        np.ravel(found), np.ravel(REDUCED[reduction, weights, mask]), rtol=1e-6
    )


def reduced(values, weights, mask, reduction):
    """A reference of the base class: means are over unmasked values."""
    size = values.size
    weights = np.ones(values.shape) if weights is None else weights
    total = (values * weights * mask).sum()
    if reduction == "none":
        return values * weights * mask
    if reduction == "sum":
        return total
    divisor = (weights * mask).sum() if reduction == "mean_with_sample_weight" else mask.sum()
    return total / divisor if size else 0.0


# a class that is ignored brings a mask of its own: tested below
@looped("reduction", REDUCTIONS)
@looped("weighted", [False, True])
@looped("masked", [False, True])
@pytest.mark.parametrize(
    ("name", "arguments", "data", "formula"), [c for c in CASES if "ignore_class" not in c[1]]
)
def test_every_loss_is_reduced_the_same_way(
    name, arguments, data, formula, reduction, weighted, masked
):
    mask = np.array([True, False, True, True]) if masked else np.ones(4, bool)
    weights = np.array([0.5, 2.0, 3.0, 0.25]) if weighted else None
    loss = make(name, **arguments, reduction=reduction, dtype="float64")
    y_pred = with_mask(data[1], mask if masked else None, "float64")
    expected = reduced(formula(*data), weights, mask, reduction)
    columns = (weights,) if weights is None else (weights, weights[:, None])
    for sample_weight in columns:  # (n,) and (n, 1)
        found = loss(data[0], y_pred, sample_weight=sample_weight).numpy()
        np.testing.assert_allclose(np.ravel(found), np.ravel(expected), rtol=1e-7, atol=1e-12)


@every_case
def gradients_are_those_of_finite_differences(name, arguments, data, formula):
    loss = make(name, **arguments, dtype="float64")
    labels, predictions = data
    y_pred = tf.constant(predictions.astype("float64"))
    sources = [y_pred]
    if labels.dtype.kind == "f" and "Hinge" not in name:
        sources.append(tf.constant(labels))
    with tf.GradientTape() as tape:
        tape.watch(sources)
        value = loss(sources[1] if len(sources) > 1 else labels, y_pred)
    gradients = tape.gradient(value, sources)
    for i, (source, gradient) in enumerate(zip(sources, gradients, strict=True)):
        expected = np.zeros(source.shape)
        for index in np.ndindex(*source.shape):
            moved = [np.array(predictions, float), np.array(labels, labels.dtype)]
            ends = []
            for step in (1e-6, -1e-6):
                moved[i][index] = source.array[index] + step
                ends.append(float(loss(moved[1], moved[0])))
            expected[index] = (ends[0] - ends[1]) / 2e-6
        np.testing.assert_allclose(gradient.numpy(), expected, rtol=1e-5, atol=1e-8)


@every_case
def configs_make_equal_losses(name, arguments, data, formula):
    loss = make(name, **arguments, reduction="sum", name="mine")
    config = json.loads(json.dumps(loss.get_config()))
    again = type(loss).from_config(config)
    assert again.get_config() == loss.get_config()
    assert (again.name, again.reduction) == ("mine", "sum")
    assert float(again(*data)) == float(loss(*data))
    assert float(losses.deserialize(losses.serialize(loss))(*data)) == float(loss(*data))


def test_a_dtype_is_in_the_config_where_it_is_not_floatx():
    assert losses.Huber(dtype="float64").get_config()["dtype"] == "float64"
    assert "dtype" not in losses.Huber().get_config()


@pytest.mark.parametrize("name", SAMPLES)
def test_keras_names_find_classes_and_functions(name):
    assert type(losses.get(name)) is getattr(losses, name)
    assert losses.get(snake_case(name)) is getattr(losses, snake_case(name))
    assert type(losses.as_loss(snake_case(name))) is getattr(losses, name)


@pytest.mark.parametrize(
    ("short", "long"),
    [
        ("mse", "mean_squared_error"),
        ("MSE", "mean_squared_error"),
        ("mae", "mean_absolute_error"),
        ("mape", "mean_absolute_percentage_error"),
        ("msle", "mean_squared_logarithmic_error"),
        ("bce", "binary_crossentropy"),
        ("kld", "kl_divergence"),
    ],
)
def test_short_names(short, long):
    assert losses.get(short) is getattr(losses, long)


def test_get_takes_what_keras_takes():
    loss = losses.Huber()
    assert losses.get(None) is None
    assert losses.get(loss) is loss
    assert type(losses.get(losses.Huber)) is losses.Huber
    config = {"class_name": "Huber", "config": {"delta": 0.5}}
    assert losses.get(config).delta == 0.5
    assert type(losses.deserialize({"class_name": "My", "config": {}}, {"My": losses.Hinge}))


def test_an_unknown_name_suggests_the_nearest():
    with pytest.raises(ValueError, match="'mean_squard_error'; did you mean 'mean_squared_error'"):
        losses.get("mean_squard_error")


@pytest.mark.parametrize(
    ("true", "pred", "form"),
    [
        ((8, 1), (8, 1), "BinaryCrossentropy"),
        ((8,), (8, 3), "SparseCategoricalCrossentropy"),
        ((8, 1), (8, 3), "SparseCategoricalCrossentropy"),
        ((8, 3), (8, 3), "CategoricalCrossentropy"),
    ],
)
def test_crossentropy_is_chosen_by_shapes(true, pred, form):
    assert type(losses.as_loss("crossentropy", true, pred)).__name__ == form


# ---- shapes and dtypes of labels ---------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["uint8", "int32", "int64", "float32"])
@pytest.mark.parametrize("shape", [(4,), (4, 1)])
@pytest.mark.parametrize("from_logits", [False, True])
def test_sparse_labels_of_any_dtype_and_both_shapes(dtype, shape, from_logits):
    labels, predictions = SAMPLES["SparseCategoricalCrossentropy"][0].data
    loss = losses.SparseCategoricalCrossentropy(from_logits=from_logits)
    expected = float(loss(labels, predictions))
    assert float(loss(labels.astype(dtype).reshape(shape), predictions)) == expected


@pytest.mark.parametrize("name", ["mean_squared_error", "mean_absolute_error", "huber", "log_cosh"])
def test_a_lone_axis_of_labels_fits_a_column_of_predictions(name):
    """Broadcasting shapes (n,) and (n, 1) must not give n x n differences."""
    y, p = np.arange(3.0), np.array([[1.0], [1.0], [1.0]])
    function = getattr(losses, name)
    expected = function(y[:, None], p).numpy()
    np.testing.assert_array_equal(function(y, p).numpy(), expected)
    np.testing.assert_array_equal(function(p, y).numpy(), function(p, y[:, None]).numpy())


def test_integers_and_lists_become_floats():
    found = losses.mean_squared_error([0, 1], [1, 3])
    assert (found.dtype, float(found)) == ("float32", 2.5)
    assert losses.MeanSquaredError(dtype="float16")([0, 1], [1, 3]).dtype == "float16"
    variable = tf.Variable([1.0, 3.0])
    assert float(losses.MeanSquaredError()([0.0, 1.0], variable)) == 2.5


@pytest.mark.parametrize(("name", "arguments"), [
    ("CategoricalCrossentropy", {}), ("CategoricalCrossentropy", {"from_logits": True}),
    ("SparseCategoricalCrossentropy", {}), ("SparseCategoricalCrossentropy", {"from_logits": True}),
    ("SparseCategoricalCrossentropy", {"ignore_class": 1}),
])  # fmt: skip
def test_classes_on_another_axis(name, arguments):
    rng = np.random.default_rng(0)
    predictions = rng.uniform(0.1, 1.0, (2, 5, 3))
    classes = rng.integers(0, 3, (2, 5))
    labels = classes if "Sparse" in name else np.eye(3)[classes]
    last = make(name, **arguments)(labels, predictions)
    moved = labels if "Sparse" in name else np.moveaxis(labels, -1, 1)
    other = make(name, **arguments, axis=1)(moved, np.moveaxis(predictions, -1, 1))
    np.testing.assert_allclose(other.numpy(), last.numpy(), rtol=1e-6)


def test_logits_may_be_huge():
    logits, labels = np.array([[1000.0, -1000.0], [-1000.0, 1000.0]]), np.array([[1.0, 0.0]] * 2)
    for loss, y in (
        (losses.CategoricalCrossentropy(from_logits=True, reduction=None), labels),
        (losses.SparseCategoricalCrossentropy(from_logits=True, reduction=None), np.zeros(2)),
    ):
        np.testing.assert_allclose(loss(y, logits).numpy(), [0.0, 2000.0])
    binary = losses.BinaryCrossentropy(from_logits=True, reduction=None)
    np.testing.assert_allclose(binary(labels, logits).numpy(), [0.0, 1000.0])
    near = losses.binary_crossentropy([[1.0]], [[20.0]], from_logits=True)
    np.testing.assert_allclose(near.numpy(), [np.log1p(np.exp(-20.0))], rtol=1e-6)


def test_certain_and_wrong_probabilities_cost_a_finite_loss():
    for loss in (
        losses.binary_crossentropy([[1.0]], [[0.0]]),
        losses.categorical_crossentropy([[1.0, 0.0]], [[0.0, 1.0]]),
        losses.sparse_categorical_crossentropy([0], np.array([[0.0, 1.0]], "float32")),
    ):
        np.testing.assert_allclose(loss.numpy(), [-np.log(1e-7)], rtol=1e-6)


def test_an_ignored_class_counts_for_nothing():
    labels, logits = np.array([0, -1, 1]), np.array([[1.0, 2.0], [np.nan, 5.0], [0.5, 0.25]])
    loss = losses.SparseCategoricalCrossentropy(from_logits=True, ignore_class=-1)
    y_pred = tf.constant(logits, "float32")
    with tf.GradientTape() as tape:
        tape.watch(y_pred)
        value = loss(labels, y_pred)
    kept = losses.SparseCategoricalCrossentropy(from_logits=True)(labels[[0, 2]], logits[[0, 2]])
    np.testing.assert_allclose(value.numpy(), kept.numpy(), rtol=1e-6)
    gradient = tape.gradient(value, y_pred).numpy()
    assert (gradient[1] == 0).all()
    assert np.isfinite(gradient).all()


# ---- losses of masks, embeddings and sequences: Keras 3.15 on JAX --------------------------------


@pytest.mark.parametrize("name", ["Dice", "Tversky"])
def test_a_loss_of_the_whole_batch(name):
    data = SAMPLES["Dice"][1].data[0], sigmoid(WAVE[12:24].reshape(4, 3))
    loss, weights = make(name), np.array([0.5, 2.0, 3.0, 0.25])
    assert float(loss(*data)) == pytest.approx(0.50571865, rel=2e-6)
    assert float(loss(*data, sample_weight=weights)) == pytest.approx(0.72697055, rel=2e-6)
    found = make(name, reduction="sum")(*data, sample_weight=weights)
    assert float(found) == pytest.approx(2.9078822, rel=2e-6)
    nothing = np.zeros((2, 3))
    assert (float(loss(nothing, nothing)), float(loss(nothing[:0], nothing[:0]))) == (1.0, 1.0)
    with pytest.raises(ValueError, match=r"axis=1\.5: expected an int, a list of ints"):
        make(name, axis=1.5)


def test_embeddings_without_a_partner_do_not_count():
    labels, embeddings = np.array([0, 1, 0, 5]), SAMPLES["Circle"][0].data[1]
    y_pred = tf.constant(embeddings)
    with tf.GradientTape() as tape:
        tape.watch(y_pred)
        each = losses.circle(labels, y_pred, gamma=2.0)
    np.testing.assert_allclose(each.numpy(), [4.263254, 0.0, 3.3129623, 0.0], rtol=2e-6)
    assert np.isfinite(tape.gradient(each, y_pred).numpy()).all()
    assert float(losses.Circle(2.0)(labels, embeddings)) == pytest.approx(3.7881083, rel=2e-6)
    summed = losses.Circle(2.0, reduction="sum")
    found = summed(labels[:, None], embeddings, sample_weight=[1.0, 2.0, 3.0, 4.0])
    assert float(found) == pytest.approx(14.202141, rel=2e-6)


def test_embeddings_against_references():
    labels, embeddings = SAMPLES["Circle"][0].data
    others = WAVE[20:35].reshape(3, 5).copy()
    others /= np.linalg.norm(others, axis=-1, keepdims=True)
    found = losses.circle(
        labels, embeddings, ref_labels=[1, 0, 2], ref_embeddings=others, remove_diagonal=False,
        gamma=2, margin=0.3,
    )  # fmt: skip
    np.testing.assert_allclose(found, [2.435978, 0.9338589, 0.9806713, 7.196443], rtol=2e-6)
    with pytest.raises(ValueError, match="circle: ref_labels: y_true of shape"):
        losses.circle(labels, embeddings, ref_labels=[1, 0], ref_embeddings=others)


LOGITS = (WAVE[:48].reshape(3, 4, 4) * 2).astype("float32")


def test_sequences_of_given_lengths():
    labels = np.array([[1, 1, 1], [3, 2, 0], [0, 3, -7]])
    found = ctc_loss(labels, LOGITS, [3, 2, 1], [4, 4, 2], mask_index=3)
    assert found.dtype == "float32"
    np.testing.assert_allclose(found, [1.0000184e05, 1.8374538, 4.7010260], rtol=2e-6)
    found = ctc_loss(labels, LOGITS.astype("float64"), [3, 2, 0], [4, 0, 2])
    assert found.dtype == "float64"
    np.testing.assert_allclose(found, [1.0000409e05, 99999.305, 5.0851254], rtol=2e-6)


def test_labels_that_do_not_fit_into_the_steps_have_a_gradient():
    y_pred = tf.constant(LOGITS[:, :3])
    with tf.GradientTape() as tape:
        tape.watch(y_pred)
        found = losses.ctc([[1, 1, 1], [1, 2, 3], [3, 3, 0]], y_pred)
    np.testing.assert_allclose(found, [1.0000187e05, 6.8474798, 9.4318962], rtol=2e-6)
    gradient = tape.gradient(found, y_pred).numpy()
    assert np.isfinite(gradient).all()
    assert (np.abs(gradient).sum((1, 2)) > 0.1).all()


def test_an_impossible_class_of_logits():
    logits = np.array([[[0.0, 1.0, -np.inf], [0.5, 0.25, -np.inf]]], "float32")
    y_pred = tf.constant(logits)
    with tf.GradientTape() as tape:
        tape.watch(y_pred)
        found = losses.ctc([[1]], y_pred)
    np.testing.assert_allclose(found, losses.ctc([[1]], logits[..., :2]), rtol=1e-6)
    assert np.isfinite(tape.gradient(found, y_pred).numpy()).all()


def test_focal_losses_of_large_logits_are_exact():
    found = losses.binary_focal_crossentropy([[1.0, 0.0]], [[-50.0, -50.0]], from_logits=True)
    np.testing.assert_array_equal(found, [25.0])
    found = losses.categorical_focal_crossentropy([[1.0, 0.0]], [[-50.0, 50.0]], from_logits=True)
    np.testing.assert_array_equal(found, [25.0])


@pytest.mark.parametrize("p", [0.0, 1.0])
@pytest.mark.parametrize(("name", "labels"), [
    ("BinaryFocalCrossentropy", [[1.0, 0.0]]), ("CategoricalFocalCrossentropy", [[1.0, 0.0]]),
    ("CategoricalGeneralizedCrossEntropy", [1]),
])  # fmt: skip
def test_certain_probabilities_have_finite_slopes(name, labels, p):
    options = {"q": 0.5} if "General" in name else {"gamma": 0.5}
    y_pred = tf.constant([[1.0 - p, p]])
    with tf.GradientTape() as tape:
        tape.watch(y_pred)
        value = make(name, **options)(labels, y_pred)
    assert np.isfinite([float(value), *tape.gradient(value, y_pred).numpy().ravel()]).all()


def test_labels_of_the_generalized_cross_entropy_may_be_a_column():
    labels, predictions = SAMPLES["CategoricalGeneralizedCrossEntropy"][0].data
    loss = losses.CategoricalGeneralizedCrossEntropy(0.7)
    assert float(loss(labels[:, None], predictions)) == float(loss(labels, predictions))
    with pytest.raises(ValueError, match=r"q=1.0: expected a number in the open interval \(0, 1\)"):
        losses.CategoricalGeneralizedCrossEntropy(1.0)


# ---- errors ------------------------------------------------------------------------------------


@pytest.mark.parametrize("label", [3, -1, np.nan])
@pytest.mark.parametrize("from_logits", [False, True])
def test_a_label_out_of_range_is_named(label, from_logits):
    loss = losses.SparseCategoricalCrossentropy(from_logits=from_logits)
    message = f"the label {label}.*3 classes: expected labels from 0 to 2.*ignore_class"
    with pytest.raises(tf.errors.OutOfRangeError, match=message):
        loss(np.array([0, label, 1]), np.ones((3, 3)))


@pytest.mark.parametrize(("name", "true", "pred", "message"), [
    ("mean_squared_error", (4,), (4, 3), r"y_true of shape \(4,\) does not fit.*\(4, 3\)"),
    ("mean_squared_error", (), (), "expected equal shapes of rank 1 or more"),
    ("categorical_crossentropy", (4,), (4, 3), "sparse_categorical_crossentropy, or one-hot"),
    ("categorical_crossentropy", (4, 2), (4, 3), "must have the same shape"),
    ("categorical_crossentropy", (0, 3), (4, 3), "must have the same shape"),
    ("binary_crossentropy", (4, 2), (4, 3), "must have the same shape"),
    ("sparse_categorical_crossentropy", (5,), (4, 3), r"in shape \(4,\)"),
    ("sparse_categorical_crossentropy", (4, 3), (4, 3), "use categorical_crossentropy"),
    ("hinge", (4, 2), (4, 3), "hinge: y_true of shape"),
    ("categorical_focal_crossentropy", (4,), (4, 3), "or one-hot"),
    ("binary_focal_crossentropy", (4, 2), (4, 3), "must have the same shape"),
    ("dice", (4, 1), (4, 3), "must have the same shape"),
    ("circle", (4,), (4, 3, 2), r"embeddings of shape \(batch, size\)"),
    ("circle", (4, 2), (4, 3), r"one integer label per embedding, in shape \(4,\)"),
    ("ctc", (4,), (4, 3, 5), r"labels of shape \(batch, labels\)"),
    ("ctc", (4, 2), (4, 5), r"logits of shape \(batch, steps, classes\)"),
    ("ctc", (3, 2), (4, 3, 5), r"`target` must have shape \(4, None\)"),
])  # fmt: skip
def test_shapes_that_do_not_fit(name, true, pred, message):
    with pytest.raises(ValueError, match=message):
        getattr(losses, name)(np.zeros(true, "float32"), np.ones(pred, "float32"))


@pytest.mark.parametrize("shape", [(2,), (3,), (2, 3, 4), (4,)])
def test_sample_weights_that_do_not_fit(shape):
    with pytest.raises(ValueError, match=r"sample_weight of shape .* values of shape \(2, 3\)"):
        losses.MeanSquaredError()(*DEEP, sample_weight=np.ones(shape))


@pytest.mark.parametrize(("arguments", "message"), [
    ({"reduction": "average"}, r"reduction='average': expected one of 'sum_over_batch_size'"),
    ({"from_logits": True}, "has no argument 'from_logits'"),
    ({"name": 3}, "expected a string or None"),
    ({"dtype": "float33"}, "float33"),
])  # fmt: skip
def test_wrong_arguments(arguments, message):
    with pytest.raises((ValueError, TypeError), match=message):
        losses.MeanSquaredError(**arguments)


def test_label_smoothing_is_a_share():
    with pytest.raises(ValueError, match=r"label_smoothing=1.5: expected a number in \[0, 1\]"):
        losses.BinaryCrossentropy(label_smoothing=1.5)


# ---- own losses --------------------------------------------------------------------------------


def test_a_class_of_ones_own():
    class Weighted(losses.Loss):
        def __init__(self, factor, name="weighted", **kwargs):
            super().__init__(name=name, **kwargs)
            self.factor = factor

        def call(self, y_true, y_pred):
            assert y_true.dtype == y_pred.dtype == "float32"
            return abs(y_true - y_pred) * self.factor

        def get_config(self):
            return {**super().get_config(), "factor": self.factor}

    loss = Weighted(2.0, reduction="sum")
    assert float(loss(np.arange(3), np.ones(3))) == 4.0
    again = Weighted.from_config(loss.get_config())
    assert (again.factor, again.reduction, again.name) == (2.0, "sum", "weighted")


def test_a_name_by_position_as_keras():
    class Own(losses.Loss):
        def __init__(self):
            super().__init__("own", "sum")

        def call(self, y_true, y_pred):
            return abs(y_true - y_pred)

    assert (Own().name, float(Own()([0.0, 0.0], [1.0, 2.0]))) == ("own", 3.0)
    assert list(inspect.signature(losses.Loss).parameters) == ["name", "reduction", "dtype"]

    class Factor(losses.Loss):
        factor: float = 1.0

    assert Factor(2.0, name="own").factor == 2.0
    with pytest.raises(TypeError, match=r"takes 1 positional arguments \(factor\), got 2"):
        Factor(2.0, "own")


ONES = np.ones((2, 3), "float32")


@pytest.mark.parametrize(
    ("y_true", "y_pred"),
    [
        ({"u": ONES, "v": ONES[:, :1]}, {"u": 0 * ONES, "v": 3 * ONES[:, :1]}),
        ([ONES, ONES[:, :1]], (0 * ONES, tf.constant(3 * ONES[:, :1]))),
        ([ONES, ONES], [0 * ONES, tf.constant(3 * ONES)]),
        ({"u": ONES, "v": [[1], [1]]}, {"u": 0 * ONES, "v": np.float64([[3], [3]])}),
        ([ONES, {"v": ONES}], [0 * ONES, {"v": 3 * ONES}]),
    ],
)
def test_structures_reach_call_as_they_are(y_true, y_pred):  # 1 + 2, as Keras has it
    def distance(y_true, y_pred):
        if isinstance(y_true, dict):
            pairs = [(y_true[key], y_pred[key]) for key in y_true]
            return sum(distance(a, b) for a, b in pairs)
        if y_true[0].ndim == 2:  # the batches of two outputs, not the rows of one
            return distance(y_true[0], y_pred[0]) + distance(y_true[1], y_pred[1])
        assert y_true.dtype == y_pred.dtype == "float32"
        return tf.reduce_mean(abs(y_true - y_pred), -1)

    class Own(losses.Loss):
        def call(self, y_true, y_pred):
            return distance(y_true, y_pred)

    loss = Own()(y_true, y_pred)
    assert float(loss) == float(losses.LossFunctionWrapper(distance)(y_true, y_pred)) == 3.0
    weighted = Own(reduction="sum")(y_true, y_pred, sample_weight=[1.0, 0.0])
    assert float(weighted) == 3.0


def test_a_function_gets_each_pair_of_a_structure_in_one_rank():
    def distance(y_true, y_pred):
        return tf.reduce_mean(abs(y_true["u"] - y_pred["u"]), -1)

    loss = losses.LossFunctionWrapper(distance)
    assert float(loss({"u": [1.0, 3.0]}, {"u": [[1.0], [3.0]]})) == 0.0


def test_a_class_that_forgets_super_has_the_defaults():
    class Forgetful(losses.Loss):
        def __init__(self):
            self.factor = 2.0

        def call(self, y_true, y_pred):
            return abs(y_true - y_pred) * self.factor

    assert float(Forgetful()([0.0, 0.0], [1.0, 2.0])) == 3.0


def test_one_class_is_worth_a_warning():
    with pytest.warns(SyntaxWarning, match="binary_crossentropy"):
        losses.categorical_crossentropy([[1.0]], [[0.3]])


def test_unnamed_losses_are_numbered():
    class SomeLoss(losses.Loss):
        pass

    assert [SomeLoss().name, SomeLoss().name] == ["some_loss", "some_loss_1"]
    with pytest.raises(NotImplementedError, match="SomeLoss must define call"):
        SomeLoss()([1.0], [1.0])


def test_a_function_of_ones_own():
    def distance(y_true, y_pred, power=1):
        return tf.reduce_mean(abs(y_true - y_pred) ** power, -1)

    loss = losses.LossFunctionWrapper(distance, reduction="sum", power=2)
    y, p = SAMPLES["MeanSquaredError"][0].data
    np.testing.assert_allclose(float(loss(y, p)), float(losses.MeanSquaredError("sum")(y, p)))
    assert loss.get_config()["fn"]["config"] == "distance"
    assert losses.as_loss(distance).name == "distance"
    wrapper = losses.LossFunctionWrapper(losses.huber, delta=0.3)
    again = losses.LossFunctionWrapper.from_config(wrapper.get_config())
    assert float(again(y, p)) == float(losses.Huber(0.3)(y, p))
    with pytest.raises(ValueError, match="expected a function"):
        losses.LossFunctionWrapper("mse")


def test_a_loss_that_is_one_number_already():
    loss = losses.LossFunctionWrapper(lambda y, p: tf.reduce_sum(y - p))
    assert float(loss([3.0, 3.0], [1.0, 1.0])) == 4.0


def test_arguments_by_position_as_keras():
    assert losses.MeanSquaredError("sum", "mine").reduction == "sum"
    assert losses.SparseCategoricalCrossentropy(True, None, "sum", -1).reduction == "sum"
    assert list(inspect.signature(losses.SparseCategoricalCrossentropy).parameters) == [
        "from_logits", "ignore_class", "reduction", "axis", "name", "dtype",
    ]  # fmt: skip


@every_case
def symbolic_calls_give_one_value_per_sample(name, arguments, data, formula):
    loss = make(name, **arguments, reduction="none")
    y_true, y_pred = (KerasTensor((None, *x.shape[1:]), x.dtype) for x in data)
    found = loss(y_true, y_pred)
    assert (found.shape, found.dtype) == ((None,), "float32")


@pytest.mark.parametrize("shape", [(0,), (0, 3)])
def test_empty_batches(shape):
    empty = np.zeros(shape, "float32")
    found = losses.MeanSquaredError(reduction="sum")(empty[None], empty[None])
    assert found.shape == ()
    assert losses.MeanAbsoluteError()(np.zeros((0, 4, 2)), np.zeros((0, 4, 2))).numpy() == 0


def test_older_names_of_reductions():
    names = Reduction
    assert names.all() == ("auto", "none", "sum", "sum_over_batch_size")
    y, p = np.zeros((2, 2)), np.array([[1.0, 2.0], [3.0, 4.0]])
    for reduction, expected in [(names.AUTO, 7.5), (names.SUM, 15.0), (names.NONE, [2.5, 12.5]),
                                (names.SUM_OVER_BATCH_SIZE, 7.5)]:  # fmt: skip
        loss = losses.MeanSquaredError(reduction=reduction)
        np.testing.assert_allclose(loss(y, p), expected)
        again = type(loss).from_config(loss.get_config())
        np.testing.assert_allclose(again(y, p), expected)
    with pytest.raises(ValueError, match="Invalid Reduction Key: 'mean'"):
        names.validate("mean")
