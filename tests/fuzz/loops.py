"""Generate training loops: what changes between steps, callbacks, exceptions, shared layers."""

import random
import re

from tests.fuzz.networks import LOSSES, OPTIMIZERS

_MODEL = """
keras.utils.set_random_seed({s})
body = keras.layers.Dense({u}, activation="tanh", name="body")
drop = keras.layers.Dropout({d}, seed=1)
norm = keras.layers.BatchNormalization(momentum=0.5)
head = keras.layers.Dense(2, name="head")
model = keras.Sequential([keras.Input((3,)), body, norm, drop, head])
other = keras.Sequential([keras.Input((3,)), body, keras.layers.Dense(2)])
x, y = data((7, 3), "float32", 1), data((7, 2), "float32", 2)
w = tf.abs(data((7,), "float32", 3))
optimizer = keras.optimizers.get({o})
second = keras.optimizers.SGD(0.1)
"""

# What may happen between two steps.
EVENTS = """
body.trainable = {flag}
head.trainable = {flag}
norm.trainable = {flag}
drop.rate = {d}
optimizer.learning_rate = 0.02
optimizer.learning_rate.assign(0.005)
optimizer.weight_decay = 0.01
body.activation = keras.activations.relu
body.kernel.assign(body.kernel * 0.5)
body.kernel_regularizer = keras.regularizers.L2(0.1)
norm.momentum = 0.9
model.set_weights([v * 0.9 for v in model.get_weights()])
keras.utils.set_random_seed(5)
out(model(x))
out(model(x, training=True))
out(model.predict(x, verbose=0))
tf.random.set_seed(2)
with tf.GradientTape() as tape: z = tf.reduce_sum(model(x)); out(tape.gradient(z, body.kernel))
""".strip().splitlines()

CALLBACKS = """
def on_epoch_end(self, epoch, logs=None): body.trainable = not body.trainable
def on_epoch_end(self, epoch, logs=None): self.model.optimizer.learning_rate = 0.01 / (epoch + 1)
def on_train_batch_end(self, batch, logs=None): out(logs["loss"])
def on_train_batch_end(self, batch, logs=None): body.kernel.assign(body.kernel * 0.9)
def on_train_batch_begin(self, batch, logs=None): drop.rate = 0.1 * (batch + 1)
def on_epoch_begin(self, epoch, logs=None): norm.momentum = 0.5 + 0.1 * epoch
def on_epoch_end(self, epoch, logs=None): self.model.stop_training = epoch == 1
def on_epoch_end(self, epoch, logs=None): out(self.model.predict(x, verbose=0))
""".strip().splitlines()

READY = """
keras.callbacks.LearningRateScheduler(lambda epoch, rate: rate * 0.5)
keras.callbacks.ReduceLROnPlateau(monitor="loss", patience=0)
keras.callbacks.EarlyStopping(monitor="loss", patience=1, restore_best_weights=True)
keras.callbacks.TerminateOnNaN()
""".strip().splitlines()


def loop(seed):
    """The text of the training loop with this seed."""
    rng = random.Random(seed)
    lines = (
        _MODEL.replace("{s}", str(rng.randrange(99)))
        .replace("{u}", str(rng.choice([1, 2, 4, 5])))
        .replace("{d}", rng.choice(["0.0", "0.3"]))
        .replace("{o}", rng.choice(OPTIMIZERS))
        .strip()
        .splitlines()
    )
    write = {"step": _step, "fit": _fit, "tape": _tape, "two": _two, "threads": _threads}
    lines += write[rng.choice(["step", "step", "fit", "fit", "tape", "tape", "two", "threads"])](
        rng
    )
    return "\n".join([*lines, "out(model.get_weights())", "out(other.get_weights())"]) + "\n"


# What a `tf.function` of a user's is not told of: docs/compiler.md.
_SETTING = re.compile(r"\w+\.\w+ = ")


def _event(rng, compiled=False):
    text = rng.choice([e for e in EVENTS if not (compiled and _SETTING.match(e))])
    text = text.replace("{flag}", rng.choice(["True", "False"]))
    return text.replace("{d}", rng.choice(["0.0", "0.5"]))


def _some_events(rng, step, compiled=False):
    lines = []
    for _ in range(rng.choice([1, 2, 3])):
        lines += ["for i in range(3):", f"    {step}", _event(rng, compiled)]
    return [*lines, "for i in range(3):", f"    {step}"]


def _step(rng):
    more = rng.choice(["", "", ", clipnorm=0.1", ", accumulate=2", ', metrics=["mae"]',
                       ", global_clipnorm=0.5"])  # fmt: skip
    lines = [f"step = model.training_step(loss={rng.choice(LOSSES)}, optimizer=optimizer{more})"]
    rows = rng.choice(["x, y", "x[:3], y[:3]", "x, y, w", "x[:n], y[:n]"])
    step = f"out(step({rows}))"
    if "n" in rows:
        step = f"[out(step({rows})) for n in (7, 3)]"
    lines += _some_events(rng, step)
    if "accumulate" in more:
        lines.append("step.flush()")
    return lines


def _fit(rng):
    more = rng.choice(["", ', metrics=["mae"]', ", accumulate=2"])
    lines = [f"model.compile(optimizer, {rng.choice(LOSSES)}{more})"]
    rest = rng.choice(["", ", sample_weight=w", ", validation_data=(x, y)", ", shuffle=False",
                       ", validation_split=0.3"])  # fmt: skip
    if rng.random() < 0.6:
        lines += ["class Own(keras.callbacks.Callback):", f"    {rng.choice(CALLBACKS)}"]
        rest += f", callbacks=[Own(){', ' + rng.choice(READY) if rng.random() < 0.4 else ''}]"
    size = rng.choice([2, 3, 4, 7])
    fit = f"out(model.fit(x, y, batch_size={size}, epochs=3, verbose=0{rest}).history)"
    for _ in range(rng.choice([1, 2])):
        lines += [fit, _event(rng)]
    return [*lines, "out(model.evaluate(x, y, verbose=0))"]


def _tape(rng):
    body = [
        "with tf.GradientTape() as tape:",
        "    value = tf.reduce_mean(tf.square(model(x, training=True) - y))",
        "gradients = tape.gradient(value, model.trainable_variables)",
    ]
    if rng.random() < 0.3:
        body.append("gradients, _ = tf.clip_by_global_norm(gradients, 0.5)")
    if rng.random() < 0.2:
        body.append('if tf.reduce_max(value) < 0.5: raise ValueError("good enough")')
    body += ["optimizer.apply_gradients(zip(gradients, model.trainable_variables))", "return value"]
    head = ["@tf.function"] if rng.random() < 0.7 else []
    lines = [*head, "def train(x, y):", *(f"    {line}" for line in body)]
    call = rng.choice(["call(train, x, y)", "call(train, x[:3], y[:3])"])
    return lines + _some_events(rng, call, compiled=bool(head))


def _two(rng):
    """Two models that share a layer, by turns, perhaps by one optimizer."""
    by = rng.choice(["second", "second", "optimizer"])
    if by == "optimizer":
        return [
            "optimizer.build([*model.trainable_variables, *other.trainable_variables[2:]])",
            *("@tf.function", "def train(net, x, y):", "    with tf.GradientTape() as tape:",
              "        value = tf.reduce_mean(tf.square(net(x, training=True) - y))",
              "    gradients = tape.gradient(value, net.trainable_variables)",
              "    optimizer.apply_gradients(zip(gradients, net.trainable_variables))",
              "    return value"),
            "for i in range(4):", "    call(train, model, x, y)", "    call(train, other, x, y)",
        ]  # fmt: skip
    return [
        f"step = model.training_step(loss={rng.choice(LOSSES)}, optimizer=optimizer)",
        'step2 = other.training_step(loss="mse", optimizer=second)',
        "for i in range(4):", "    out(step(x, y))", "    out(step2(x, y))",
        _event(rng), "for i in range(3):", "    out(step(x, y))", "    out(step2(x, y))",
    ]  # fmt: skip


def _threads(rng):
    """Predictions by threads; training by one."""
    return [
        f"model.compile(optimizer, {rng.choice(LOSSES)})",
        "model.fit(x, y, epochs=2, verbose=0)",
        "f = tf.function(lambda x: model(x) * 2.0)",
        "threads(f, (x,), (x,), (x,))",
        "threads(f, (x,), (x[:3],), (x,))",
    ]
