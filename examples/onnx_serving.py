"""Train two models, export them to ONNX, and serve them over HTTP with onnxruntime alone.

A network for digits, and one for sentences whose words it looks up itself.
python examples/onnx_serving.py
"""

import json
import tempfile
import threading
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np
import onnxruntime
from digits_or_mnist import SMALL

from framework import keras
from framework.datasets import digits

# ---- the server: it needs NumPy and onnxruntime --------------------------------------------------


class Handler(BaseHTTPRequestHandler):
    """Answers POST /NAME: the body is {input: nested list}, the answer {output: nested list}."""

    sessions = {}  # noqa: RUF012 (set once, before the server starts)

    def do_POST(self):
        try:
            session = self.sessions[self.path.strip("/")]
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            dtypes = {"tensor(string)": object, "tensor(float)": np.float32}
            feeds = {i.name: np.array(body[i.name], dtypes[i.type]) for i in session.get_inputs()}
            names = [o.name for o in session.get_outputs()]
            values = [y.tolist() for y in session.run(names, feeds)]
            status, answer = 200, dict(zip(names, values, strict=True))
        except Exception as error:  # the client learns what was wrong with its request
            status, answer = 400, {"error": f"{type(error).__name__}: {error}"}
        content = json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_):
        """Print nothing for each request."""


def serve(paths):
    """Start a server of ONNX files on a free port of this machine; return it."""
    Handler.sessions = {p.stem: onnxruntime.InferenceSession(p) for p in paths}
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


# ---- the models ----------------------------------------------------------------------------------


def digit_model():
    """A convolutional network for 8 x 8 images, and its test images."""
    (x, y), (x_test, y_test) = digits.load_data()
    x, x_test = x[..., None] / np.float32(16), x_test[..., None] / np.float32(16)
    layers = keras.layers
    model = keras.Sequential([
        keras.Input((8, 8, 1), name="image"),
        layers.Conv2D(16, 3, padding="same", activation="relu"), layers.BatchNormalization(),
        layers.MaxPooling2D(), layers.Conv2D(32, 3, activation="relu"),
        layers.GlobalAveragePooling2D(), layers.Dropout(0.2),
        layers.Dense(10, "softmax", name="digit"),
    ])  # fmt: skip
    model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
    model.fit(x, y, batch_size=32, epochs=2 if SMALL else 30, verbose=0)
    return model, x_test, y_test


def sentences(count, rng):
    """Rows of eight words, "" after the last one; 1 if good words outnumber bad ones."""
    kinds = ["good fine great", "bad poor awful", "the film was a very old and long story"]
    words, value = zip(*((w, v) for v, k in zip((1, -1, 0), kinds, strict=True) for w in k.split()))
    picked = rng.integers(0, len(words), (count, 8))
    length = rng.integers(3, 9, (count, 1))
    scores = np.where(np.arange(8) < length, np.array(value)[picked], 0).sum(1)
    rows = np.where(np.arange(8) < length, np.array(words)[picked], "")
    return rows[scores != 0], (scores[scores != 0] > 0).astype(np.float32)


def text_model():
    """An LSTM over words, which the model looks up, and its test sentences."""
    rng = np.random.default_rng(0)
    (x, y), (x_test, y_test) = sentences(1000 if SMALL else 6000, rng), sentences(400, rng)
    look_up = keras.layers.StringLookup(mask_token="")
    look_up.adapt(x)
    words = keras.Input((None,), dtype="string", name="words")
    h = keras.layers.Embedding(look_up.vocabulary_size(), 8, mask_zero=True)(look_up(words))
    y_pred = keras.layers.Dense(1, "sigmoid", name="good")(keras.layers.LSTM(16)(h))
    model = keras.Model(words, y_pred)
    model.compile(keras.optimizers.Adam(0.01), "binary_crossentropy", metrics=["accuracy"])
    model.fit(x, y, batch_size=32, epochs=4 if SMALL else 12, verbose=0)
    return model, x_test, y_test


# ---- export, serve, ask --------------------------------------------------------------------------


def ask(server, name, **inputs):
    """Post inputs to the server and return its outputs as arrays."""
    body = json.dumps({key: value.tolist() for key, value in inputs.items()}).encode()
    url = f"http://127.0.0.1:{server.server_port}/{name}"
    with urllib.request.urlopen(urllib.request.Request(url, body)) as answer:
        return {key: np.array(value) for key, value in json.load(answer).items()}


keras.utils.set_random_seed(0)
folder = Path(tempfile.mkdtemp())
digit, images, labels = digit_model()
text, rows, good = text_model()
for model, name in (digit, "digits"), (text, "text"):
    model.export(folder / f"{name}.onnx", verbose=True)

server = serve([folder / "digits.onnx", folder / "text.onnx"])
found = ask(server, "digits", image=images)["digit"]
print(f"digits: accuracy {np.mean(found.argmax(1) == labels):.4f}")
print(f"digits: largest difference {np.abs(found - digit.predict(images, verbose=0)).max():.7f}")
found = ask(server, "text", words=rows)["good"]
print(f"text: accuracy {np.mean((found[:, 0] > 0.5) == good):.4f}")
print(f"text: largest difference {np.abs(found - text.predict(rows, verbose=0)).max():.7f}")
print(ask(server, "text", words=np.array([["a", "great", "film"], ["awful", "unheard", "film"]])))
server.shutdown()
server.server_close()
