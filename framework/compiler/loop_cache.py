"""On-disk cache of the machine code of generated loops (see `kernels.sealed`).

The file name contains a digest of the loop's source. The source itself is never read from disk.
"""

import hashlib

from framework.kernels import sealed


class LoopMachineCode:
    """The machine code of a generated function `loop`, in memory or on disk.

    Args:
        source: the source of the function.
        kind: "entry" or "task", as in `kernels.fast.elementwise.native`.
    """

    def __init__(self, source, kind):
        self.source, self.kind = source, kind
        digest = hashlib.blake2b(source.encode(), digest_size=12).hexdigest()
        self._file = sealed.SealedFile(f"loop-{digest}.{kind}.code", source.encode())

    def is_compiled(self):
        """Return whether the machine code is on disk."""
        return self._file.exists()

    def compile(self, library):
        """Return the machine code, loaded from disk or compiled.

        Args:
            library: `kernels.fast.elementwise`.
        """
        namespace = dict(library.NAMES)
        # The source is generated from op names, dtypes and numbers; it contains no user input.
        exec(compile(self.source, "<loop>", "exec"), namespace)  # noqa: S102
        return library.native(namespace["loop"], self.kind, self._file)
