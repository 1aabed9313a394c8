"""Parallel: call a function for each element on several threads; results are in element order."""

import os
import time
from collections import deque
from concurrent import futures

AUTOTUNE = -1


class Parallel:
    """An iterator over the results `function(element, number)` for the elements of `source`.

    Up to `workers` calls run at the same time, and one more waits for a thread, so that no thread
    waits for the consumer. An error is raised at its element's position, and the iterator can
    continue. The threads end with the iterator, or when this object is closed or deleted.

    Args:
        function: a function of an element and its number.
        source: an iterator; only the consumer's thread reads it.
        numbers: an iterator over the elements' numbers.
        workers: the number of threads, or a `Tuner`.
        in_order: False to return results in the order of completion.
    """

    def __init__(self, function, source, numbers, workers, in_order=True):
        self._function, self._source, self._numbers = function, source, numbers
        self._tuner = workers if isinstance(workers, Tuner) else None
        self._workers = workers if self._tuner is None else self._tuner.start()
        self._in_order, self._waiting, self._ended = in_order, deque(), False
        self._pool, self._threads = None, 0

    def __iter__(self):
        return self

    def __next__(self):
        self._fill()
        if not self._waiting:
            if self._workers == 0 and not self._ended:
                return self._called()
            self.close()
            raise StopIteration
        if self._tuner is not None and not self._tuner.settled:
            self._tune()
        if self._in_order or self._waiting[0].done():
            return self._waiting.popleft().result()
        first = self._first_done().pop()
        self._waiting.remove(first)
        return first.result()

    def _called(self):
        """Return the next result, computed in the consumer's thread."""
        start = time.perf_counter()
        try:
            return self._function(next(self._source), next(self._numbers))
        except StopIteration:
            self._ended = True
            raise
        finally:
            if not self._tuner.settled:
                self._count_after(start)

    def _first_done(self):
        return futures.wait(self._waiting, return_when=futures.FIRST_COMPLETED).done

    def _fill(self):
        while not self._ended and len(self._waiting) < begun(self._workers):
            if self._threads != self._workers:
                self._change_threads()
            try:
                element = next(self._source)
            except StopIteration:
                self._ended = True
            # the consumer raises the error at this element's position, after the results before it
            except Exception as error:
                failed = futures.Future()
                failed.set_exception(error)
                self._waiting.append(failed)
            else:
                call = self._pool.submit(self._function, element, next(self._numbers))
                self._waiting.append(call)

    def _change_threads(self):
        if self._pool is not None:
            self._pool.shutdown(wait=False)  # calls in progress finish on this pool's threads
        self._threads = self._workers
        self._pool = futures.ThreadPoolExecutor(self._threads, "framework-map")

    def _tune(self):
        start = time.perf_counter()
        if self._in_order:
            futures.wait([self._waiting[0]])
        else:
            self._first_done()
        self._count_after(start)

    def _count_after(self, start):
        now = time.perf_counter()
        self._workers = self._tuner.count_after(now - start, now, time.process_time())

    def close(self):
        """End the threads."""
        self._ended = True
        if self._pool is not None:
            self._pool.shutdown(wait=False, cancel_futures=True)

    __del__ = close


def begun(workers):
    """Return how many calls to submit to `workers` threads: one each, and one that waits.

    More waiting calls would not help, and their results would evict others from the CPU's caches.
    """
    return workers and workers + 1


class Tuner:
    """Measures how many calls at a time give the most results per second.

    It begins with one call per CPU. While the consumer waits for results, it tries twice as many
    for as long as that is faster, and then fewer: one at a time is best for Python code, which
    holds the interpreter's lock, and 0 for short calls, which then run in the consumer's thread.
    Once the calls keep all CPUs busy, it tries nothing more. It changes nothing while the consumer
    is slower than the calls.

    One Tuner serves all iterators of a stage, so a later epoch begins with the number that was
    fastest, unless it was 0: then the tuner measures again.

    Args:
        cpus: the number of CPUs.
    """

    settled = False

    def __init__(self, cpus=None):
        cpus = cpus or os.cpu_count() or 1
        self.count, self.most = cpus, _TIMES * cpus
        self._all_cpus = max(_ALL * cpus, _SEVERAL)
        # the best measurement: (results per second, number of calls at a time)
        self._best = None
        self._tried = []
        self._begin(None, 0.0, begun(self.count))

    def start(self):
        """Return how many calls a new iterator may run at a time, and start measuring."""
        if self.count == 0:
            # Whether calls in the consumer's thread are fastest depends on the consumer, and the
            # next consumer may have work that can run in parallel with the calls.
            self.count, self.settled, self._best = 1, False, None
            self._tried = [count for count in self._tried if count]
        self._begin(None, 0.0, begun(self.count))
        return self.count

    def _begin(self, now, cpu, before):
        """Measure from `now` on, but skip `before` results, of calls already in progress."""
        self._since, self._cpu_since, self._results, self._waited = now, cpu, -before, 0.0

    def count_after(self, waited, now, cpu=0.0):
        """Count a result that the consumer took; return how many calls may now run at a time.

        Args:
            waited: the seconds for which the consumer has waited for the result.
            now: the time in seconds.
            cpu: the CPU time of this process in seconds.
        """
        self._results += 1
        if self._results <= 0:
            self._since, self._cpu_since, self._waited = now, cpu, 0.0
            return self.count
        self._waited += waited
        took = now - self._since
        if self._results >= max(2 * self.count, _FEWEST) and took >= _SECONDS:
            before = begun(self.count)
            if self._waited >= _BUSY * took:
                self._judge(self._results / took, (cpu - self._cpu_since) / took)
            self._begin(now, cpu, before)
        return self.count

    def _judge(self, rate, cpus):
        """Compare the results per second with the best so far, and choose the next count."""
        self._tried.append(self.count)
        most, count = self._best or (0.0, 0)
        # Fewer calls at a time are chosen if they are nearly as fast, more only if they are faster.
        if rate * _GAIN >= most if self.count < count else rate >= most * _GAIN:
            self._best = max(rate, most), self.count
        following = None if cpus >= self._all_cpus else self._following()
        self.settled = following is None
        self.count = self._best[1] if self.settled else following

    def _following(self):
        best = self._best[1]
        for count in (2 * best, best // 2):
            if count not in self._tried and count <= self.most:
                return count
        return None


def threads(count):
    """Return the number of threads of a stage, or a `Tuner` for AUTOTUNE; None stays None."""
    return Tuner() if count == AUTOTUNE else count


# the most calls at a time per CPU; more than one because calls may wait for a disk or a network
_TIMES = 16
_FEWEST, _SECONDS = 16, 0.1  # a measurement takes at least this many results and seconds
# if the consumer waits for this fraction of the time, the calls are the bottleneck
_BUSY = 0.3
_GAIN = 1.05  # to be chosen, a larger number of calls must be faster by this factor
# All CPUs count as busy if they work for _ALL of the time, and at least _SEVERAL of them do: a
# single busy CPU may be running Python code, which holds the GIL.
_ALL, _SEVERAL = 0.92, 1.5
