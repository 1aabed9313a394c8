"""tf.nest: nested lists, tuples, dicts and named tuples, walked leaf by leaf."""

from framework.core.lazy import attach_stub

__getattr__, __dir__ = attach_stub(__name__)
