"""How the machine code of generated loops is kept, for the next process (see `kernels.sealed`).

A file is named by the digest of its loop's text. What is compiled is always the text just
generated; no text is read from the disk.
"""

import hashlib

from framework.kernels import sealed


class LoopMachineCode:
    """The machine code of one generated text that defines a function `loop`.

    Args:
        source: the text.
        kind: "entry" or "task", as `kernels.fast.elementwise.native` takes it.
    """

    def __init__(self, source, kind):
        self.source, self.kind = source, kind
        digest = hashlib.blake2b(source.encode(), digest_size=12).hexdigest()
        self._file = sealed.SealedFile(f"loop-{digest}.{kind}.code", source.encode())

    def is_compiled(self):
        """Whether a process has left machine code on the disk."""
        return self._file.exists()

    def compile(self, library):
        """The machine code, made or loaded.

        Args:
            library: `kernels.fast.elementwise`.
        """
        namespace = dict(library.NAMES)
        # The text is made of op names, types and numbers: nothing a user typed enters it.
        exec(compile(self.source, "<loop>", "exec"), namespace)  # noqa: S102
        return library.native(namespace["loop"], self.kind, self._file)
