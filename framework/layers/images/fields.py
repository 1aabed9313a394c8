"""Fields of image layers: factors, ranges of values, and choices."""

from typing import Annotated, Any

from framework.core.configurable import Resolved, one_of
from framework.core.errors import InvalidArgumentError


def is_number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def pair_within(value, low, high):
    """Return (lower, upper) for one or two numbers; one number f means (-f, f), cut at the bounds.

    Args:
        value: a number, or a list or tuple of two.
        low, high: the bounds.
    """
    if isinstance(value, (tuple, list)) and len(value) == 2 and all(map(is_number, value)):
        if value[0] <= high and value[1] >= low:
            return tuple(sorted(value))
    elif is_number(value) and low <= value <= high:
        number = abs(value)
        return max(-number, low), number
    raise InvalidArgumentError(
        f"expected a number (or a list of two numbers) in the range [{low}, {high}]"
    )


def factor_in(low, high, zero_for_none=False):
    """Return the rule that a field takes one or two numbers from `low` to `high`."""

    def resolve(value):
        value = 0.0 if zero_for_none and value is None else value
        return pair_within(value, low, high)

    return Resolved(f"numbers in [{low}, {high}]", resolve)


SignedFactor = Annotated[Any, factor_in(-1, 1)]
SignedFactorOrNone = Annotated[Any, factor_in(-1, 1, zero_for_none=True)]
Factor = Annotated[Any, factor_in(0, 1)]
Bits = Annotated[Any, factor_in(1, 8)]


def _strictly(low, high, smallest, open_low=False):
    """Return a function that checks one or two numbers, and returns (lower, upper)."""

    def check(number):
        if (
            not is_number(number)
            or not (low < number if open_low else low <= number)
            or number > high
        ):
            raise InvalidArgumentError(
                "expected a number (or a list of two numbers) in the range "
                f"{'(' if open_low else '['}{low}, {high}]"
            )

    def resolve(value):
        if isinstance(value, (tuple, list)) and len(value) == 2:
            check(value[0])
            check(value[1])
            return tuple(sorted(value))
        check(value)
        return (-abs(value) if smallest is None else smallest, abs(value))

    return resolve


shear_bounds = _strictly(-1, 1, None)
shift_bounds = _strictly(-1, 1, None)
zoom_bounds = _strictly(-1, 1, None, open_low=True)
fraction_bounds = _strictly(0, 1, 0)


def _shear(value):
    if is_number(value) and value < 0:
        raise InvalidArgumentError(
            "expected a number (or a list of two numbers) in the range [0, 1]"
        )
    return shear_bounds(value)


def _checked(bounds):
    """Return a function that checks a field's value by `bounds` and returns it unchanged."""

    def resolve(value):
        if value is not None:
            bounds(value)
        return tuple(value) if isinstance(value, list) else value

    return resolve


Shear = Annotated[Any, Resolved("numbers in [0, 1]", _shear)]
Shift = Annotated[Any, Resolved("numbers in [-1, 1]", _checked(shift_bounds))]
Zoom = Annotated[Any, Resolved("numbers in (-1, 1]", _checked(zoom_bounds))]
Share = Annotated[Any, Resolved("numbers in [0, 1]", fraction_bounds)]


def _sorted_range(value):
    if not isinstance(value, (tuple, list)) or len(value) != 2:
        raise InvalidArgumentError("expected a list of two numbers, the lowest and highest value")
    return sorted(value)


def _range(value):
    if not isinstance(value, (tuple, list)) or len(value) != 2:
        raise InvalidArgumentError("expected two numbers, the lowest and highest value")
    return tuple(value)


SortedRange = Annotated[Any, Resolved("two numbers", _sorted_range)]
Range = Annotated[Any, Resolved("two numbers", _range)]


def _kernel_size(value):
    pair = tuple(value) if isinstance(value, (tuple, list)) else (value, value)
    if len(pair) != 2 or not all(is_number(n) and n % 2 == 1 for n in pair):
        raise InvalidArgumentError("expected an odd number, or a list of two odd numbers")
    return pair


KernelSize = Annotated[Any, Resolved("odd numbers", _kernel_size)]


def choice(name, *allowed):
    """Return the rule of a field: values that are not `allowed` raise NotImplementedError."""

    def resolve(value):
        if value not in allowed:
            raise NotImplementedError(
                f"Unknown `{name}` {value!r}: expected one of {', '.join(map(repr, allowed))}."
            )
        return value

    return Resolved(f"one of {allowed}", resolve)


FillMode = Annotated[str, choice("fill_mode", "reflect", "wrap", "constant", "nearest")]
ElasticFillMode = Annotated[
    str, choice("fill_mode", "constant", "nearest", "wrap", "mirror", "reflect")
]
Interpolation = Annotated[str, choice("interpolation", "nearest", "bilinear")]
FlipMode = Annotated[str, one_of("horizontal_and_vertical", "horizontal", "vertical")]
