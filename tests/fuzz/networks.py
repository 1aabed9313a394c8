"""Generate small networks of random layers, trained for some steps in one of the four ways."""

import random

import numpy as np

from tests.fuzz.running import Outcome, Runner

_ACTIVATIONS = ("relu", "tanh", "sigmoid", "gelu", "elu", "softplus", "swish", "linear", None)

# Layers by the rank of what they take, without the batch; {u} units, {k} kernel, {act} activation.
DENSE = """
Dense({u}, activation={act})
Dense({u}, use_bias=False, kernel_regularizer="l2")
Dense({u}, kernel_constraint="non_neg", bias_initializer="ones")
Dropout(0.3, seed={s})
GaussianNoise(0.1, seed={s})
GaussianDropout(0.2, seed={s})
AlphaDropout(0.2, seed={s})
BatchNormalization()
BatchNormalization(momentum=0.5, scale=False)
LayerNormalization()
LayerNormalization(epsilon=1e-2, center=False)
RMSNormalization()
UnitNormalization()
GroupNormalization(groups=1)
Activation({act})
LeakyReLU(0.2)
PReLU()
ELU()
ReLU(max_value=1.0, negative_slope=0.1)
Softmax()
Identity()
Rescaling(0.5, offset=0.25)
ActivityRegularization(l2=0.01)
SpectralNormalization(keras.layers.Dense({u}))
Lambda(lambda z: z * 0.5 + tf.reduce_mean(z))
""".strip().splitlines()

FLAT = """
RepeatVector(3)
Reshape((-1, 1))
Dense({u}, activation="softmax")
""".strip().splitlines()

SEQUENCE = """
Conv1D({u}, {k}, activation={act}, padding="same")
Conv1D({u}, 2, padding="causal", dilation_rate=2)
Conv1D({u}, 1, strides=2)
SeparableConv1D({u}, 2, padding="same")
DepthwiseConv1D(2, padding="same")
Conv1DTranspose({u}, 2, strides=2)
MaxPooling1D(2, padding="same")
AveragePooling1D(2, padding="same")
GlobalAveragePooling1D()
GlobalMaxPooling1D()
Flatten()
LSTM({u}, return_sequences=True)
LSTM({u}, dropout=0.2, seed={s})
GRU({u}, return_sequences=True, reset_after={flag})
SimpleRNN({u}, activation={act})
Bidirectional(keras.layers.GRU({u}, return_sequences={flag}), merge_mode="{merge}")
RNN([keras.layers.LSTMCell({u}), keras.layers.GRUCell(3)])
TimeDistributed(keras.layers.Dense({u}, activation={act}))
SpatialDropout1D(0.3, seed={s})
UpSampling1D(2)
ZeroPadding1D(1)
Cropping1D((0, 1))
Permute((2, 1))
EinsumDense("abc,cd->abd", output_shape=(None, {u}), bias_axes="d")
Masking(0.0)
AdaptiveAveragePooling1D(2)
""".strip().splitlines()

IMAGE = """
Conv2D({u}, {k}, activation={act}, padding="same")
Conv2D({u}, 2, strides=2, padding="same")
Conv2D({u}, 1)
Conv2D(4, 3, groups=1, dilation_rate=2, padding="same", activation={act})
SeparableConv2D({u}, 3, padding="same")
DepthwiseConv2D(3, padding="same", depth_multiplier=2)
Conv2DTranspose({u}, 2, strides=2)
MaxPooling2D(2, padding="same")
MaxPooling2D(3, strides=1, padding="same")
AveragePooling2D(2, padding="same")
GlobalAveragePooling2D()
GlobalMaxPooling2D(keepdims=True)
Flatten()
SpatialDropout2D(0.3, seed={s})
UpSampling2D(2)
ZeroPadding2D(1)
Cropping2D(((0, 1), (0, 0)))
Permute((2, 3, 1))
ConvLSTM1D({u}, 2, padding="same")
TimeDistributed(keras.layers.GlobalMaxPooling1D())
""".strip().splitlines()

JOINING = """
keras.layers.Add()([{h}, {g}])
keras.layers.Concatenate()([{h}, {g}])
keras.layers.Multiply()([{h}, {g}])
keras.layers.Average()([{h}, {g}])
keras.layers.Maximum()([{h}, {g}])
keras.layers.Subtract()([{h}, {g}])
keras.layers.Attention()([{h}, {g}])
keras.layers.Attention(use_scale=True, dropout=0.2, seed={s})([{h}, {g}])
keras.layers.AdditiveAttention()([{h}, {g}])
keras.layers.MultiHeadAttention(2, 3, dropout={drop}, seed={s})({h}, {g})
keras.layers.MultiHeadAttention(1, 4)({h}, {h}, use_causal_mask=True)
keras.layers.GroupQueryAttention(4, 2, 2)({h}, {h})
keras.layers.Dot(axes=-1)([{h}, {g}])
keras.ops.tanh({h}) * {h}
{h} + {h} * 0.5
keras.ops.concatenate([{h}, {h}], axis=-1)
""".strip().splitlines()

OPTIMIZERS = """
"sgd"
"adam"
keras.optimizers.SGD(0.05, momentum=0.9, nesterov=True)
keras.optimizers.Adam(0.01, amsgrad=True)
keras.optimizers.Adam(0.01, clipnorm=0.5)
keras.optimizers.Adam(0.01, global_clipnorm=0.5, use_ema=True, ema_momentum=0.5)
keras.optimizers.AdamW(0.01, weight_decay=0.1)
keras.optimizers.RMSprop(0.01, centered=True, momentum=0.5)
keras.optimizers.Adagrad(0.1)
keras.optimizers.Adadelta(1.0)
keras.optimizers.Adamax(0.01)
keras.optimizers.Nadam(0.01)
keras.optimizers.Ftrl(0.05, l1_regularization_strength=0.01)
keras.optimizers.Lion(0.005)
keras.optimizers.Adafactor(0.01)
keras.optimizers.Adam(keras.optimizers.schedules.ExponentialDecay(0.05, 2, 0.5))
keras.optimizers.SGD(keras.optimizers.schedules.CosineDecay(0.1, 6), clipvalue=0.1)
keras.optimizers.SGD(0.1, gradient_accumulation_steps=2)
keras.optimizers.Adam(0.01, groups={"*/bias": {"learning_rate": 0.001}})
keras.optimizers.LossScaleOptimizer(keras.optimizers.SGD(0.05))
keras.optimizers.Muon(0.01)
keras.optimizers.Lamb(0.01)
keras.optimizers.ScheduleFreeAdamW(0.01)
""".strip().splitlines()

LOSSES = """
"mse"
"mae"
"huber"
"log_cosh"
"cosine_similarity"
keras.losses.MeanSquaredError(reduction="sum")
keras.losses.BinaryCrossentropy(from_logits=True, label_smoothing=0.1)
lambda y, p: tf.reduce_mean(tf.square(y - p), axis=-1)
""".strip().splitlines()


class Network:
    """Writes a program that makes a network and trains it.

    Args:
        seed: of what it is.
        tf, keras: the packages it is tried out on.
    """

    def __init__(self, seed, tf, keras):
        self.rng = random.Random(seed)
        self.tf, self.keras = tf, keras
        self.env = Runner(tf, keras, Outcome()).names
        self.lines, self.count = [], 0

    def chance(self, p):
        return self.rng.random() < p

    def line(self, text):
        """Write a line if it runs."""
        try:
            exec(compile(text, "<program>", "exec"), self.env)
        except Exception:
            return False
        self.lines.append(text)
        return True

    def filled(self, text, **more):
        rng = self.rng
        values = {
            "u": rng.choice([1, 2, 3, 4, 5, 8]), "k": rng.choice([1, 2, 3]), "s": rng.randrange(9),
            "act": repr(rng.choice(_ACTIVATIONS)), "flag": rng.choice([True, False]),
            "merge": rng.choice(["concat", "sum"]), "drop": rng.choice([0.0, 0.3]), **more,
        }  # fmt: skip
        for name, value in values.items():
            text = text.replace("{" + name + "}", str(value))
        return text

    def layer(self, h):
        """Write one more layer on `h`; the name of what it gives."""
        rank = len(self.env[h].shape) - 1
        kinds = {1: FLAT, 2: SEQUENCE, 3: IMAGE}.get(rank, [])
        for _ in range(6):
            self.count += 1
            name = f"h{self.count}"
            if self.chance(0.15):
                mates = [n for n, v in self.env.items() if n.startswith("h") and v is not None]
                text = self.filled(self.rng.choice(JOINING), h=h, g=self.rng.choice([*mates, h]))
            else:
                text = self.rng.choice(DENSE if not kinds or self.chance(0.45) else kinds)
                text = self.filled(f"keras.layers.{text}({h})")
            if self.chance(0.06) and "Activation" not in text and "keras.layers." in text:
                text = text.replace(f")({h})", f', dtype="mixed_float16")({h})')
            if self.line(f"{name} = {text}"):
                value = self.env[name]
                if isinstance(value, (list, tuple)) or 0 in value.shape:
                    self.lines.pop()
                    continue
                if np.prod([n or 1 for n in value.shape], dtype=float) > 400:
                    self.lines.pop()
                    continue
                return name
        return h

    def inputs(self):
        """Write the input, and x; its shape."""
        rng = self.rng
        size = lambda: rng.choice([1, 2, 3, 4, 5, 6, 7])
        kind = rng.choice(["flat", "flat", "sequence", "image", "words"])
        self.rows = rng.choice([4, 5, 6, 7, 9])
        if kind == "words":
            length = size()
            masked = self.chance(0.4)
            self.line(f'h0 = keras.Input(({length},), dtype="int32")')
            self.line(f"h1 = keras.layers.Embedding(5, {size()}, mask_zero={masked})(h0)")
            self.count = 1
            self.line(f'x = tf.abs(data(({self.rows}, {length}), "int32", 1))')
            return "h1"
        shape = {"flat": (size(),), "sequence": (size() + 1, size()),
                 "image": (size() + 1, size() + 1, size())}[kind]  # fmt: skip
        self.line(f"h0 = keras.Input({shape})")
        self.line(f'x = data({(self.rows, *shape)}, "float32", 1)')
        return "h0"

    def model(self):
        self.line(f"keras.utils.set_random_seed({self.rng.randrange(99)})")
        h = self.inputs()
        for _ in range(self.rng.choice([1, 2, 3, 4, 6])):
            h = self.layer(h)
        if self.chance(0.15):  # layers that are shared
            units = self.env[h].shape[-1]
            if units and self.line(f"shared = keras.layers.Dense({units}, activation='tanh')"):
                self.line(f"h = shared(shared({h}))")
                h = "h"
        rank = len(self.env[h].shape)
        if rank > 2 and self.chance(0.7):
            self.line(f"out_ = keras.layers.Flatten()({h})")
            h = "out_" if "out_" in self.env else h
        self.line(f"y_ = keras.layers.Dense({self.rng.choice([1, 2, 3])})({h})")
        h = "y_" if "y_" in self.env else h
        self.line(f"model = keras.Model(h0, {h})")
        if self.chance(0.15):  # nested
            self.line("inner = model")
            self.line("h0 = keras.Input(inner.input_shape[1:], dtype=inner.inputs[0].dtype)")
            self.line("model = keras.Model(h0, inner(h0) * 0.5)")
        shape = (self.rows, *[n or 2 for n in self.env["model"].output_shape[1:]])
        try:
            shape = tuple(self.env["model"](self.env["x"]).shape)
        except Exception:
            return False
        return self.line(f'y = data({shape}, "float32", 2)')

    def text(self):
        if not self.model():
            return None
        optimizer, loss = self.rng.choice(OPTIMIZERS), self.rng.choice(LOSSES)
        if self.env["model"].output_shape[-1] == 1 and loss == '"cosine_similarity"':
            # The cosine of two numbers is 1 or -1, so its gradients are rounding errors, which
            # optimizers like Ftrl and Adadelta scale to the size of a step.
            loss = '"mse"'
        self.line(f"optimizer = keras.optimizers.get({optimizer})")
        way = self.rng.choice(["fit", "step", "tape", "train_step", "function", "on_batch"])
        getattr(self, way)(loss)
        self.lines.append("out(model.get_weights())")
        return "\n".join(self.lines) + "\n"

    def weights(self):
        if not self.chance(0.2):
            return ""
        return f', sample_weight=np.linspace(0, 1, {self.rows}, dtype="float32")'

    def fit(self, loss):
        metrics = self.rng.choice(["", ', metrics=["mae"]', ', weighted_metrics=["mse"]'])
        more = self.rng.choice(["", "", ", accumulate=2"])
        self.lines.append(f"model.compile(optimizer, {loss}{metrics}{more})")
        size = self.rng.choice([2, 3, 4])
        self.lines.append(
            f"history = model.fit(x, y, batch_size={size}, epochs={self.rng.choice([2, 3])}, "
            f"shuffle={self.chance(0.5)}, verbose=0{self.weights()})"
        )
        self.lines.append("out(history.history)")
        self.lines.append(f"out(model.evaluate(x, y, batch_size={size}, verbose=0))")
        self.lines.append(f"out(model.predict(x, batch_size={size}, verbose=0))")

    def on_batch(self, loss):
        self.lines += [
            f"model.compile(optimizer, {loss})", "for i in range(4):",
            "    out(model.train_on_batch(x, y))", "out(model.predict_on_batch(x))",
        ]  # fmt: skip

    def step(self, loss):
        self.lines.append(f"step = model.training_step(loss={loss}, optimizer=optimizer)")
        self.lines.append(f"for n in ({self.sizes()}):")
        self.lines.append("    out(step(x[:n], y[:n]))")

    def sizes(self):
        rows = self.rows
        return self.rng.choice([f"{rows}, " * 5, f"{rows}, {rows}, 3, 3, 3, {rows}, {rows}"])

    def tape(self, loss, decorated=False):
        indent = "    " if decorated else ""
        head = ["@tf.function", "def train(x, y):"] if decorated else []
        self.lines.append(f"loss = keras.losses.get({loss})")
        body = [
            "with tf.GradientTape() as tape:",
            "    value = tf.reduce_mean(loss(y, model(x, training=True)))",
            "    value += sum(model.losses)",
            "gradients = tape.gradient(value, model.trainable_variables)",
            "optimizer.apply_gradients(zip(gradients, model.trainable_variables))",
        ]
        if decorated:
            self.lines += [*head, *(f"{indent}{line}" for line in body), "    return value"]
            self.lines += [f"for n in ({self.sizes()}):", "    out(train(x[:n], y[:n]))"]
        else:
            self.lines += [
                "for i in range(4):",
                *(f"    {line}" for line in body),
                "    out(value)",
            ]

    def function(self, loss):
        self.tape(loss, decorated=True)

    def train_step(self, loss):
        self.lines += [
            "class Own(keras.Model):",
            "    def train_step(self, data):",
            "        x, y = data",
            "        with tf.GradientTape() as tape:",
            "            value = self.compute_loss(y=y, y_pred=self(x, training=True))",
            "        gradients = tape.gradient(value, self.trainable_variables)",
            "        self.optimizer.apply_gradients(zip(gradients, self.trainable_variables))",
            '        return {"loss": value * 2.0}',
            "own = Own(model.inputs, model.outputs)",
            f"own.compile(optimizer, {loss})",
            "out(own.fit(x, y, batch_size=3, epochs=2, shuffle=False, verbose=0).history)",
        ]


def network(seed, tf, keras):
    """The text of the network with this seed; None where what it would be does not run."""
    from framework.kernels import tier

    before = tier._tier
    tier.set_tier("off")
    try:
        return Network(seed, tf, keras).text()
    finally:
        tier.set_tier(before)
        keras.backend.clear_session()
