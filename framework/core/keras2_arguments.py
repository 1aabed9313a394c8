"""Accept positional arguments in the order that Keras 2 had."""

import functools

from framework.core.errors import SignatureError


def name_first(*names):
    """Decorate an `add_weight` method to accept Keras 2's positional arguments.

    If the first argument is a string, the arguments are `names`, the variable's name first.
    """

    def decorate(add_weight):
        @functools.wraps(add_weight)
        def wrapper(self, *args, **kwargs):
            if args and isinstance(args[0], str):
                by_name = dict(zip(names, args))
                twice = [name for name in by_name if name in kwargs]
                if twice or len(args) > len(names):
                    reason = f"{twice[0]} is given twice." if twice else "there are too many."
                    raise SignatureError(
                        f"add_weight({args[0]!r}, ...): {reason} The arguments after "
                        f"the name are {', '.join(names[1:])}. Pass them as keywords."
                    )
                args, kwargs = (), {**by_name, **kwargs}
            return add_weight(self, *args, **kwargs)

        return wrapper

    return decorate
