"""The scalar code of elementwise ops: expressions of one element, for generated loops.

In a template, `{0}`, `{1}` ... stand for the operands (names or literals), converted to the type in
which the op computes; `{t}` for this type (`{t}(0.5)`), and `{w}` for its width (`exp_{w}({0})`
becomes `exp_32(x)`). Templates call the functions of `kernels/fast/elementwise.py`.
"""

from typing import NamedTuple

import numpy as np

FLOATS = (np.dtype(np.float32), np.dtype(np.float64))
INTEGERS = tuple(map(np.dtype, (np.int8, np.int16, np.int32, np.int64, np.uint8)))
BOOL = np.dtype(np.bool_)


class ScalarCode(NamedTuple):
    """The expression that computes one element of an op's result.

    template: the expression.
    kinds: NumPy's kind letters ("f", "i", "b") of the types in which the expression can compute.
    gives: the type of the result: "same", the type in which the op computes, or "bool".
    slow: whether the loop calls the C library for each element; NumPy's loops may be faster.
    conditions: positions of boolean operands, which do not affect that type.
    """

    template: str
    kinds: str = "f"
    gives: str = "same"
    slow: bool = False
    conditions: tuple = ()


def _library(function):
    return ScalarCode(f"np.{function}({{0}})", slow=True)


def _compare(sign):
    return ScalarCode(f"{{0}} {sign} {{1}}", "fib", gives="bool")


def _logic(sign):
    return ScalarCode(f"{{0}} {sign} {{1}}", "b", gives="bool", conditions=(0, 1))


CODES = {
    # The following are arithmetic ops.
    "add": ScalarCode("{0} + {1}", "fi"),
    "subtract": ScalarCode("{0} - {1}", "fi"),
    "multiply": ScalarCode("{0} * {1}", "fi"),
    "divide": ScalarCode("{0} / {1}"),
    "negative": ScalarCode("-{0}", "fi"),
    "identity": ScalarCode("{0}", "fib"),
    "stop_gradient": ScalarCode("{0}", "fib"),
    "conj": ScalarCode("{0}", "fi"),
    "abs": ScalarCode("abs({0})", "fi"),
    "square": ScalarCode("{0} * {0}", "fi"),
    "reciprocal": ScalarCode("{t}(1) / {0}"),
    "multiply_no_nan": ScalarCode("{t}(0) if {1} == {t}(0) else {0} * {1}"),
    "divide_no_nan": ScalarCode("{t}(0) if {1} == {t}(0) else {0} / {1}"),
    "sign": ScalarCode("{t}(1) if {0} > {t}(0) else {t}(-1) if {0} < {t}(0) else {0}", "fi"),
    "floor": ScalarCode("np.floor({0})"),
    "ceil": ScalarCode("np.ceil({0})"),
    "trunc": ScalarCode("np.trunc({0})"),
    "round": ScalarCode("np.rint({0})"),
    # The following are selections; maximum and minimum propagate NaN.
    "maximum": ScalarCode("maximum({0}, {1})", "fi"),
    "minimum": ScalarCode("minimum({0}, {1})", "fi"),
    "clip": ScalarCode("minimum(maximum({0}, {1}), {2})", "fi"),
    "relu": ScalarCode("{t}(0) if {0} <= {t}(0) else {0}", "fi"),
    "relu6": ScalarCode("minimum({t}(0) if {0} <= {t}(0) else {0}, {t}(6))", "fi"),
    "masked": ScalarCode("{0} if {1} else {t}(0)", "fi", conditions=(1,)),
    "gated": ScalarCode("{0} * {1}", "fi"),
    "select": ScalarCode("{1} if {0} else {2}", "fib", conditions=(0,)),
    # The following are comparisons and logical ops.
    "equal": _compare("=="),
    "not_equal": _compare("!="),
    "less": _compare("<"),
    "less_equal": _compare("<="),
    "greater": _compare(">"),
    "greater_equal": _compare(">="),
    "logical_and": _logic("&"),
    "logical_or": _logic("|"),
    "logical_xor": _logic("^"),
    "logical_not": ScalarCode("not {0}", "b", gives="bool", conditions=(0,)),
    "bitwise_and": ScalarCode("{0} & {1}", "ib"),
    "bitwise_or": ScalarCode("{0} | {1}", "ib"),
    "bitwise_xor": ScalarCode("{0} ^ {1}", "ib"),
    "is_nan": ScalarCode("{0} != {0}", gives="bool"),
    "is_inf": ScalarCode("abs({0}) == {t}(np.inf)", gives="bool"),
    "is_finite": ScalarCode("abs({0}) < {t}(np.inf)", gives="bool"),
    # The following are powers, exponentials and logarithms.
    "power": ScalarCode("{0} ** {1}", slow=True),  # `_by_products` handles constant exponents.
    "sqrt": ScalarCode("np.sqrt({0})"),
    "root": ScalarCode("np.sqrt({0})"),
    "rsqrt": ScalarCode("{t}(1) / np.sqrt({0})"),
    "exp": ScalarCode("exp_{w}({0})"),
    "expm1": ScalarCode("expm1_{w}({0})"),
    "log": ScalarCode("log_{w}({0})"),
    "log1p": ScalarCode("log1p_{w}({0})"),
    "xlogy": ScalarCode("{t}(0) if {0} == {t}(0) else {0} * log_{w}({1})"),
    "xlog1py": ScalarCode("{t}(0) if {0} == {t}(0) else {0} * log1p_{w}({1})"),
    "xdivy": ScalarCode("{t}(0) if {0} == {t}(0) else {0} / {1}"),
    # The following are activations and losses.
    "tanh": ScalarCode("tanh_{w}({0})"),
    "tanh_back": ScalarCode("{0} * ({t}(1) - {1} * {1})"),
    "sigmoid": ScalarCode("sigmoid_{w}({0})"),
    "softplus": ScalarCode("softplus_{w}({0})"),
    "sigmoid_cross_entropy": ScalarCode(
        "maximum({0}, {t}(0)) - {0} * {1} + log1p_exp_{w}(-abs({0}))"
    ),
    "erf": ScalarCode("erf_{w}({0})"),
    # The following are trigonometric and hyperbolic functions.
    **{
        name: _library(name)
        for name in ("sin", "cos", "tan", "sinh", "cosh")
    },
    **{
        name: _library(f"arc{name[1:]}")
        for name in ("asin", "acos", "atan", "asinh", "acosh", "atanh")
    },
    "atan2": ScalarCode("np.arctan2({0}, {1})", slow=True),
}  # fmt: skip

# Ops whose scalar code depends on attributes: the keys are the op's name, then its attributes.
CODES_BY_ATTRIBUTE = {
    "gelu": {
        (("approximate", False),): ScalarCode("gelu_{w}({0})"),
        (("approximate", True),): ScalarCode("gelu_tanh_{w}({0})"),
    },
    "gelu_slope": {
        (("approximate", False),): ScalarCode("gelu_slope_{w}({0})"),
        (("approximate", True),): ScalarCode("gelu_tanh_slope_{w}({0})"),
    },
    "gelu_back": {
        (("approximate", False),): ScalarCode("{0} * gelu_slope_{w}({1})"),
        (("approximate", True),): ScalarCode("{0} * gelu_tanh_slope_{w}({1})"),
    },
}


def gives(name, dtypes, attrs=None):
    """Return the dtype of an op's result, or None if the op has no scalar code.

    Args:
        dtypes: the dtype of each array operand, and the type of each Python number.
    """
    try:
        operands = [d(1) if isinstance(d, type) else d for d in dtypes]
        return resolve(name, operands, attrs or {})[1]
    except KeyError:
        return None


def is_slow(name, exponent=None):
    """Return whether a generated loop would call the C library for each element of this op."""
    if name == "power" and exponent is not None:
        return _by_products(exponent) is None
    return name in CODES and CODES[name].slow


def resolve(name, operands, attrs):
    """Return the dtype in which an op computes, the dtype of its result, and its `ScalarCode`.

    Args:
        name: the op's name.
        operands: the NumPy dtype of each array, and Python numbers themselves.
        attrs: the op's attributes.

    Raises:
        KeyError: the op has no scalar code.
    """
    if name == "cast":
        return _cast(operands, np.dtype(attrs["dtype"]))
    code = CODES_BY_ATTRIBUTE[name][tuple(attrs.items())] if attrs else CODES[name]
    valued = [o for i, o in enumerate(operands) if i not in code.conditions]
    computes = np.result_type(*valued) if valued else BOOL
    if name == "power" and len(operands) == 2 and type(operands[1]) in (int, float):
        products = _by_products(operands[1])
        code = code if products is None else ScalarCode(products)
    kind = computes.kind.replace("u", "i")
    if kind not in code.kinds or computes not in (*FLOATS, *INTEGERS, BOOL):
        raise KeyError(name)
    return computes, BOOL if code.gives == "bool" else computes, code


def _cast(operands, to):
    (of,) = operands
    of = np.result_type(of)
    known = (*FLOATS, *INTEGERS, BOOL)
    if of not in known or to not in known or (of.kind == "f" and to.kind in "iu"):
        # For floats outside the integer's range, the result of a cast depends on the CPU.
        raise KeyError("cast")
    return of, to, ScalarCode("{0}")


def _by_products(exponent):
    """Return the template that computes x ** exponent by products and roots, or None."""
    products = {0.5: "np.sqrt({0})", -0.5: None, 1: "{0}", 2: "{0} * {0}", 3: "{0} * {0} * {0}",
                4: "({0} * {0}) * ({0} * {0})", -1: "{t}(1) / {0}", 0: None}  # fmt: skip
    return products.get(exponent)
