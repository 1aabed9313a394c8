"""FeatureSpace: encode the columns of a table as numbers, each by its own layer, and cross them."""

from typing import Any, Literal

from framework.core.auto_names import auto_name
from framework.core.configs import deserialize, serialize_value
from framework.core.configurable import Configurable
from framework.core.conversion import tensor
from framework.core.errors import FrameworkError, InvalidArgumentError
from framework.core.promotion import promote
from framework.core.tables import columns_of, is_table
from framework.data.dataset import Dataset
from framework.layers.base import Layer
from framework.layers.categorical import CategoryEncoding, Discretization
from framework.layers.core import Input
from framework.layers.hashing import HashedCrossing, Hashing
from framework.layers.lookup import IntegerLookup, StringLookup
from framework.layers.preprocessing import Normalization, Rescaling
from framework.ops.movement import concat, getitem, reshape
from framework.saving.model_file import save_model


class Feature(Configurable):
    """A feature: the dtype of its column, the layer that encodes it, and the form of the result.

    Args:
        dtype: "float32", "int32", "string", ...
        preprocessor: a layer.
        output_mode: "float" for numbers, "int" for indices, "one_hot" for one-hot vectors of the
            indices.
    """

    dtype: str
    preprocessor: object
    output_mode: Literal["int", "one_hot", "float"]

    def __post_init__(self):
        if isinstance(self.preprocessor, dict):
            self.preprocessor = deserialize(self.preprocessor)


class Cross(Configurable):
    """A feature cross: the values of several features are hashed together into one bucket.

    Args:
        feature_names: the names of two features or more.
        crossing_dim: the number of buckets.
        output_mode: "int" for the index of the bucket, "one_hot" for a one-hot vector.
    """

    feature_names: object
    crossing_dim: int
    output_mode: Literal["int", "one_hot"] = "one_hot"

    def __post_init__(self):
        self.feature_names = tuple(self.feature_names)

    @property
    def name(self):
        return "_X_".join(self.feature_names)


class TFDIdentity(Layer, builds_at_init=True):
    """A layer that returns its inputs; floats are cast to the layer's dtype.

    It is named as in Keras, because ".keras" files contain the name.
    """

    def call(self, inputs: Any) -> Any:
        return inputs


class TFDConcat(Layer, builds_at_init=True):
    """A layer that casts its inputs to one dtype and concatenates them; named as in Keras."""

    axis: int

    def call(self, xs: Any) -> Any:
        xs = promote(*xs)
        return concat(*xs, axis=self.axis % xs[0].ndim)


class FeatureSpace(Layer):
    """Encode the columns of a table (a dict) as one vector per row or as a dict of tensors.

    Args:
        features: a dict from names of columns to features: the result of a method such as
            `FeatureSpace.float_normalized()`, or the method's name, which stands for its default
            arguments.
        output_mode: "concat" for one vector of all features, in the order of their names, then of
            all crosses; "dict" for a dict of tensors.
        crosses: a list of tuples of names, or of results of `FeatureSpace.cross`.
        crossing_dim: the number of buckets of crosses given as tuples.
        hashing_dim: the number of buckets of "integer_hashed" and "string_hashed".
        num_discretization_bins: the number of bins of "float_discretized".

    Example:
        >>> table = {"size": [1.0, 3.0], "color": ["red", "blue"]}
        >>> space = FeatureSpace({"size": "float_normalized", "color": "string_categorical"})
        >>> space.adapt(table)
        >>> space(table).numpy()
        array([[ 0.,  1.,  0., -1.],
               [ 0.,  0.,  1.,  1.]], dtype=float32)
    """

    features: object
    output_mode: Literal["concat", "dict"] = "concat"
    crosses: object = None
    crossing_dim: object = 32
    hashing_dim: int = 32
    num_discretization_bins: int = 32

    # ---- features ----

    @classmethod
    def cross(cls, feature_names: Any, crossing_dim: Any, output_mode: Any = "one_hot") -> Cross:
        """Return a feature cross that hashes several features into `crossing_dim` buckets."""
        return Cross(feature_names, crossing_dim, output_mode)

    @classmethod
    def feature(cls, dtype: Any, preprocessor: Any, output_mode: Any) -> Feature:
        """Return a feature that the given layer encodes.

        Args:
            dtype: the dtype of the column.
            preprocessor: the layer; `adapt` also adapts this layer if it has a method `adapt`.
            output_mode: "float", "int" or "one_hot".
        """
        return Feature(dtype, preprocessor, output_mode)

    @classmethod
    def float(cls, name: Any = None) -> Feature:
        """Return a feature of unchanged numbers."""
        layer = TFDIdentity(dtype="float32", name=_layer_name(name, "float"))
        return Feature("float32", layer, "float")

    @classmethod
    def float_rescaled(cls, scale: Any = 1.0, offset: Any = 0.0, name: Any = None) -> Feature:
        """Return a feature of numbers times `scale` plus `offset`."""
        layer = Rescaling(scale, offset, name=_layer_name(name, "float_rescaled"))
        return Feature("float32", layer, "float")

    @classmethod
    def float_normalized(cls, name: Any = None) -> Feature:
        """Return a feature of numbers normalized to mean 0 and variance 1."""
        layer = Normalization(axis=-1, name=_layer_name(name, "float_normalized"))
        return Feature("float32", layer, "float")

    @classmethod
    def float_discretized(
        cls, num_bins: Any, bin_boundaries: Any = None, output_mode: Any = "one_hot",
        name: Any = None,
    ) -> Feature:  # fmt: skip
        """Return a feature that maps numbers to bins; see `Discretization`."""
        layer = Discretization(
            bin_boundaries, num_bins, name=_layer_name(name, "float_discretized")
        )
        return Feature("float32", layer, output_mode)

    @classmethod
    def integer_categorical(
        cls, max_tokens: Any = None, num_oov_indices: Any = 1, output_mode: Any = "one_hot",
        name: Any = None,
    ) -> Feature:  # fmt: skip
        """Return a feature that maps integers to indices in a vocabulary; see `IntegerLookup`."""
        name = _layer_name(name, "integer_categorical")
        layer = IntegerLookup(max_tokens=max_tokens, num_oov_indices=num_oov_indices, name=name)
        return Feature("int32", layer, output_mode)

    @classmethod
    def string_categorical(
        cls, max_tokens: Any = None, num_oov_indices: Any = 1, output_mode: Any = "one_hot",
        name: Any = None,
    ) -> Feature:  # fmt: skip
        """Return a feature that maps strings to indices in a vocabulary; see `StringLookup`."""
        name = _layer_name(name, "string_categorical")
        layer = StringLookup(max_tokens=max_tokens, num_oov_indices=num_oov_indices, name=name)
        return Feature("string", layer, output_mode)

    @classmethod
    def integer_hashed(
        cls, num_bins: Any, output_mode: Any = "one_hot", name: Any = None
    ) -> Feature:
        """Return a feature that hashes integers into buckets; see `Hashing`."""
        layer = Hashing(num_bins, name=_layer_name(name, "integer_hashed"))
        return Feature("int32", layer, output_mode)

    @classmethod
    def string_hashed(
        cls, num_bins: Any, output_mode: Any = "one_hot", name: Any = None
    ) -> Feature:
        """Return a feature that hashes strings into buckets; see `Hashing`."""
        layer = Hashing(num_bins, name=_layer_name(name, "string_hashed"))
        return Feature("string", layer, output_mode)

    # ---- the layers ----

    def __post_init__(self):
        if not self.features or not isinstance(self.features, dict):
            raise InvalidArgumentError(
                "FeatureSpace: the `features` argument cannot be None or empty; expected a dict, "
                f"got {self.features!r}."
            )
        own = self._framework
        own.adapted = own.ready = False
        given, self.crosses = self.crosses, []
        self.features = {name: _feature(self, name, f) for name, f in self.features.items()}
        for cross in given or ():
            self.crosses.append(_cross(self, cross))
        self.crosses_by_name = {cross.name: cross for cross in self.crosses}
        self.inputs = {
            name: Input(shape=(1,), dtype=feature.dtype, name=name)
            for name, feature in self.features.items()
        }
        self.preprocessors = {name: f.preprocessor for name, f in self.features.items()}
        self.crossers = {
            cross.name: HashedCrossing(cross.crossing_dim, name=cross.name)
            for cross in self.crosses
        }
        self.one_hot_encoders = {}
        self.concat = self.encoded_features = None

    def adapt(self, dataset: Any) -> None:
        """Adapt the layers of the features to data: vocabularies, means, boundaries of bins.

        Args:
            dataset: a dict of columns, a table of pandas, polars or pyarrow, or a Dataset whose
                elements are dicts of one row or one batch.
        """
        if is_table(dataset):
            dataset = columns_of(dataset)
        if isinstance(dataset, dict):
            dataset = Dataset.from_tensor_slices(dataset)
        if not isinstance(dataset, Dataset):
            raise InvalidArgumentError(
                "`adapt()` can only be called on a tf.data.Dataset or a dict of arrays/lists. "
                f"Received instead: {dataset} (of type {type(dataset)})"
            )
        for name in _to_adapt(self):
            self.preprocessors[name].adapt(_columns(dataset, name))
        self._framework.adapted = True
        self.one_hot_encoders, self.encoded_features = {}, None
        self._framework.ready = False
        self.get_encoded_features()
        self.built = True

    def get_inputs(self) -> Any:
        """Return the dict of `keras.Input`s, for a model that takes raw features."""
        _make_ready(self)
        return self.inputs

    def get_encoded_features(self) -> Any:
        """Return the KerasTensor, or the dict of KerasTensors, that encodes `get_inputs()`."""
        if self.encoded_features is None:
            _refuse_unadapted(self)
            self.encoded_features = _encoded(self, self.inputs)
            self._framework.ready = True
        return self.encoded_features

    def __call__(self, data: Any) -> Any:
        """Return the encoded features of a dict of columns, or of the values of one row."""
        _make_ready(self)
        if is_table(data):
            data = columns_of(data)
        if not isinstance(data, dict):
            raise InvalidArgumentError(
                f"A FeatureSpace can only be called with a dict. Received: data={data} (of type "
                f"{type(data)})"
            )
        data = {name: tensor(x) for name, x in data.items()}
        single = any(not x.ndim for x in data.values())
        missing = sorted(set(self.features) - set(data))
        if missing:
            raise InvalidArgumentError(
                f"FeatureSpace {self.name!r}: expected the features {sorted(self.features)}, got a "
                f"dict without {missing}."
            )
        columns = {name: _column(data[name]) for name in self.features}
        result = _encoded(self, columns)
        if not single:
            return result
        if isinstance(result, dict):
            return {name: getitem(x, index=(0,)) for name, x in result.items()}
        return getitem(result, index=(0,))

    # ---- files ----

    def get_config(self) -> dict[str, Any]:
        names = ("output_mode", "crossing_dim", "hashing_dim", "num_discretization_bins")
        return {
            "features": serialize_value(self.features),
            "crosses": serialize_value(self.crosses),
            **{name: getattr(self, name) for name in names},
        }

    def get_build_config(self):
        layers = self.preprocessors.items()
        return {name: layer.get_build_config() or {} for name, layer in layers}

    def build_from_config(self, config: Any) -> None:
        for name, inner in config.items():
            layer = self.preprocessors[name]
            if inner and not layer.built:
                layer.build_from_config(inner)
        self._framework.adapted = True

    def save(self, filepath: Any) -> None:
        """Save the features with their vocabularies and statistics to a ".keras" file.

        `keras.models.load_model` reads it.
        """
        save_model(self, filepath)


# ---- features and crosses from the arguments -----------------------------------------------------


def _layer_name(name, kind):
    return f"{name or auto_name(kind)}_preprocessor"


_HASHED = ("integer_hashed", "string_hashed")
_PLAIN = (
    "float", "float_normalized", "float_rescaled", "integer_categorical", "string_categorical",
)  # fmt: skip


def _feature(space, name, given):
    if isinstance(given, Feature):
        return given
    if isinstance(given, dict):
        return deserialize(given)
    if given in _PLAIN:
        return getattr(space, given)(name=name)
    if given in _HASHED:
        return getattr(space, given)(space.hashing_dim, name=name)
    if given == "float_discretized":
        return space.float_discretized(space.num_discretization_bins, name=name)
    known = ", ".join(map(repr, sorted((*_PLAIN, *_HASHED, "float_discretized"))))
    raise InvalidArgumentError(f"Invalid feature type: {given!r}; expected one of {known}.")


def _cross(space, given):
    if isinstance(given, dict):
        return deserialize(given)
    if isinstance(given, Cross):
        return given
    if not space.crossing_dim:
        raise InvalidArgumentError(
            "When specifying `crosses`, the argument `crossing_dim` (dimensionality of the "
            "crossing space) should be specified as well."
        )
    if not set(given) <= set(space.features):
        raise InvalidArgumentError(
            "All features referenced in the `crosses` argument should be present in the "
            f"`features` dict. Received unknown features: {given}"
        )
    return Cross(given, space.crossing_dim)


# ---- adapting ------------------------------------------------------------------------------------


def _to_adapt(space):
    """Return the names of features whose layers need `adapt` because they have no values yet."""
    return [
        name for name, layer in space.preprocessors.items()
        if hasattr(layer, "adapt")
        and getattr(layer, "input_mean", None) is None
        and getattr(layer, "vocabulary", None) is None
        and not (isinstance(layer, Discretization) and layer.num_bins is None)
    ]  # fmt: skip


def _columns(dataset, name):
    """Return the dataset of one feature's values, in batches of at least two dimensions."""
    columns = dataset.map(lambda row: row[name])
    first = next(iter(columns))
    if not first.ndim:
        columns = columns.batch(32)
    return columns.map(_column) if first.ndim < 2 else columns


def _column(x):
    """Return a scalar or a vector as a matrix with one column."""
    if x.ndim > 1:
        return x
    return reshape(x, shape=(1, 1)) if not x.ndim else x[:, None]


def _refuse_unadapted(space):
    if not space._framework.adapted and _to_adapt(space):
        raise FeatureSpaceError(
            "You need to call `.adapt(dataset)` on the FeatureSpace before you can start using it."
        )
    space._framework.adapted = True


class FeatureSpaceError(FrameworkError, ValueError):
    """Raised when a FeatureSpace is called before `adapt`."""


def _make_ready(space):
    if not space._framework.ready:
        _refuse_unadapted(space)
        space.get_encoded_features()


# ---- encoding ------------------------------------------------------------------------------------


def _encoded(space, columns):
    """Return the encoded features of `columns`, a dict of tensors or KerasTensors."""
    found = {name: space.preprocessors[name](x) for name, x in columns.items()}
    crossed = {
        cross.name: space.crossers[cross.name]([found[name] for name in cross.feature_names])
        for cross in space.crosses
    }
    specs = [(n, found[n], space.features[n]) for n in sorted(found)]
    specs += [(n, crossed[n], space.crosses_by_name[n]) for n in sorted(crossed)]
    encoded = {name: _one_hot(space, name, x, spec) for name, x, spec in specs}
    if space.output_mode == "dict":
        return encoded
    for name, x in encoded.items():
        if x.dtype.is_integer or x.dtype == "string":
            raise InvalidArgumentError(
                f"Cannot concatenate features because feature '{name}' has not been encoded (it "
                f"has dtype {x.dtype}). Consider using `output_mode='dict'`."
            )
    if space.concat is None:
        space.concat = TFDConcat(axis=-1)
    return space.concat(list(encoded.values()))


def _one_hot(space, name, x, spec):
    if spec.output_mode != "one_hot":
        return x
    if name not in space.one_hot_encoders:
        if not x.dtype.is_integer:
            raise InvalidArgumentError(
                f"Feature '{name}' has `output_mode='one_hot'`. Thus its preprocessor should "
                f"return an integer dtype. Instead it returns a {x.dtype} dtype."
            )
        layer = space.preprocessors.get(name) or space.crossers[name]
        encoder = CategoryEncoding(_size(name, layer), output_mode="multi_hot")
        space.one_hot_encoders = {**space.one_hot_encoders, name: encoder}
    return space.one_hot_encoders[name](x)


def _size(name, layer):
    """Return the number of indices that a layer can return."""
    if isinstance(layer, (IntegerLookup, StringLookup)):
        return layer.vocabulary_size()
    if isinstance(layer, CategoryEncoding):
        return layer.num_tokens
    if isinstance(layer, Discretization) and layer.num_bins is None:
        return len(layer.bin_boundaries) + 1
    if isinstance(layer, (Discretization, HashedCrossing, Hashing)):
        return layer.num_bins
    raise InvalidArgumentError(
        f"Feature '{name}' has `output_mode='one_hot'`. However it isn't a standard feature and "
        "the dimensionality of its output space is not known, thus it cannot be one-hot encoded. "
        "Try using `output_mode='int'`."
    )
