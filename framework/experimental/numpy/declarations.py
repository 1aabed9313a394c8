"""NumPy's functions for tensors, each declared by its signature and a dtype rule.

`DECLARATIONS` lists each rule's name with the signatures of its functions. A declared function
calls the function of `keras.ops` with the same name, or with the name in `NAMES`, on operands that
the rule converts:

- same: one operand, in its dtype
- float: one operand; integers become float64
- sum: one operand; integers become int64 or uint64
- pair: two operands, promoted to a common dtype
- floats: two operands, promoted to a common floating dtype
- list: a list of operands, promoted to a common dtype
"""

import inspect
from importlib import import_module

import numpy as np

from framework.core.cast import cast
from framework.experimental.numpy import conversion

DECLARATIONS = """
same: abs(x) absolute(x) bitwise_not(x) conj(x) conjugate(x) copy(x) imag(x) iscomplex(x)
    isreal(x) logical_not(x) negative(x) positive(x) real(x) round(a,decimals=0)
    around(a,decimals=0) sign(x) signbit(x) square(x) isfinite(x) isinf(x) isnan(x) isneginf(x)
    isposinf(x)
    all(a,axis=None,keepdims=None) any(a,axis=None,keepdims=None)
    amax(a,axis=None,out=None,keepdims=None) amin(a,axis=None,out=None,keepdims=None)
    max(a,axis=None,keepdims=None) min(a,axis=None,keepdims=None) ptp(a,axis=None,keepdims=None)
    argmax(a,axis=None) argmin(a,axis=None) argsort(a,axis=-1,kind="quicksort",order=None)
    sort(a,axis=-1,kind="quicksort",order=None) count_nonzero(a,axis=None) nonzero(a)
    broadcast_to(array,shape) diag(v,k=0) diagflat(v,k=0)
    diagonal(a,offset=0,axis1=0,axis2=1) diff(a,n=1,axis=-1) expand_dims(a,axis) flip(m,axis=None)
    fliplr(m) flipud(m) moveaxis(a,source,destination) ravel(a) flatten(a,order="C")
    repeat(a,repeats,axis=None) reshape(a,newshape,order="C") roll(a,shift,axis=None)
    rot90(m,k=1,axes=(0,1)) squeeze(a,axis=None) swapaxes(a,axis1,axis2) tile(a,reps)
    transpose(a,axes=None) tril(m,k=0) triu(m,k=0) vander(x,N=None,increasing=False)
    split(ary,indices_or_sections,axis=0) dsplit(ary,indices_or_sections)
    hsplit(ary,indices_or_sections) vsplit(ary,indices_or_sections)
    pad(array,pad_width,mode,constant_values=None)
float: arccos(x) arccosh(x) arcsin(x) arcsinh(x) arctan(x) arctanh(x) cbrt(x) ceil(x) cos(x) cosh(x)
    deg2rad(x) exp(x) exp2(x) expm1(x) fabs(x) fix(x) floor(x) log(x) log10(x) log1p(x) log2(x)
    rad2deg(x) reciprocal(x) sin(x) sinc(x) sinh(x) sqrt(x) tan(x) tanh(x) angle(z,deg=False)
    mean(a,axis=None,dtype=None,out=None,keepdims=None) std(a,axis=None,keepdims=None)
    nanmean(a,axis=None,dtype=None,keepdims=None)
    var(a,axis=None,dtype=None,out=None,ddof=0,keepdims=None)
sum: sum(a,axis=None,dtype=None,keepdims=None) prod(a,axis=None,dtype=None,keepdims=None)
    cumsum(a,axis=None,dtype=None) cumprod(a,axis=None,dtype=None)
    nansum(a,axis=None,dtype=None,keepdims=False) nanprod(a,axis=None,dtype=None,keepdims=False)
    trace(a,offset=0,axis1=0,axis2=1,dtype=None)
pair: add(x1,x2) subtract(x1,x2) multiply(x1,x2) floor_divide(x1,x2) mod(x1,x2) remainder(x1,x2)
    power(x1,x2) maximum(x1,x2) minimum(x1,x2) bitwise_and(x1,x2) bitwise_or(x1,x2)
    bitwise_xor(x1,x2) gcd(x1,x2) lcm(x1,x2) equal(x1,x2) not_equal(x1,x2) greater(x1,x2)
    greater_equal(x1,x2) less(x1,x2) less_equal(x1,x2) logical_and(x1,x2) logical_or(x1,x2)
    logical_xor(x1,x2) matmul(x1,x2) dot(a,b) inner(a,b) outer(a,b) kron(a,b) vdot(a,b)
    tensordot(a,b,axes=2) cross(a,b,axisa=-1,axisb=-1,axisc=-1,axis=None) divmod(x1,x2)
    append(arr,values,axis=None) polyval(p,x)
floats: divide(x1,x2) true_divide(x1,x2) arctan2(x1,x2) logaddexp(x1,x2) logaddexp2(x1,x2)
    hypot(x1,x2) heaviside(x1,x2) float_power(x1,x2) nextafter(x1,x2)
    isclose(a,b,rtol=1e-05,atol=1e-08,equal_nan=False)
    allclose(a,b,rtol=1e-05,atol=1e-08,equal_nan=False)
list: concatenate(arys,axis=0) stack(arrays,axis=0) hstack(tup) vstack(tup) dstack(tup)
"""
NAMES = {
    "float_power": "power", "remainder": "mod", "around": "round", "fix": "trunc", "fabs": "abs",
    "flatten": "ravel", "iscomplex": "isreal", "positive": "copy",
}  # fmt: skip
_RENAMED = {"reps": "repeats"}


def ops(name):
    """Return the function of `keras.ops` that computes NumPy's function `name`."""
    return getattr(import_module("framework.keras.ops"), NAMES.get(name, name))


# ---- rules ---------------------------------------------------------------------------------------


def _given(options):
    """Return the options to pass to `keras.ops`: all but None, `out`, `kind` and `order`."""
    unused = ("out", "kind", "order")
    return {k: v for k, v in options.items() if v is not None and k not in unused}


def _same(op):
    return lambda x, **options: op(conversion.asarray(x), **_given(options))


def _float(op):
    def function(x, dtype=None, ddof=0, **options):
        (x,) = conversion.floats(x if dtype is None else conversion.asarray(x, dtype))
        made = op(x, **_given(options))
        if not ddof:
            return made
        count = x.size // max(1, made.size)
        return made * conversion.asarray(count / (count - ddof), made.dtype)

    return function


def _sum(op):
    def function(x, dtype=None, **options):
        made = op(conversion.summed(x, dtype), **_given(options))
        return made if dtype is None else conversion.asarray(made, dtype)

    return function


def _pair(op):
    return lambda x, y, **options: op(*conversion.promoted(x, y), **_given(options))


def _floats(op):
    return lambda x, y, **options: op(*conversion.floats(x, y), **_given(options))


def _list(op):
    return lambda values, **options: op(conversion.promoted(*values), **_given(options))


RULES = {
    "same": (_same, 1), "float": (_float, 1), "sum": (_sum, 1), "pair": (_pair, 2),
    "floats": (_floats, 2), "list": (_list, 1),
}  # fmt: skip


# ---- functions -----------------------------------------------------------------------------------


def _parsed():
    """Parse `DECLARATIONS`: return {function name: (rule, parameters as text)}."""
    found, rule = {}, ""
    for word in DECLARATIONS.split():
        if word.endswith(":"):
            rule = word[:-1]
        else:
            name, _, parameters = word[:-1].partition("(")
            found[name] = rule, parameters
    return found


DECLARED = _parsed()


def declared(name, own=None):
    """Create the function that `DECLARATIONS` declares, with its signature.

    Args:
        name: the name of NumPy's function.
        own: {name: function to call instead of that of `keras.ops`}.
    """
    rule, parameters = DECLARED[name]
    make, operands = RULES[rule]
    signature = inspect.signature(eval(f"lambda {parameters}: None"))  # noqa: S307 (of this file)
    names = list(signature.parameters)
    options = {n: _RENAMED.get(n, n) for n in names[operands:]}
    passed = [*names[:operands], *(f"{new}={old}" for old, new in options.items())]
    held = {"compute": make((own or {}).get(name) or ops(name))}
    exec(f"def {name}({parameters}):\n    return compute({', '.join(passed)})", held)  # noqa: S102
    function = held[name]
    function.__module__ = __name__.rpartition(".")[0]
    function.__doc__ = f"NumPy's `{name}` of tensors, with NumPy's dtypes."
    return function


# ---- functions that differ from keras.ops --------------------------------------------------------


def _iscomplex(x):
    return ops("logical_not")(ops("isreal")(x))


def _angle(x, deg=False):
    made = ops("angle")(x)
    return made * conversion.asarray(180 / np.pi, made.dtype) if deg else made


def _divmod(x, y):
    return ops("floor_divide")(x, y), ops("mod")(x, y)


def _polyval(p, x):
    total = ops("zeros_like")(x)
    for i in range(p.shape[0]):
        total = total * x + p[i]
    return total


def _nonzero(x):
    return [cast(part, dtype=np.dtype(np.int64)) for part in ops("nonzero")(x)]


def _as_int64(name):
    def function(x, **options):
        return cast(ops(name)(x, **options), dtype=np.dtype(np.int64))

    return function


OWN = {
    "angle": _angle, "iscomplex": _iscomplex, "divmod": _divmod, "polyval": _polyval,
    "nonzero": _nonzero,
    "argmax": _as_int64("argmax"), "argmin": _as_int64("argmin"),
    "argsort": _as_int64("argsort"), "count_nonzero": _as_int64("count_nonzero"),
    "conj": lambda x: ops("conjugate")(x) if x.dtype.is_complex else x,
}  # fmt: skip
