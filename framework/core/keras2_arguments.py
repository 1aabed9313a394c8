"""Arguments in the order that older versions of Keras had."""

import functools

from framework.core.errors import SignatureError


def name_first(*names):
    """A decorator of `add_weight` methods: a string in front begins the arguments `names`.

    They are those of Keras 2, of which the first is the variable's name.
    """

    def decorate(add_weight):
        @functools.wraps(add_weight)
        def wrapper(self, *args, **kwargs):
            if args and isinstance(args[0], str):
                older = dict(zip(names, args))
                twice = [name for name in older if name in kwargs]
                if twice or len(args) > len(names):
                    reason = f"{twice[0]} is given twice." if twice else "there are too many."
                    raise SignatureError(
                        f"add_weight({args[0]!r}, ...): {reason} A name in front is followed by "
                        f"{', '.join(names[1:])}. Give them as keywords."
                    )
                args, kwargs = (), {**older, **kwargs}
            return add_weight(self, *args, **kwargs)

        return wrapper

    return decorate
