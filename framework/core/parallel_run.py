"""How work is divided: `kernels.threads`, which is above this package, puts its own `run` here."""


def run(function, parts):
    """`function(part)` for each part, where there are no threads of ours."""
    for part in parts:
        function(part)
