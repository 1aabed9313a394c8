"""Elements made ahead of time, in a thread of their own."""

import queue
import threading


class _End:
    """The last thing a producer hands over: the error that ended it, or None."""

    def __init__(self, error):
        self.error = error


def ahead(make_iterator, size):
    """What the iterator gives, up to `size` elements of it made ahead by a background thread.

    The thread starts with the first element asked for, and ends with the iterator, its error, or
    soon after this generator is closed or dropped. An error is raised where its element would be.
    """
    ready = queue.Queue(maxsize=size)
    stop = threading.Event()
    threading.Thread(
        target=_produce, args=(make_iterator, ready, stop), daemon=True, name="framework-prefetch"
    ).start()
    try:
        while type(item := ready.get()) is not _End:
            yield item
            del item  # not held while the next one is waited for
        if item.error is not None:
            raise item.error
    finally:
        stop.set()
        while not ready.empty():  # makes room: a producer that waits for it sees `stop`
            ready.get_nowait()


def _produce(make_iterator, ready, stop):
    error = None
    try:
        for item in make_iterator():
            ready.put(item)
            if stop.is_set():
                return
    except BaseException as caught:  # whatever it is, the consumer raises it
        error = caught
    ready.put(_End(error))
