"""The wrappers' imports of scikit-learn; if it is missing, an error says what to install."""

try:
    from sklearn.base import (
        BaseEstimator,
        ClassifierMixin,
        ClassNamePrefixFeaturesOutMixin,
        RegressorMixin,
        TransformerMixin,
    )
    from sklearn.model_selection import train_test_split
    from sklearn.utils import check_array, check_random_state, column_or_1d
    from sklearn.utils.multiclass import check_classification_targets, type_of_target
    from sklearn.utils.validation import check_is_fitted, validate_data
except ImportError as error:
    raise ImportError(
        f"keras.wrappers needs scikit-learn 1.6 or later ({error}). Install it: "
        "pip install 'scikit-learn>=1.6', or framework[sklearn]."
    ) from error

__all__ = [
    "BaseEstimator", "ClassNamePrefixFeaturesOutMixin", "ClassifierMixin", "RegressorMixin",
    "TransformerMixin", "check_array", "check_classification_targets", "check_is_fitted",
    "check_random_state", "column_or_1d", "train_test_split", "type_of_target", "validate_data",
]  # fmt: skip
