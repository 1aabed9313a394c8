"""Wrong arguments and wrong data: one clear error each, of the class that users catch."""

import numpy as np
import pytest

from framework.core.errors import DTypeError, InvalidArgumentError, ShapeError
from framework.core.tensor_spec import TensorSpec
from framework.data import Dataset

D = Dataset.range(4)


def generated(value, signature):
    return Dataset.from_generator(lambda: [value], output_signature=signature)


ERRORS = {
    "lengths": (lambda: Dataset.from_tensor_slices((np.zeros(3), {"y": np.zeros(2)})),
                ShapeError, r"tensors\[0\] has 3, tensors\[1\]\['y'\] has 2"),
    "a number": (lambda: Dataset.from_tensor_slices(3), ShapeError, "tensors: .* got a scalar"),
    "no array": (lambda: Dataset.from_tensor_slices(()), InvalidArgumentError, "one array"),
    "None": (lambda: Dataset.from_tensor_slices((np.zeros(3), None)), DTypeError, r"tensors\[1\]"),
    "ragged list": (lambda: Dataset.from_tensor_slices([[1], [2, 3]]),
                    InvalidArgumentError, "tensors: .*ragged"),
    "objects": (lambda: Dataset.from_tensor_slices(np.array([{}, 1], object)), DTypeError,
                "tensors: .*dtype object"),
    "dates": (lambda: Dataset.from_tensor_slices(np.zeros(2, "M8[s]")), DTypeError, "tensors"),
    "batch of 0": (lambda: D.batch(0), InvalidArgumentError, "batch_size must be at least 1"),
    "batch of 2.5": (lambda: D.batch(2.5), DTypeError, "batch_size must be an int, got 2.5"),
    "shuffle": (lambda: D.shuffle(0), InvalidArgumentError, "buffer_size must be at least 1"),
    "seed": (lambda: D.shuffle(3, seed="a"), DTypeError, "seed must be an int, got 'a'"),
    "shard": (lambda: D.shard(3, 3), InvalidArgumentError, "index must be below num_shards=3"),
    "no shards": (lambda: D.shard(0, 0), InvalidArgumentError, "num_shards must be at least 1"),
    "window": (lambda: D.window(2, stride=0), InvalidArgumentError, "stride must be at least 1"),
    "prefetch": (lambda: D.prefetch(-2), InvalidArgumentError, "buffer_size must be at least -1"),
    "zip": (lambda: Dataset.zip(D, [1]), DTypeError, r"datasets\[1\] must be a Dataset, got list"),
    "concatenate": (lambda: D.concatenate(Dataset.from_tensor_slices([1.0])), DTypeError,
                    "int64.*float32"),
    "apply": (lambda: D.apply(lambda d: 3), DTypeError, "must be a Dataset, got int"),
    "no length": (lambda: len(D.filter(lambda x: x > 1)), TypeError, "unknown"),
    "endless": (lambda: len(D.repeat()), TypeError, "infinite"),
    "shapes in a batch": (lambda: list(D.map(lambda n: np.zeros(n.item())).batch(2)), ShapeError,
                          r"float64\[0\], float64\[1\].*padded_batch"),
    "dtypes in a batch": (lambda: list(D.map(lambda n: 1.5 if n.item() else 1).batch(2)),
                          ShapeError, r"int32\[\], float32\[\]"),
    "padded ranks": (lambda: list(D.map(lambda n: np.zeros([1] * n.item())).padded_batch(4)),
                     ShapeError, "ranks"),
    "padded too small": (lambda: list(D.map(lambda n: np.zeros(n.item())).padded_batch(4, [2])),
                         ShapeError, r"padded_shapes \(2,\), got shape \(3,\)"),
    "padded parts": (lambda: list(D.map(lambda n: (n, n)).padded_batch(2, padded_shapes=[9])),
                     InvalidArgumentError, r"padded_shapes: expected 2 parts.* got \[9\]"),
    "padded keys": (lambda: list(D.map(lambda n: {"a": n}).padded_batch(2, {"b": []})),
                    InvalidArgumentError, r"padded_shapes: expected .* keys \['a'\], got \{'b'"),
    "padded values": (
        lambda: list(D.map(lambda n: (n, n)).padded_batch(2, padding_values=(0, 1, 2))),
        InvalidArgumentError, r"padding_values: expected 2 parts.* got \(0, 1, 2\)",
    ),
    "padded shape": (lambda: list(D.padded_batch(2, 3)), InvalidArgumentError,
                     r"padded_shapes: expected a shape, such as \[None\], got 3"),
    "unbatch": (lambda: list(D.unbatch()), ShapeError, "unbatch: .* got a scalar"),
    "windows in a batch": (lambda: list(D.window(2).batch(2)), InvalidArgumentError, "flat_map"),
    "predicate": (lambda: list(D.filter(lambda x: x)), InvalidArgumentError, "predicate"),
    "map to None": (lambda: list(D.map(lambda x: None)), DTypeError, "result: .* got None"),
    "map to part None": (lambda: list(D.map(lambda x: (x, None))), DTypeError, r"\[1\]: .*None"),
    "map to an object": (lambda: list(D.map(lambda x: object())), DTypeError, "map_func's result"),
    "map arguments": (lambda: list(D.map(lambda a, b: a)), TypeError, "missing 1 required"),
    "flat_map": (lambda: list(D.flat_map(lambda x: x)), InvalidArgumentError, "return a Dataset"),
    "spec of nothing": (lambda: Dataset.from_generator(list).element_spec,
                        InvalidArgumentError, "no|none"),
    "single of none": (lambda: D.take(0).get_single_element(), InvalidArgumentError, "got none"),
    "single of many": (lambda: D.get_single_element(), InvalidArgumentError, "more than one"),
    "a generator": (lambda: Dataset.from_generator(x for x in "ab"), DTypeError, "callable"),
    "generated shape": (lambda: list(generated([1, 2], TensorSpec((3,)))), ShapeError,
                        r"expected shape \(3,\), got \(2,\)"),
    "generated value": (lambda: list(generated("a", TensorSpec(()))), InvalidArgumentError,
                        "cannot be converted to float32"),
    "generated tuple": (lambda: list(generated(1, (TensorSpec(()),))), InvalidArgumentError,
                        "tuple of 1 components, got 1"),
    "generated dict": (lambda: list(generated(1, {"a": TensorSpec(())})), InvalidArgumentError,
                       "keys"),
}  # fmt: skip


@pytest.mark.parametrize("name", ERRORS)
def test_error(name):
    make, kind, told = ERRORS[name]
    with pytest.raises(kind, match=told):
        make()


def test_errors_of_user_functions_come_as_they_are():
    class OwnError(Exception):
        pass

    def fail(x):
        if x.item() == 2:
            raise OwnError("here")
        return x

    data = D.map(fail)
    iterator = iter(data)
    assert [next(iterator).item(), next(iterator).item()] == [0, 1]
    with pytest.raises(OwnError, match="here"):
        next(iterator)


@pytest.mark.parametrize(
    ("how", "expected"),
    [
        ((2,), [[0, 1], "error", [4, 5], [6]]),
        ((2, 1, 2, True), ["error", [1, 3], "error", [3, 5], [4, 6]]),
        ((3, 1), ["error"] * 3 + [[3, 4, 5], [4, 5, 6], [5, 6], [6]]),
        ((2, 3), [[0, 1], [3, 4], [6]]),
    ],
)
def test_each_window_raises_the_error_of_its_elements(how, expected):
    def fails(x):
        if x.item() == 2:
            raise KeyError("two")
        return x

    windows = D.range(7).map(fails).window(*how).flat_map(lambda window: window.batch(9))
    iterator = iter(windows)

    def following():
        try:
            return next(iterator).tolist()
        except KeyError:
            return "error"

    assert [following() for _ in expected] == expected
    assert next(iterator, None) is None
