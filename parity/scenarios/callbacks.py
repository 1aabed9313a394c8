"""Callbacks that stop, restore, average or watch."""

from parity.scenarios.problems import Fit, compiled, regression, sgd


def scenarios():
    for title, options, rate in (
        ("on loss", {"monitor": "loss", "min_delta": 0.02}, 0.1),
        ("with restore", {"restore_best_weights": True, "min_delta": 0.02}, 0.1),
        ("with restore of a late best", {"restore_best_weights": True, "patience": 3}, 0.4),
        ("above a baseline", {"baseline": 0.05, "patience": 2}, 0.1),
        ("from an epoch", {"start_from_epoch": 3, "min_delta": 5.0}, 0.1),
        ("of a maximum", {"monitor": "val_mae", "mode": "max"}, 0.1),
    ):
        yield f"EarlyStopping {title}", _stopping(options, rate)
    yield "LambdaCallback changes the rate", _with(_lambda)
    yield "stop_training at a batch", _with(_stopper, fit={"steps_per_epoch": 4})
    yield "logs at batches", Fit(fit=_watching, finish=lambda model: model.seen)
    yield "freezing between epochs by the rate", _with(_pause)
    for frequency in ("batch", "epoch"):
        yield f"hooks by {frequency}", Fit(fit=_hooks(frequency), finish=lambda model: model.seen)
    yield (
        "SwapEMAWeights",
        Fit(
            compiled(optimizer=lambda keras: sgd(keras, use_ema=True, ema_momentum=0.8)),
            fit=_swapping,
        ),
    )
    yield "TerminateOnNaN", _with(lambda keras: keras.callbacks.TerminateOnNaN())


def _with(make, fit=None):
    return Fit(fit=lambda keras: {**(fit or {}), "callbacks": [make(keras)]}, epochs=6)


def _stopping(options, rate):
    def fit(keras):
        callback = keras.callbacks.EarlyStopping(**{"patience": 1, **options})
        return {"callbacks": [callback], "validation_data": regression(12)}

    return Fit(
        compiled(optimizer=lambda keras: sgd(keras, rate), metrics=["mae"]), fit=fit, epochs=10
    )


def _lambda(keras):
    made = {}

    def begin(epoch, logs=None):
        made["callback"].model.optimizer.learning_rate = 0.1 * 0.8**epoch

    made["callback"] = keras.callbacks.LambdaCallback(on_epoch_begin=begin)
    return made["callback"]


def _stopper(keras):
    class Stopper(keras.callbacks.Callback):
        count = 0

        def on_train_batch_end(self, batch, logs=None):
            self.count += 1
            if self.count == 10:
                self.model.stop_training = True

    return Stopper()


def _pause(keras):
    class Pause(keras.callbacks.Callback):
        def on_epoch_begin(self, epoch, logs=None):
            self.model.optimizer.learning_rate = 0.1 * (epoch % 2)

    return Pause()


def _watching(keras):
    class Watching(keras.callbacks.Callback):
        def on_train_begin(self, logs=None):
            self.model.seen = {"loss": [], "mae": []}

        def on_train_batch_end(self, batch, logs=None):
            self.model.seen["loss"].append(logs["loss"])

        def on_epoch_end(self, epoch, logs=None):
            self.model.seen["mae"].append(logs["val_loss"])

    return {"callbacks": [Watching()], "validation_split": 0.25}


def _hooks(frequency):
    """How often each hook is called, and with which numbers."""

    def fit(keras):
        class Counting(keras.callbacks.Callback):
            def on_train_begin(self, logs=None):
                self.model.seen = {}

        def counter(name):
            def hook(self, number, logs=None):
                self.model.seen.setdefault(name, []).append(number)

            return hook

        for name in (f"on_{frequency}_begin", f"on_{frequency}_end"):
            hooks = (name,) if frequency == "epoch" else (name.replace("on_", "on_train_"),)
            for hook in hooks:
                setattr(Counting, hook, counter(hook))
        return {"callbacks": [Counting()]}

    return fit


def _swapping(keras):
    return {
        "callbacks": [keras.callbacks.SwapEMAWeights(swap_on_epoch=True)],
        "validation_data": regression(12),
    }
