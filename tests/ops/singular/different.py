"""Where this package answers otherwise than TensorFlow or Keras, by the reasons of docs/numbers.md.

Another number than that of `ours.json`, or the same as theirs, fails.
"""

_SEGMENTS = "[0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6]"
REASONS = {
    "NaN propagates": f"""
        lambda x: tf.argmax(x,axis=-1)
        lambda x: tf.argmin(x,axis=-1)
        lambda x: tf.sort(x,axis=-1)
        lambda x: tf.sort(x,axis=-1,direction='DESCENDING')
        lambda x: tf.argsort(x,axis=-1,stable=True)
        lambda x: tf.argsort(x,axis=-1,direction='DESCENDING',stable=True)
        lambda x: tf.math.top_k(x,2)[0]
        lambda x: tf.math.top_k(x,2)[1]
        lambda x: tf.nn.max_pool1d(tf.reshape(x, (1, -1, 1)), 3, 3, 'VALID')
        lambda x: tf.nn.max_pool1d(tf.reshape(x, (1, -1, 1)), 2, 2, 'SAME')
        lambda x: tf.nn.max_pool2d(tf.reshape(x, (1, 13, 3, 1)), 3, 1, 'SAME')
        lambda x: keras.ops.max_pool(keras.ops.reshape(x, (1, -1, 1)), 3, 3)
        lambda x: keras.ops.max_pool(keras.ops.reshape(x, (1, -1, 1)), 2, 2, padding='same')
        lambda x: tf.math.segment_max(x, {_SEGMENTS})
        lambda x: tf.math.segment_min(x, {_SEGMENTS})
        lambda x: tf.math.unsorted_segment_max(x, {_SEGMENTS}, 9)
        lambda x: tf.math.unsorted_segment_min(x, {_SEGMENTS}, 9)
        tf.nn.softmax
        lambda x: tf.nn.softmax(x,axis=0)
        lambda x: tf.math.cumulative_logsumexp(x, axis=-1)
        keras.ops.soft_shrink""",
    "Derivatives at kinks and ties are TensorFlow's": """
        keras.ops.abs
        keras.ops.leaky_relu
        keras.ops.selu
        keras.ops.sparse_sigmoid
        keras.ops.maximum
        keras.ops.minimum
        keras.ops.hard_tanh
        lambda x: keras.ops.clip(x,-1.0,1.0)
        lambda x: keras.ops.maximum(x,0.0)
        lambda x: keras.ops.minimum(0.0,x)
        lambda x: keras.ops.normalize(x,order=1)
        keras.ops.rsqrt
        keras.ops.mod
        keras.layers.LeakyReLU()
        keras.constraints.NonNeg()
        keras.regularizers.L1L2(0.1,0.1)
        keras.losses.categorical_hinge
        keras.losses.hinge
        keras.losses.squared_hinge
        keras.losses.kl_divergence
        keras.losses.KLDivergence()
        keras.losses.mean_absolute_error
        keras.losses.mean_absolute_percentage_error
        lambda x: tf.norm(x,ord=2,axis=(0,1))""",
    "Finite here": """
        lambda x: tf.math.reduce_std(x, axis=-1)
        tf.math.reduce_std
        lambda x: keras.ops.std(x, axis=-1)
        keras.ops.std
        lambda x: keras.ops.where(x > 0.0, keras.ops.sqrt(x), 0.0)
        lambda x: keras.ops.normalize(x, axis=-1)
        keras.layers.UnitNormalization()
        lambda x: keras.layers.Dot(axes=1, normalize=True)([x, x])
        keras.constraints.MaxNorm()
        keras.constraints.UnitNorm()
        keras.constraints.MinMaxNorm(0.5,1.0)
        keras.regularizers.OrthogonalRegularizer()
        keras.losses.cosine_similarity
        keras.losses.CosineSimilarity()
        keras.losses.CosineSimilarity(axis=0)
        keras.losses.binary_crossentropy
        keras.losses.huber
        keras.losses.mean_squared_logarithmic_error
        keras.ops.power
        keras.ops.elu
        keras.ops.celu
        tf.nn.gelu
        lambda x: tf.nn.log_poisson_loss(x, x, compute_full_loss=True)""",
    "Correct here": """
        tf.math.bessel_i0
        tf.math.bessel_i1
        lambda x: tf.math.cumprod(x, axis=-1)
        keras.ops.logaddexp
        lambda x, y: tf.nn.weighted_cross_entropy_with_logits(x, y, pos_weight=2.0)
        lambda x: tf.nn.softmax_cross_entropy_with_logits(tf.ones_like(x), x)
        tf.linalg.pinv""",
    "Beyond the domain": """
        tf.linalg.sqrtm
        keras.ops.arccosh
        tf.math.digamma
        tf.math.softsign
        keras.ops.hard_silu
        lambda x: x ** 0.5
        lambda x: x ** 1.5
        lambda x: keras.ops.power(x, 0.5)
        lambda x: keras.ops.power(x, 1.5)
        lambda x: tf.nn.moments(x,axes=[-1])[1]
        lambda x: keras.ops.layer_normalization(x,epsilon=0.0)
        lambda x: keras.ops.rms_normalization(x,epsilon=0.0)
        lambda y, p: keras.losses.binary_crossentropy(y, p, from_logits=True)""",
    "Errors here": """
        tf.linalg.cholesky
        tf.linalg.logdet
        lambda x: tf.linalg.qr(x)[1]""",
    "Maximum of an empty array": """
        keras.ops.max
        keras.ops.min
        keras.ops.ptp
        lambda x: keras.ops.max(x, axis=-1)
        lambda x: keras.ops.min(x, axis=-1)
        lambda x: keras.ops.amax(x, axis=-1)
        lambda x: keras.ops.amin(x, axis=-1)
        lambda x: keras.ops.ptp(x, axis=-1)""",
}
DIFFERENT = {
    text.strip(): reason for reason, texts in REASONS.items() for text in texts.strip().splitlines()
}
