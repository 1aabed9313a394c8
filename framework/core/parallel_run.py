"""`run` calls a function for each part of a task; `kernels.threads` makes `run` parallel."""


def run(function, parts):
    """Call `function(part)` for each of `parts`, one after another."""
    for part in parts:
        function(part)
