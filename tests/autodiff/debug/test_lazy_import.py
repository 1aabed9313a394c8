"""The modules of `autodiff/debug/` are imported by the methods that need them, not by a tape."""

import subprocess
import sys

PROGRAM = """
import sys
import framework as tf

def loaded():
    return [name for name in sys.modules if name.startswith("framework.autodiff.debug")]

x, y = tf.Variable(3.0), tf.constant(2.0)
model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.compile("sgd", "mse")
model.fit(tf.ones((8, 2)), tf.ones((8, 1)), verbose=0)
with tf.GradientTape(persistent=True) as tape:
    z = tf.round(x) * y
    float(z)
assert tape.gradient(z, [x, y]) == [None, None]
assert not loaded(), loaded()
assert "round" in tape.explain(z, x)
assert loaded()
"""


def test_a_tape_and_fit_import_no_debug_module():
    subprocess.run([sys.executable, "-c", PROGRAM], check=True)
