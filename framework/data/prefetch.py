"""ahead: iteration in a background thread that computes elements in advance."""

import queue
import threading


class _End:
    """The last item in the queue: the error that ended the producer, or None."""

    def __init__(self, error):
        self.error = error


def ahead(make_iterator, size):
    """Yield the iterator's elements; a background thread computes up to `size` of them ahead.

    The thread starts with the first `next()` and ends with the iterator, with its error, or soon
    after this generator is closed or dropped. The iterator's error is raised at its position.
    """
    ready = queue.Queue(maxsize=size)
    stop = threading.Event()
    threading.Thread(
        target=_produce, args=(make_iterator, ready, stop), daemon=True, name="framework-prefetch"
    ).start()
    try:
        while type(item := ready.get()) is not _End:
            yield item
            del item  # free the item before waiting for the next one
        if item.error is not None:
            raise item.error
    finally:
        stop.set()
        while not ready.empty():  # unblocks a producer that waits in `put`, which then sees `stop`
            ready.get_nowait()


def _produce(make_iterator, ready, stop):
    error = None
    try:
        for item in make_iterator():
            ready.put(item)
            if stop.is_set():
                return
    except BaseException as caught:  # the consumer raises it
        error = caught
    ready.put(_End(error))
