"""ByShape: caches a function's results for elements, if they depend only on shapes."""

from framework.core import nest, recorders
from framework.core.recorders import Recorder
from framework.core.tensor import Tensor


class ByShape:
    """Caches the results of a function without side effects, as long as they depend only on shapes.

    A key function such as `lambda x: tf.shape(x)[0]` is then called once for each shape. Each call
    detects whether an op or Python read the element's values. Each iteration has its own ByShape,
    because the function may read globals that change between iterations.

    Args:
        compute: a function of an element and its number.
    """

    def __init__(self, compute):
        self._compute, self._known = compute, {}

    @property
    def known(self):
        """The cached results by element shape; None if results depend on values."""
        return self._known

    def __call__(self, element, number):
        if self._known is None:
            return self._compute(element, number)
        if type(element) is Tensor:
            key = element.array.shape
        else:
            leaves = nest.flatten(element)
            if not all(type(leaf) is Tensor for leaf in leaves):
                return self._compute(element, number)
            key = tuple([leaf.array.shape for leaf in leaves])
        found = self._known.get(key)
        if found is None:
            found = self._watched(element, number)
            if self._known is not None:
                self._known[key] = found
        return found

    def _watched(self, element, number):
        watch = _ElementReads(nest.flatten(element))
        recorders.push(watch)
        try:
            result = self._compute(element, number)
        finally:
            recorders.remove(watch)
        if watch.found:
            self._known = None
        return result


class _ElementReads(Recorder):
    """A recorder that detects whether Python or an op reads tensors or variables."""

    def __init__(self, tensors):
        self._tensors, self.found = tensors, False

    def op(self, op, args, attrs, outputs, saved):
        self.found |= any(arg is each for arg in args for each in self._tensors)

    def value_read(self, tensor, how):
        self.found |= any(tensor is each for each in self._tensors)

    def variable_read(self, variable, tensor):
        self.found = True

    def random_draw(self, draw, tensor):
        self.found = True
