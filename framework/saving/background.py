"""Writing in a background thread: one file at a time; the next one waits for the previous one."""

import threading


class Background:
    """Runs one function at a time in a thread.

    Arrays that the function holds are not copied: code that would write into them sees that they
    have another holder, and writes into new arrays.
    """

    def __init__(self):
        self._thread = self._error = None

    def start(self, function):
        """Run a function in a thread, after the one before has ended.

        Raises:
            SaveError: the one before failed.
        """
        self.wait()
        # Not a daemon thread: at exit the interpreter waits until the file is written.
        self._thread = threading.Thread(target=self._run, args=(function,), daemon=False)
        self._thread.start()

    def _run(self, function):
        try:
            function()
        except BaseException as error:  # `wait` raises it in the caller's thread
            self._error = error

    def wait(self):
        """Wait until nothing is being written; raise the error of the last write, once."""
        thread, self._thread = self._thread, None
        if thread is not None:
            thread.join()
        error, self._error = self._error, None
        if error is not None:
            raise error
