"""`run` calls a function for each part of some work; `kernels.threads` makes it parallel."""


def run(function, parts):
    """Call `function(part)` for each of `parts`, one after another."""
    for part in parts:
        function(part)
