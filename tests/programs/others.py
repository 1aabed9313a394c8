"""Reinforcement learning, graphs, point clouds, and layers that programs write for themselves."""

import numpy as np

import framework as tf
from framework import keras
from framework.keras import layers, ops
from tests.programs.registry import error_rate, images, program


class Corridor:
    """An agent on a line of eleven places: the right end pays, the left end costs."""

    def reset(self, rng):
        self.place, self.time = rng.integers(3, 8), 0
        return self.state()

    def state(self):
        return np.eye(11, dtype="float32")[self.place]

    def step(self, action):
        self.place += 1 if action else -1
        self.time += 1
        done = self.place in (0, 10) or self.time == 30
        reward = {0: -1.0, 10: 1.0}.get(self.place, -0.02)
        return self.state(), reward, done


@program(share=0.5)
def actor_critic():
    """The error is what the return lacks to 1; the baseline chooses at random."""
    rng, env = np.random.default_rng(0), Corridor()
    inputs = layers.Input(shape=(11,))
    common = layers.Dense(32, activation="relu")(inputs)
    action = layers.Dense(2, activation="softmax")(common)
    critic = layers.Dense(1)(common)
    model = keras.Model(inputs=inputs, outputs=[action, critic])
    optimizer = keras.optimizers.Adam(learning_rate=0.02)
    huber_loss = keras.losses.Huber()
    eps = np.finfo(np.float32).eps.item()
    totals = []
    for _ in range(50):
        state, done, total = env.reset(rng), False, 0.0
        log_probs, values, rewards = [], [], []
        with tf.GradientTape() as tape:
            while not done:
                action_probs, critic_value = model(tf.expand_dims(tf.constant(state), 0))
                values.append(critic_value[0, 0])
                chosen = rng.choice(2, p=np.squeeze(action_probs))
                log_probs.append(tf.math.log(action_probs[0, chosen]))
                state, reward, done = env.step(chosen)
                rewards.append(reward)
                total += reward
            returns, discounted = [], 0.0
            for r in rewards[::-1]:
                discounted = r + 0.95 * discounted
                returns.insert(0, discounted)
            returns = np.array(returns)
            if len(returns) > 1:
                returns = (returns - np.mean(returns)) / (np.std(returns) + eps) + discounted
            losses = []
            for log_prob, value, ret in zip(log_probs, values, returns):
                losses.append(-log_prob * (ret - float(value)))
                losses.append(huber_loss(tf.expand_dims(value, 0), tf.expand_dims(ret, 0)))
            loss_value = sum(losses)
        grads = tape.gradient(loss_value, model.trainable_variables)
        optimizer.apply_gradients(zip(grads, model.trainable_variables))
        totals.append(total)
    return 1 - np.mean(totals[-15:]), 1.2


@program(share=0.5)
def deep_q_network():
    rng, env = np.random.default_rng(0), Corridor()

    def create_q_model():
        return keras.Sequential(
            [keras.Input((11,)), layers.Dense(32, activation="relu"), layers.Dense(2)]
        )

    model, model_target = create_q_model(), create_q_model()
    optimizer = keras.optimizers.Adam(learning_rate=0.02, clipnorm=1.0)
    loss_function = keras.losses.Huber()
    memory, totals = [], []

    @tf.function
    def update(states, actions, updated_q_values):
        masks = tf.one_hot(actions, 2)
        with tf.GradientTape() as tape:
            q_action = tf.reduce_sum(tf.multiply(model(states), masks), axis=1)
            loss = loss_function(updated_q_values, q_action)
        grads = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(grads, model.trainable_variables))

    for episode in range(50):
        state, done, total = env.reset(rng), False, 0.0
        epsilon = max(0.05, 1 - episode / 25)
        while not done:
            if rng.random() < epsilon:
                action = rng.integers(2)
            else:
                values = model(tf.expand_dims(tf.convert_to_tensor(state), 0), training=False)
                action = int(tf.argmax(values[0]))
            following, reward, done = env.step(action)
            memory.append((state, action, reward, following, float(done)))
            state, total = following, total + reward
        for _ in range(8):
            rows = [memory[i] for i in rng.integers(0, len(memory), 32)]
            states, actions, rewards, nexts, ends = (np.array(c) for c in zip(*rows, strict=True))
            future = model_target.predict(nexts, verbose=0).max(1)
            targets = rewards + 0.95 * future * (1 - ends)
            update(states, actions, targets.astype("float32"))
        if episode % 3 == 0:
            model_target.set_weights(model.get_weights())
        totals.append(total)
    return 1 - np.mean(totals[-15:]), 1.2


class GraphConvLayer(layers.Layer):
    def __init__(self, hidden_units, **kwargs):
        super().__init__(**kwargs)
        self.ffn_prepare = keras.Sequential(
            [layers.BatchNormalization(), layers.Dense(hidden_units, activation="gelu")]
        )
        self.update_fn = keras.Sequential(
            [layers.BatchNormalization(), layers.Dense(hidden_units, activation="gelu")]
        )

    def call(self, inputs):
        node_representations, edges = inputs
        node_indices, neighbour_indices = edges[0], edges[1]
        neighbours = ops.take(node_representations, neighbour_indices, axis=0)
        messages = self.ffn_prepare(neighbours)
        aggregated = ops.segment_sum(
            messages, node_indices, num_segments=node_representations.shape[0]
        )
        return self.update_fn(ops.concatenate([node_representations, aggregated], axis=1))


class GNNNodeClassifier(keras.Model):
    def __init__(self, graph_info, num_classes, hidden_units, **kwargs):
        super().__init__(**kwargs)
        self.node_features, self.edges = (ops.convert_to_tensor(part) for part in graph_info)
        self.preprocess = layers.Dense(hidden_units, activation="gelu")
        self.conv1 = GraphConvLayer(hidden_units, name="graph_conv1")
        self.conv2 = GraphConvLayer(hidden_units, name="graph_conv2")
        self.compute_logits = layers.Dense(units=num_classes, name="logits")

    def call(self, input_node_indices):
        x = self.preprocess(self.node_features)
        x = self.conv1((x, self.edges)) + x
        x = self.conv2((x, self.edges)) + x
        node_embeddings = ops.take(x, ops.squeeze(input_node_indices, -1), axis=0)
        return self.compute_logits(node_embeddings)


@program(share=0.4)
def graph_neural_network():
    """Papers cite papers of their own subject; their words say little."""
    rng = np.random.default_rng(0)
    subject = rng.integers(0, 3, 240)
    words = rng.normal(size=(240, 10)).astype("float32")
    words[:, :3] += 0.7 * np.eye(3)[subject]
    pairs = rng.integers(0, 240, (2, 9000))
    same = subject[pairs[0]] == subject[pairs[1]]
    pairs = pairs[:, same | (rng.random(9000) < 0.05)][:, :1500]
    model = GNNNodeClassifier((words, pairs.astype("int32")), 3, 16)
    model.compile(
        optimizer=keras.optimizers.Adam(0.01),
        loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        metrics=[keras.metrics.SparseCategoricalAccuracy(name="acc")],
    )
    nodes = np.arange(240)[:, None]
    model.fit(nodes[:120], subject[:120], batch_size=60, epochs=15, verbose=0)
    return error_rate(model, nodes[120:], subject[120:])


class OrthogonalRegularizer(keras.regularizers.Regularizer):
    def __init__(self, num_features, l2reg=0.001):
        self.num_features, self.l2reg = num_features, l2reg
        self.eye = ops.eye(num_features)

    def __call__(self, x):
        x = ops.reshape(x, (-1, self.num_features, self.num_features))
        xxt = ops.tensordot(x, x, axes=(2, 2))
        xxt = ops.reshape(xxt, (-1, self.num_features, self.num_features))
        return ops.sum(self.l2reg * ops.square(xxt - self.eye))


@program(share=0.5)
def point_net():
    """Clouds of points: a sphere, a cube, a ring."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 360)
    cloud = rng.normal(size=(360, 24, 3))
    sphere = cloud / np.linalg.norm(cloud, axis=-1, keepdims=True)
    cube = cloud / np.abs(cloud).max(-1, keepdims=True) * 0.8
    ring = sphere * [1, 1, 0]
    ring = ring / np.linalg.norm(ring, axis=-1, keepdims=True)
    x = np.choose(y[:, None, None], [sphere, cube, ring])
    x = (x + rng.normal(0, 0.05, x.shape)).astype("float32")

    def conv_bn(x, filters):
        x = layers.Conv1D(filters, kernel_size=1, padding="valid")(x)
        return layers.Activation("relu")(layers.BatchNormalization(momentum=0.5)(x))

    def tnet(inputs, num_features):
        bias = keras.initializers.Constant(np.eye(num_features).flatten())
        x = layers.GlobalMaxPooling1D()(conv_bn(inputs, 16))
        x = layers.Dense(
            num_features * num_features, kernel_initializer="zeros", bias_initializer=bias,
            activity_regularizer=OrthogonalRegularizer(num_features),
        )(x)  # fmt: skip
        feat_t = layers.Reshape((num_features, num_features))(x)
        return layers.Dot(axes=(2, 1))([inputs, feat_t])

    inputs = keras.Input(shape=(24, 3))
    h = conv_bn(tnet(inputs, 3), 32)
    h = layers.GlobalMaxPooling1D()(conv_bn(h, 32))
    h = layers.Dropout(0.1)(layers.Dense(32, activation="relu")(h))
    model = keras.Model(inputs, layers.Dense(3, activation="softmax")(h), name="pointnet")
    model.compile(
        loss="sparse_categorical_crossentropy", optimizer=keras.optimizers.Adam(0.01),
        metrics=["sparse_categorical_accuracy"],
    )  # fmt: skip

    def augment(points, label):
        points += tf.random.uniform(points.shape, -0.005, 0.005, dtype=tf.float32)
        return tf.random.shuffle(points), label

    train = tf.data.Dataset.from_tensor_slices((x[:280], y[:280]))
    train = train.shuffle(280, seed=0).map(augment).batch(32)
    model.fit(train, epochs=8, verbose=0)
    return error_rate(model, x[280:], y[280:])


class Switch(layers.Layer):
    """A mixture of experts: each row goes to the expert that the router prefers."""

    def __init__(self, num_experts, units):
        super().__init__()
        self.num_experts = num_experts
        self.experts = [
            keras.Sequential([layers.Dense(units, "relu"), layers.Dense(units)])
            for _ in range(num_experts)
        ]
        self.router = layers.Dense(num_experts)

    def call(self, inputs):
        probabilities = ops.softmax(self.router(inputs), axis=-1)
        gate, index = ops.top_k(probabilities, k=1)
        mask = ops.one_hot(index[:, 0], self.num_experts)
        density, share = ops.mean(mask, axis=0), ops.mean(probabilities, axis=0)
        self.add_loss(0.01 * self.num_experts**2 * ops.mean(density * share))
        outputs = ops.stack([expert(inputs) for expert in self.experts], axis=1)
        return gate * ops.sum(outputs * ops.expand_dims(mask, -1), axis=1)


@program(share=0.3)
def mixture_of_experts():
    x, y = images(900)
    inputs = keras.Input((8, 8, 1))
    h = layers.Dense(32, activation="relu")(layers.Flatten()(inputs))
    h = h + Switch(3, 32)(h)
    model = keras.Model(inputs, layers.Dense(10, activation="softmax")(h))
    model.compile(keras.optimizers.Adam(0.01), "sparse_categorical_crossentropy")
    model.fit(x[:700], y[:700], epochs=6, batch_size=64, verbose=0)
    return error_rate(model, x[700:], y[700:])


class FNetEncoder(layers.Layer):
    def __init__(self, embed_dim, dense_dim, **kwargs):
        super().__init__(**kwargs)
        self.dense_proj = keras.Sequential(
            [layers.Dense(dense_dim, activation="relu"), layers.Dense(embed_dim)]
        )
        self.layernorm_1 = layers.LayerNormalization()
        self.layernorm_2 = layers.LayerNormalization()

    def call(self, inputs):
        real, _ = ops.fft2((inputs, ops.zeros_like(inputs)))
        proj_input = self.layernorm_1(inputs + real)
        return self.layernorm_2(proj_input + self.dense_proj(proj_input))


@program(share=0.35)
def fourier_transform_mixing():
    x, y = images(900)
    inputs = keras.Input((8, 8, 1))
    h = layers.Dense(24)(layers.Reshape((8, 8))(inputs))
    for _ in range(2):
        h = FNetEncoder(24, 32)(h)
    h = layers.Dropout(0.1)(layers.Flatten()(h))
    model = keras.Model(inputs, layers.Dense(10, activation="softmax")(h))
    model.compile(keras.optimizers.Adam(0.005), "sparse_categorical_crossentropy")
    model.fit(x[:700], y[:700], epochs=6, batch_size=64, verbose=0)
    return error_rate(model, x[700:], y[700:])


class SupervisedContrastiveLoss(keras.losses.Loss):
    def __init__(self, temperature=1, name=None):
        super().__init__(name=name)
        self.temperature = temperature

    def call(self, labels, feature_vectors):
        normalized = keras.utils.normalize(feature_vectors, axis=1, order=2)
        logits = ops.divide(ops.matmul(normalized, ops.transpose(normalized)), self.temperature)
        labels = ops.reshape(labels, (-1, 1))
        same = ops.cast(ops.equal(labels, ops.transpose(labels)), "float32")
        others = same * (1 - ops.eye(ops.shape(logits)[0]))
        logits = logits - 1e9 * ops.eye(ops.shape(logits)[0])
        log_prob = logits - ops.logsumexp(logits, axis=1, keepdims=True)
        positives = ops.maximum(ops.sum(others, axis=1), 1)
        return -ops.sum(others * ops.where(others > 0, log_prob, 0.0), axis=1) / positives


@program(share=0.3)
def supervised_contrastive_learning():
    """First an encoder by pairs, then a frozen encoder under a classifier."""
    x, y = images(900)
    inputs = keras.Input((8, 8, 1))
    h = layers.Conv2D(16, 3, activation="relu")(inputs)
    h = layers.Dense(32, activation="relu")(layers.Flatten()(h))
    encoder = keras.Model(inputs, h, name="encoder")
    projected = keras.Model(inputs, layers.Dense(16, activation="relu")(encoder(inputs)))
    projected.compile(keras.optimizers.Adam(0.005), loss=SupervisedContrastiveLoss(0.1))
    projected.fit(x[:700], y[:700], batch_size=128, epochs=8, verbose=0)
    encoder.trainable = False
    before = encoder.get_weights()
    classifier = keras.Model(inputs, layers.Dense(10, activation="softmax")(encoder(inputs)))
    classifier.compile(keras.optimizers.Adam(0.02), "sparse_categorical_crossentropy")
    classifier.fit(x[:700], y[:700], batch_size=128, epochs=6, verbose=0)
    for old, new in zip(before, encoder.get_weights(), strict=True):
        np.testing.assert_array_equal(old, new)
    return error_rate(classifier, x[700:], y[700:])


@program(share=0.85)
def quantile_regression():
    """A network for the 10 % and 90 % quantiles; the error is the pinball loss."""
    rng = np.random.default_rng(0)
    x = rng.uniform(-2, 2, (900, 1)).astype("float32")
    y = (np.sin(2 * x) + rng.normal(size=x.shape) * (0.1 + 0.2 * np.abs(x))).astype("float32")
    quantiles = ops.convert_to_tensor([0.1, 0.9])

    def pinball(y_true, y_pred):
        error = y_true - y_pred
        return ops.mean(ops.maximum(quantiles * error, (quantiles - 1) * error), axis=-1)

    model = keras.Sequential([keras.Input((1,)), layers.Dense(32, "tanh"), layers.Dense(2)])
    schedule = keras.optimizers.schedules.CosineDecay(0.03, decay_steps=300)
    model.compile(keras.optimizers.Adam(schedule), loss=pinball)
    model.fit(x[:700], y[:700], epochs=14, batch_size=32, verbose=0)
    constant = np.broadcast_to(np.quantile(y[:700], [0.1, 0.9]), (200, 2)).astype("float32")
    baseline = float(ops.mean(pinball(y[700:], constant)))
    return model.evaluate(x[700:], y[700:], verbose=0), baseline


@program(share=0.5)
def gradient_class_activation():
    """Grad-CAM: the gradients of a class by a layer's outputs say where the digit's stroke is."""
    x, y = images(900)
    rng = np.random.default_rng(0)
    corner = rng.integers(0, 2, 900)
    wide = np.zeros((900, 8, 16, 1), "float32")
    for row, side in enumerate(corner):  # the digit stands left or right
        wide[row, :, 8 * side : 8 * side + 8] = x[row]
    inputs = keras.Input((8, 16, 1))
    last = layers.Conv2D(16, 3, padding="same", activation="relu", name="last")(inputs)
    h = layers.GlobalMaxPooling2D()(layers.Conv2D(32, 5, activation="relu")(last))
    model = keras.Model(inputs, layers.Dense(10)(h))
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(keras.optimizers.Adam(0.01), loss)
    model.fit(wide[:800], y[:800], batch_size=64, epochs=3, verbose=0)
    grad_model = keras.Model(model.inputs, [model.get_layer("last").output, model.output])
    with tf.GradientTape() as tape:
        last_outputs, preds = grad_model(wide[800:])
        channel = tf.gather(preds, tf.argmax(preds, axis=1), axis=1, batch_dims=1)
    grads = tape.gradient(channel, last_outputs)
    heatmap = tf.reduce_sum(tf.maximum(grads * last_outputs, 0), axis=-1)
    halves = tf.reduce_sum(tf.reshape(heatmap, (100, 8, 2, 8)), axis=(1, 3))
    return np.mean(np.argmax(halves, axis=1) != corner[800:]), 0.5
