import numpy as np
import pytest

from framework.core.auto_names import forget_names
from framework.core.errors import InvalidArgumentError
from framework.layers import Conv2D, Dense, Dropout, Input, MaxPooling2D
from framework.models import Model, Sequential
from framework.optimizers import Adam, LossScaleOptimizer


@pytest.fixture(autouse=True)
def _names():
    forget_names()


def text(model, line_length=60, **kwargs):
    lines = []
    model.summary(line_length, print_fn=lines.append, **kwargs)
    return "\n".join(lines)


def test_a_stack_of_layers():
    model = Sequential([Input((5,)), Dense(4), Dropout(0.5), Dense(1000)])
    expected = """\
Model: "sequential"
┏━━━━━━━━━━━━━━━━━━━━━━━━━┳━━━━━━━━━━━━━━━━━━━━┳━━━━━━━━━━━┓
┃ Layer (type)            ┃ Output Shape       ┃   Param # ┃
┡━━━━━━━━━━━━━━━━━━━━━━━━━╇━━━━━━━━━━━━━━━━━━━━╇━━━━━━━━━━━┩
│ dense (Dense)           │ (None, 4)          │        24 │
├─────────────────────────┼────────────────────┼───────────┤
│ dropout (Dropout)       │ (None, 4)          │         0 │
├─────────────────────────┼────────────────────┼───────────┤
│ dense_1 (Dense)         │ (None, 1000)       │     5,000 │
└─────────────────────────┴────────────────────┴───────────┘
 Total params: 5,024 (19.62 KB)
 Trainable params: 5,024 (19.62 KB)
 Non-trainable params: 0 (0.00 B)"""
    assert text(model) == expected


def test_a_graph_shows_what_is_connected():
    i, j = Input((3,)), Input((3,), name="j")
    shared = Dense(2)
    shown = text(Model([i, j], shared(i) + shared(j)))
    assert "│ j (InputLayer)" in shown
    assert "Connected to" in shown
    rows = [line for line in shown.splitlines() if "add (Add)" in line]
    assert "dense[0][0]," in rows[0]
    assert all(len(line) == 60 for line in shown.splitlines()[1:-3])


def test_unbuilt_nested_and_frozen():
    model = Sequential([Dense(2), Sequential([Dense(3)], name="inner")])
    assert text(model, line_length=88).count("0 (unbuilt)") == 2
    model.build((None, 4))
    model.layers[0].trainable = False
    shown = text(model, line_length=88, expand_nested=True, show_trainable=True)
    assert "   └ dense_1 (Dense)" in shown
    assert [line.split("│")[-2].strip() for line in shown.splitlines() if "(Dense)" in line] == [
        "N", "Y",
    ]  # fmt: skip
    assert "Non-trainable params: 10 (40.00 B)" in shown


def test_subclassed_models_and_optimizers():
    class Net(Model):
        def __init__(self):
            super().__init__()
            self.dense = Dense(3)

        def call(self, x):
            return self.dense(x)

    model = Net()
    assert "?" in text(model)
    model.compile("sgd", "mse")
    model.fit(np.ones((4, 2)), np.ones((4, 3)), verbose=0)
    shown = text(model)
    assert "(4, 3)" in shown
    assert "Optimizer params: 2" in shown


def test_layer_range():
    model = Sequential([Input((2,)), *[Dense(2, name=f"d{i}") for i in range(4)]])
    shown = text(model, layer_range=("d1", "d2"))
    assert [name in shown for name in ("d0", "d1", "d2", "d3")] == [False, True, True, False]
    for bad, message in [(("d1",), "two names"), (("d1", "x"), "no layer matches")]:
        with pytest.raises(InvalidArgumentError, match=message):
            text(model, layer_range=bad)
    with pytest.raises(InvalidArgumentError, match="columns are too narrow"):
        model.summary(line_length=10)


def test_it_is_printed(capsys):
    Sequential([Input((2,)), Dense(2)]).summary()
    assert 'Model: "sequential"' in capsys.readouterr().out


def test_groups_of_the_optimizer():
    model = Sequential([Input((5,)), Dense(4, name="body"), Dropout(0.5), Dense(2, name="head")])
    with pytest.raises(InvalidArgumentError, match="needs a compiled model"):
        text(model, show_groups=True)
    groups = {"body/*": {"learning_rate": 1e-5}, "head/bias": {"weight_decay": 0}}
    model.compile(Adam(groups=groups), "mse")
    rows = text(model, line_length=140, show_groups=True).splitlines()
    last = [row.split("│")[-2].strip() for row in rows if row.startswith("│")]
    assert last == ["learning_rate=1e-05", "-", "bias: weight_decay=0"]
    model.compile(LossScaleOptimizer(Adam()), "mse")
    assert text(model, line_length=140, show_groups=True).count("-  ") == 3


def test_shapes_of_layers_whose_shape_rules_name_their_argument_otherwise():
    class Block(Model):
        def __init__(self):
            super().__init__()
            self.convolution = Conv2D(2, 1)
            self.pool = MaxPooling2D()

        def call(self, inputs):
            return self.pool(self.convolution(inputs))

    model = Block()
    model(np.zeros((1, 4, 4, 3), "float32"))
    shown = text(model)
    assert "(1, 4, 4, 2)" in shown
    assert "?" not in shown.split("max_pooling")[0]
