"""Writing in a background thread: one file at a time; a write waits for the previous write."""

import threading


class Background:
    """Runs one function at a time in a thread.

    The arrays that the function will write need no copy: a variable is updated in place only if
    nothing else references its array.
    """

    def __init__(self):
        self._thread = self._error = None

    def start(self, function):
        """Run a function in a thread, after the previous function has ended.

        Raises:
            SaveError: the previous function failed.
        """
        self.wait()
        # Not a daemon thread, so that the interpreter waits at exit until the file is written.
        self._thread = threading.Thread(target=self._run, args=(function,), daemon=False)
        self._thread.start()

    def _run(self, function):
        try:
            function()
        except BaseException as error:  # `wait` raises this error in the caller's thread
            self._error = error

    def wait(self):
        """Wait until the function has ended; if it failed, raise its error in the first call."""
        thread, self._thread = self._thread, None
        if thread is not None:
            thread.join()
        error, self._error = self._error, None
        if error is not None:
            raise error
