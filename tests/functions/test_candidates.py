"""Samplers of classes, the losses of a sample, and lookups in tables."""

import numpy as np
import pytest

import framework as tf

N = tf.nn
RNG = np.random.default_rng(0)
TABLE = RNG.normal(size=(7, 3))

SAMPLERS = {
    "uniform": lambda n, unique: tf.random.uniform_candidate_sampler(
        [[1, 4]], 2, n, unique, 10, seed=1
    ),
    "log_uniform": lambda n, unique: tf.random.log_uniform_candidate_sampler(
        [[1, 4]], 2, n, unique, 10, seed=1
    ),
    "fixed": lambda n, unique: N.fixed_unigram_candidate_sampler(
        [[1, 4]], 2, n, unique, 10, unigrams=np.arange(1.0, 11), distortion=0.5, seed=1
    ),
    "learned": lambda n, unique: N.learned_unigram_candidate_sampler(
        [[1, 4]], 2, n, unique, 10, seed=1
    ),
}
SHARES = {
    "uniform": np.full(10, 0.1),
    "log_uniform": np.diff(np.log(np.arange(1, 12))) / np.log(11),
    "fixed": np.sqrt(np.arange(1, 11)) / np.sqrt(np.arange(1, 11)).sum(),
}


@pytest.mark.parametrize("name", SHARES)
def test_classes_are_drawn_by_their_probabilities(name):
    tf.random.set_seed(2)
    ids, true, sampled = SAMPLERS[name](20000, False)
    assert ids.dtype == tf.int64
    assert true.dtype == sampled.dtype == tf.float32
    found = np.bincount(ids.numpy(), minlength=10) / 20000
    np.testing.assert_allclose(found, SHARES[name], atol=0.012)
    np.testing.assert_allclose(true.numpy(), [20000 * SHARES[name][[1, 4]]], rtol=1e-6)
    np.testing.assert_allclose(sampled.numpy(), 20000 * SHARES[name][ids.numpy()], rtol=1e-6)


@pytest.mark.parametrize("name", SAMPLERS)
def test_unique_classes(name):
    tf.random.set_seed(2)
    for _ in range(20):
        ids, true, sampled = SAMPLERS[name](6, True)
        assert len(set(ids.numpy().tolist())) == 6
        assert np.all((true.numpy() > 0) & (true.numpy() <= 1))
        assert sampled.shape == (6,)


def test_expected_counts_of_unique_classes():
    """The mean of how often a class is drawn is the mean of its expected counts."""
    tf.random.set_seed(0)
    drawn, expected = np.zeros(10), np.zeros(10)
    for _ in range(400):
        ids, true, _ = tf.random.log_uniform_candidate_sampler(
            [list(range(10))], 10, 3, True, 10, seed=5
        )
        drawn[ids.numpy()] += 1
        expected += true.numpy()[0]
    np.testing.assert_allclose(drawn / 400, expected / 400, atol=0.08)


def test_the_learned_sampler_learns():
    for _ in range(50):
        N.learned_unigram_candidate_sampler([[3]] * 100, 1, 2, False, 17, seed=1)
    ids, true, _ = N.learned_unigram_candidate_sampler([[3]], 1, 200, False, 17, seed=1)
    assert np.mean(ids.numpy() == 3) > 0.9
    np.testing.assert_allclose(true.numpy(), [[200 * 5001 / 5017]], rtol=1e-6)


def test_weights_of_a_file(tmp_path):
    path = tmp_path / "vocabulary.csv"
    path.write_text('"a, b",0\nthe,3\n')
    ids, *_ = N.fixed_unigram_candidate_sampler(
        [[2]], 1, 5, False, 3, vocab_file=str(path), num_reserved_ids=1, seed=1
    )
    assert ids.numpy().tolist() == [2] * 5
    with pytest.raises(tf.errors.NotFoundError, match="there is no `vocab_file`"):
        N.fixed_unigram_candidate_sampler([[2]], 1, 5, False, 3, vocab_file="none")


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: tf.random.uniform_candidate_sampler([[1]], 1, 4, True, 3), "range is too small"),
        (lambda: tf.random.uniform_candidate_sampler([1], 1, 2, True, 3), r"\(batch, num_true=1\)"),
        (lambda: tf.random.uniform_candidate_sampler([[3]], 1, 2, True, 3), "must lie from 0 to 2"),
        (lambda: N.fixed_unigram_candidate_sampler([[1]], 1, 2, True, 3), "either `vocab_file` or"),
        (
            lambda: N.fixed_unigram_candidate_sampler([[1]], 1, 2, True, 3, unigrams=[1.0]),
            "range is 3 must be equal to weights size 1",
        ),
    ],
)
def test_bad_arguments(call, message):
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        call()


# ---- losses --------------------------------------------------------------------------------------

INPUTS = RNG.normal(size=(2, 3))
SAMPLE = (
    np.array([2, 1, 0]), np.array([[0.3, 0.1], [0.4, 0.2]]), np.array([0.1, 0.2, 0.5]),
)  # fmt: skip


def logits_by_hand():
    labels = np.array([[1, 2], [2, 3]])
    true = np.einsum("bd,bnd->bn", INPUTS, TABLE[labels]) - np.log(SAMPLE[1])
    sampled = INPUTS @ TABLE[SAMPLE[0]].T - np.log(SAMPLE[2])
    return labels, true, sampled


@pytest.mark.parametrize("parts", [1, 2, 3])
@pytest.mark.parametrize("remove", [True, False])
def test_losses_of_two_true_classes(parts, remove):
    labels, true, sampled = logits_by_hand()
    if remove:
        sampled = np.where((labels[:, :, None] == SAMPLE[0]).any(1), -np.inf, sampled)
    every = np.concatenate([true, sampled], 1)
    softmax = np.log(np.exp(every).sum(1)) - true.mean(1)
    weights = TABLE if parts == 1 else [TABLE[i::parts] for i in range(parts)]
    arguments = (weights, np.zeros(7), labels, INPUTS, 3, 7, 2, SAMPLE, remove)
    np.testing.assert_allclose(N.sampled_softmax_loss(*arguments).numpy(), softmax, rtol=1e-10)
    estimate = np.logaddexp(0, sampled).sum(1) + (np.logaddexp(0, true) - true / 2).sum(1)
    np.testing.assert_allclose(N.nce_loss(*arguments).numpy(), estimate, rtol=1e-10)


def test_a_sampled_loss_trains():
    tf.random.set_seed(0)
    weights, biases = tf.Variable(tf.zeros([50, 4])), tf.Variable(tf.zeros([50]))
    inputs, labels = RNG.normal(size=(32, 4)).astype("float32"), np.arange(32)[:, None]
    optimizer = tf.keras.optimizers.Adam(0.1)
    for _ in range(60):
        with tf.GradientTape() as tape:
            loss = N.sampled_softmax_loss(weights, biases, labels, inputs, 10, 50, seed=3)
            loss = tf.reduce_mean(loss)
        gradients = tape.gradient(loss, [weights, biases])
        assert isinstance(gradients[0], tf.IndexedSlices)
        optimizer.apply_gradients(zip(gradients, [weights, biases], strict=True))
    logits = inputs @ tf.transpose(weights).numpy() + biases.numpy()
    assert np.mean(logits.argmax(1) == labels[:, 0]) > 0.8


# ---- lookups -------------------------------------------------------------------------------------


@pytest.mark.parametrize("parts", [1, 2, 4])
def test_lookups_in_parts(parts):
    ids = np.array([[6, 0], [3, 3]])
    variables = [tf.Variable(TABLE[i::parts]) for i in range(parts)]
    with tf.GradientTape() as tape:
        y = N.embedding_lookup(variables, ids)
        total = tf.reduce_sum(y * tf.reshape(tf.range(12.0), [2, 2, 3]).numpy().astype("float64"))
    np.testing.assert_array_equal(y.numpy(), TABLE[ids])
    found = np.zeros(TABLE.shape)
    for i, g in enumerate(tape.gradient(total, variables)):
        assert g is None or isinstance(g, tf.IndexedSlices)
        if g is not None:
            found[i::parts] = tf.convert_to_tensor(g).numpy()
    expected = np.zeros(TABLE.shape)
    np.add.at(expected, ids.ravel(), np.arange(12.0).reshape(4, 3))
    np.testing.assert_array_equal(found, expected)


def test_lookups_with_a_largest_norm():
    found = N.embedding_lookup(TABLE, [[0, 1]], max_norm=0.5).numpy()[0]
    norms = np.linalg.norm(TABLE[:2], axis=1, keepdims=True)
    np.testing.assert_allclose(found, TABLE[:2] * np.minimum(1, 0.5 / norms), rtol=1e-12)


def test_bad_lookups():
    with pytest.raises(tf.errors.InvalidArgumentError, match="`ids` must be integers"):
        N.embedding_lookup(TABLE, [0.5])
    with pytest.raises(IndexError, match="from 0 to 6, got 7"):
        N.embedding_lookup([TABLE[::2], TABLE[1::2]], [7])
    with pytest.raises(tf.errors.InvalidArgumentError, match="got an empty list"):
        N.embedding_lookup([], [0])


# ---- averages of variables -----------------------------------------------------------------------


def test_moving_averages():
    v = tf.Variable([1.0, 2.0], name="v")
    averages = tf.train.ExponentialMovingAverage(0.9)
    averages.apply([v])
    v.assign([3.0, 4.0])
    averages.apply([v])
    np.testing.assert_allclose(averages.average(v).numpy(), [1.2, 2.2], rtol=1e-6)
    assert averages.average_name(v) == "v/ExponentialMovingAverage"
    assert averages.average(v).name == "v/ExponentialMovingAverage:0"
    assert not averages.average(v).trainable
    restored = averages.variables_to_restore([v])
    assert list(restored) == ["v/ExponentialMovingAverage"]
    assert restored["v/ExponentialMovingAverage"] is v
    early = tf.train.ExponentialMovingAverage(0.9, num_updates=3)
    early.apply([v])
    v.assign([7.0, 4.0])
    early.apply([v])
    np.testing.assert_allclose(early.average(v).numpy(), [5.7692308, 4.0], rtol=1e-6)
    assert early.average(tf.Variable(1.0)) is None


@pytest.mark.parametrize("value", [[tf.constant(1.0)], [tf.Variable(1)]])
def test_what_has_no_average(value):
    with pytest.raises(TypeError, match=r"expected variables|must be half, float, or double"):
        tf.train.ExponentialMovingAverage(0.9).apply(value)
