"""What programs are made of: expressions with places to fill in.

A place is `{letter}` or `{letter2}`: the letter says which value fits, and the same place twice is
the same value.

    f  floats             F  of the first value's dtype
    n  numbers            N  of the first value's dtype
    i  integers           b  booleans           c  complex numbers
    a  anything           A  of the first value's dtype
    m  floats, a matrix   M  one of its dtype
    s  what has elements along some axis        v  a variable of floats

Others stand for text that follows from the first value: see `filling.py`.
"""

UNARY = """abs ceil cos cosh erf erfc exp expm1 floor is_finite is_inf is_nan log log1p log_sigmoid
negative reciprocal rint round rsqrt sigmoid sign sin sinh softplus softsign sqrt square tan tanh
acos acosh asin asinh atan atanh lgamma digamma bessel_i0e reduce_logsumexp reduce_euclidean_norm
zero_fraction l2_normalize""".split()  # noqa: SIM905

FLOATS = [f"tf.math.{name}({{f}})" for name in UNARY] + """
tf.nn.relu({f})
tf.nn.relu6({f})
tf.nn.elu({f})
tf.nn.selu({f})
tf.nn.gelu({f})
tf.nn.gelu({f}, approximate=True)
tf.nn.silu({f})
tf.nn.leaky_relu({f}, 0.1)
tf.nn.softmax({f})
tf.nn.log_softmax({f}, axis={axis})
tf.math.atan2({f}, {F})
tf.math.divide_no_nan({f}, {F})
tf.math.multiply_no_nan({f}, {F})
tf.math.xlogy({f}, {F})
tf.math.xdivy({f}, {F})
tf.math.squared_difference({f}, {F})
tf.math.pow(tf.abs({f}), {F})
{f} ** {number}
{f} ** 2
{f} / {F}
{f} / {number}
{number} / {f}
{f} * tf.math.rsqrt(tf.square({F}) + 1.0)
tf.clip_by_value({f}, {number}, 5.0)
tf.clip_by_norm({f}, 1.0)
tf.math.reduce_std({f})
tf.math.reduce_variance({f}, axis={axis})
tf.math.reduce_logsumexp({f}, axis={axis}, keepdims=True)
tf.nn.moments({f}, axes=[{axis}])[1]
tf.nn.l2_loss({f})
tf.norm({f}, axis={axis})
tf.math.polyval([{f}, {F}], {F2})
tf.stop_gradient({f})
tf.where(tf.math.is_finite({f}), {f}, tf.zeros_like({f}))
tf.where({f} > 0, {f}, {F})
tf.nn.bias_add({m}, tf.reduce_sum({m}, axis={leading}))
tf.nn.sigmoid_cross_entropy_with_logits(labels={f}, logits={F})
tf.nn.softmax_cross_entropy_with_logits(labels=tf.nn.softmax({f}), logits={f2})
tf.vectorized_map(lambda row: tf.reduce_sum(tf.tanh(row)) * row, {s})
tf.map_fn(lambda row: row * 2.0 + tf.reduce_sum(row), {s})
tf.scan(lambda total, row: total * 0.5 + row, {s})
tf.cond(tf.reduce_sum({f}) > {number}, lambda: {f} * 2.0, lambda: tf.sin({f}))
tf.while_loop(lambda i, z: i < 3, lambda i, z: (i + 1, z * 0.5 + {f}), (0, {f}))[1]
tf.math.unsorted_segment_sum({s}, tf.constant({ids}), 3)
tf.math.segment_mean({s}, tf.sort(tf.constant({ids})))
tf.math.cumulative_logsumexp({s}, axis={axis})
tf.cast({f}, tf.float64)
tf.cast({f}, tf.float16)
tf.cast({n}, tf.float32)
tf.saturate_cast({f}, tf.int8)
tf.complex({f}, {F})
""".strip().splitlines()  # fmt: skip

NUMBERS = """
{n} + {N}
{n} - {N}
{n} * {N}
{n} + {number}
{number} - {n}
{n} * {number}
{n} * {whole}
-{n}
{n} // {N}
{n} % {N}
{n} // {nonzero}
{n} % {nonzero}
tf.maximum({n}, {N})
tf.minimum({n}, {N})
tf.add_n([{n}, {N}])
tf.reduce_sum({n})
tf.reduce_sum({n}, axis={axis})
tf.reduce_mean({n}, axis={axis}, keepdims=True)
tf.reduce_max({n}, axis={axis})
tf.reduce_min({n})
tf.reduce_prod({n}, axis={axis})
tf.cumsum({n}, axis={axis}, exclusive=True)
tf.cumsum({n}, axis={axis}, reverse=True)
tf.math.cumprod({n}, axis={axis})
tf.sort({n}, axis={axis}, direction="DESCENDING")
tf.argsort({n}, stable=True)
tf.argmax({n}, axis={axis})
tf.math.top_k({n}, k=1)
tf.math.count_nonzero({n})
tf.one_hot(tf.constant({ids}), 3, dtype=tf.float32)
tf.clip_by_value({n}, 0, 2)
tf.math.floormod({n}, {N})
tf.truncatediv({i}, {nonzero})
keras.ops.bitwise_and({i}, {i})
tf.cast({n}, tf.int32)
tf.cast({a}, tf.int64)
tf.cast({b}, tf.float32)
tf.cast({n}, tf.bool)
tf.einsum("...i,...i->...", {n}, {n})
tf.tensordot({m}, {M}, 1)
{m} @ {M}
{m} @ tf.transpose({m})
tf.matmul({m}, {M}, transpose_a=True)
tf.matmul({m}, {M}, transpose_b=True)
tf.linalg.band_part({m}, 1, 0)
tf.linalg.diag_part({m})
tf.linalg.trace({m})
tf.linalg.diag({f})
tf.linalg.matvec({m}, {F})
tf.linalg.inv({m} @ tf.transpose({m}) + tf.eye({m}.shape[0], dtype={m}.dtype) * 9.0)
tf.linalg.cholesky({m} @ tf.transpose({m}) + tf.eye({m}.shape[0], dtype={m}.dtype) * 9.0)
tf.abs({c})
tf.math.real({c})
tf.math.conj({c}) * {c}
""".strip().splitlines()

VIEWS = """
{a}[{slices}]
{a}[..., {slices}]
tf.transpose({a})
tf.transpose({a}, {perm})
tf.reshape({a}, {reshaped})
tf.reshape({a}, [-1])
tf.expand_dims({a}, {axis})
tf.squeeze({a})
tf.reverse({a}, [{axis}])
tf.roll({a}, 1, {axis})
tf.broadcast_to({a}, {wider})
tf.tile({a}, {ones_or_twos})
tf.repeat({a}, 2, axis={axis})
tf.concat([{a}, {A}], {axis})
tf.stack([{a}, {a}], axis={axis})
tf.stack([{a}, {A}])
tf.unstack({a}, axis={axis})[0]
tf.split({a}, 1, axis={axis})[0]
tf.identity({a})
tf.pad({a}, {pads})
tf.pad({s}, {pads}, mode="REFLECT")
tf.gather({s}, [0, 0], axis=0)
tf.gather({s}, tf.constant({ids}))
tf.gather({s}, {i})
tf.gather_nd({s}, [[0]])
tf.boolean_mask({a}, {b})
tf.where({b}, {a}, {A})
tf.where({b}, {n}, {N})
tf.zeros_like({a})
tf.ones_like({a})
tf.shape({a})
tf.size({a})
tf.slice({a}, {zeros}, {minus_ones})
tf.tensor_scatter_nd_update({s}, [[0]], {s}[:1])
tf.tensor_scatter_nd_add({s}, [[0], [0]], tf.concat([{s}[:1], {s}[:1]], 0))
tf.meshgrid({a}, {A})[0]
tf.linalg.matrix_transpose({a})
tf.fill([2, 1], tf.reduce_sum({n}))
tf.range(tf.size({a}))
""".strip().splitlines()

BOOLS = """
{n} > {N}
{n} <= {number}
{n} == {N}
{n} != {number}
tf.logical_and({b}, {b2})
tf.logical_not({b})
{b} | {b2}
{b} & {b2}
tf.reduce_any({b})
tf.reduce_all({b}, axis={axis})
tf.equal({a}, {A})
""".strip().splitlines()

KERAS = """
keras.ops.relu({f})
keras.ops.mean({n}, axis={axis})
keras.ops.var({f})
keras.ops.add({n}, {i})
keras.ops.multiply({f}, {b})
keras.ops.where({b}, {f}, 0.5)
keras.ops.logsumexp({f}, axis={axis})
keras.ops.moveaxis({a}, 0, -1)
keras.ops.swapaxes({a}, 0, -1)
keras.ops.flip({a}, axis={axis})
keras.ops.take({s}, {i}, axis=0)
keras.ops.clip({n}, -1, 1)
keras.ops.outer({f}, {F})
keras.ops.argmin({n}, axis={axis})
keras.ops.median({f})
keras.ops.cast({a}, "float32")
keras.activations.mish({f})
keras.activations.hard_sigmoid({f})
keras.activations.softmax({f})
""".strip().splitlines()

# Only where the other side draws the same numbers.
DRAWS = """
tf.random.normal([2, 3])
tf.random.uniform({f}.shape, seed=3)
tf.random.uniform([3], 0, 5, dtype=tf.int32)
tf.random.stateless_normal([3], [1, 2])
tf.random.shuffle({a}, seed=1)
tf.nn.dropout({f}, 0.5)
keras.random.normal([3], seed=5)
generator.normal([2])
generator.uniform({f}.shape, dtype={f}.dtype)
keras.random.dropout({f}, 0.3, seed=seeds)
""".strip().splitlines()

# What plain values that functions reach are called; they change between calls.
STATES = ['cfg["k"]', "box.k", "items[0]", "k0"]
STATE = """
{f} * {state}
{f} + {state}
{f} ** 2 if {state} > 1.2 else tf.sin({f})
""".strip().splitlines()

GROUPS = (
    (FLOATS, 6), (NUMBERS, 6), (VIEWS, 5), (BOOLS, 1), (KERAS, 1), (DRAWS, 1), (STATE, 1),
)  # fmt: skip
