"""`run` calls a function on parts of the work; `kernels.threads` replaces it by a threaded one."""


def run(function, parts):
    """Call `function(part)` for each part, one after another."""
    for part in parts:
        function(part)
