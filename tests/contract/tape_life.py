"""Chapter 3 of TensorFlow's contract for tapes: the life of a tape."""

import gc
import threading
import weakref

import framework as tf
from tests.contract.shared import Tape, c, grad, raises, v


def twice(first, second):
    x = c([[1.0, 2.0]])
    with Tape() as t:
        t.watch(x)
        y = x * x
    getattr(t, first)(y, x)
    return getattr(t, second)(y, [x])


def inside(persistent):
    w = v(3.0)
    with Tape(persistent=persistent) as t:
        y = 2.0 * w
        return t.gradient(y, w)


def recorded_inside():
    x = c(3.0)
    with Tape(persistent=True) as t:
        t.watch(x)
        y = x**3.0
        g = t.gradient(y, x)
        h = t.gradient(g, x)
    return [g, h, t.gradient(h, x)]


def entered_twice():
    t = Tape()
    with t, t:
        pass


def entered_again():
    x = c(2.0)
    g = Tape()
    with g:
        g.watch(x)
        y = 2.0 * x
    with g:
        z = 2.0 * y
    return g.gradient(z, x)


def stopped():
    x = c(1.0)
    with Tape(persistent=True) as t:
        t.watch(x)
        x2 = 2.0 * x
        with t.stop_recording():
            y = x2 * x2
        z = x2 * x2
    return [t.gradient(y, x2), t.gradient(z, x2)]


def stopped_alone():
    x = c(3.0)
    with Tape() as outer:
        outer.watch(x)
        with Tape() as inner:
            inner.watch(x)
            with inner.stop_recording():
                y = x * x
    return [outer.gradient(y, x), inner.gradient(y, x)]


def reset():
    w = v(1.0)
    with Tape() as t:
        loss = w * w
        t.reset()
        loss = w * w + tf.stop_gradient(loss)
    return t.gradient(loss, w)


def reset_constant():
    x = c(3.0)
    with Tape() as t:
        t.watch(x)
        t.reset()
        y = x * x
    return t.gradient(y, x)


def many_calls():
    x = c(3.0)
    with Tape(persistent=True) as t:
        t.watch(x)
        y = x * x
        z = y * x
    return [t.gradient(y, x), t.gradient(z, x), t.gradient(y, x), t.gradient(z, y)]


def dies():
    class Tagged:
        pass

    gc.disable()
    try:
        with Tape() as t:
            x = c(1.0)
            y = x * x
            refs = [weakref.ref(x), weakref.ref(y)]
            del x, y
            found = [r() is None for r in refs]
        del t
        return found
    finally:
        gc.enable()


def after_exception():
    x = c(3.0)
    try:
        with Tape() as t:
            t.watch(x)
            raise KeyError
    except KeyError:
        pass
    return grad(lambda x: x * x, c(3.0))


def other_thread():
    x, seen = c(3.0), []
    with Tape() as t:
        t.watch(x)
        thread = threading.Thread(target=lambda: seen.append(x * x))
        thread.start()
        thread.join()
    return t.gradient(seen[0], x)


SENTENCES = {
    f"3.1 {first}, then {second}": (
        lambda first=first, second=second: twice(first, second),
        raises(RuntimeError, "A non-persistent GradientTape can only"),
    )
    for first in ("gradient", "jacobian", "batch_jacobian")
    for second in ("gradient", "jacobian", "batch_jacobian")
} | {
    "3.2 inside its own block": (lambda: inside(False), 2.0),
    "3.2 inside, persistent": (lambda: inside(True), 2.0),
    "3.2 a persistent tape records its backward ops": (recorded_inside, [27.0, 18.0, 6.0]),
    "3.3 nested in itself": (entered_twice, raises(ValueError, "Tape is still recording")),
    "3.3 entered again": (entered_again, 4.0),
    "3.4 stop_recording": (stopped, [None, 4.0]),
    "3.4 this tape only": (stopped_alone, [6.0, None]),
    "3.4 not recording": (lambda: Tape().stop_recording().__enter__(), raises(RuntimeError)),
    "3.5 reset": (reset, 2.0),
    "3.5 constants are forgotten": (reset_constant, None),
    "3.5 outside": (lambda: Tape().reset(), raises(ValueError)),
    "3.6 any number of calls": (many_calls, [6.0, 27.0, 6.0, 3.0]),
    "3.6 nothing is kept alive": (dies, [True, True]),
    "3.7 an exception leaves the stack clean": (after_exception, 6.0),
    "3.8 tapes are their thread's": (other_thread, None),
}
