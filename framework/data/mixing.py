"""Stages for `choose_from_datasets`, `sample_from_datasets`, `random`, `rejection_resample`."""

from itertools import count

import numpy as np

from framework.core import nest
from framework.core.errors import InvalidArgumentError
from framework.core.random import own_generator
from framework.core.tensor import Tensor
from framework.core.tensor_spec import TensorSpec
from framework.data.stage import END, INFINITE, UNKNOWN, Stage, common_spec, firsts
from framework.data.structure import array_in, as_element, spec_of
from framework.data.transform import call, run


class RandomNumbers(Stage):
    """A pipeline stage that endlessly yields random int64 numbers from 0 to 2**32 - 1."""

    def __init__(self, seed, again):
        super().__init__()
        self.seed, self.again, self.epoch = seed, again, 0

    def length(self):
        return INFINITE

    def spec(self):
        return TensorSpec((), "int64")

    def elements(self):
        generator = own_generator(self.seed, self.epoch)
        self.epoch += self.again
        while True:
            for number in generator.integers(2**32, size=64):
                yield Tensor(np.array(number))


class SampledNumbers(Stage):
    """A pipeline stage that yields random indices, with probabilities proportional to weights.

    Args:
        weights: an array for an endless stage; or a stage that yields an array for each index.
        seed: an int.
        again: True for different numbers in each iteration.
    """

    def __init__(self, weights, seed, again):
        super().__init__(*([weights] if isinstance(weights, Stage) else []))
        self.weights, self.seed, self.again, self.epoch = weights, seed, again, 0

    def length(self):
        return self.parent.length() if self.parents else INFINITE

    def spec(self):
        return TensorSpec((), "int64")

    def elements(self):
        generator = own_generator(self.seed, self.epoch)
        self.epoch += self.again
        if self.parents:
            for weights in self.parent.iterate():
                yield _drawn(generator, np.cumsum(np.asarray(weights.array, np.float64)))
        bounds = None if self.parents else np.cumsum(self.weights)
        while bounds is not None:
            yield _drawn(generator, bounds)


def _drawn(generator, bounds):
    number = np.searchsorted(bounds, generator.random() * bounds[-1], "right")
    return Tensor(np.array(min(number, len(bounds) - 1), np.int64))


class Choice(Stage):
    """A pipeline stage that takes each element from the dataset whose index `choice` yields."""

    def __init__(self, choice, datasets, stop):
        super().__init__(*datasets, choice)
        self.choice, self.datasets, self.stop = choice, datasets, stop

    def length(self):
        lengths = [stage.length() for stage in self.datasets]
        if not self.stop and INFINITE in lengths:
            return INFINITE
        if self.stop and all(n == INFINITE for n in lengths) and self.choice.length() == INFINITE:
            return INFINITE
        return UNKNOWN

    def spec(self):
        specs = [stage.spec() for stage in self.datasets]
        common = specs[0]
        for spec in specs[1:]:
            common = nest.map_structure(common_spec, common, spec)
        return common

    def elements(self):
        open_ = {i: stage.iterate() for i, stage in enumerate(self.datasets)}
        for chosen in self.choice.iterate():
            number = int(chosen.array)
            if not 0 <= number < len(self.datasets):
                raise InvalidArgumentError(
                    f"choose_from_datasets: choice_dataset: expected an index from 0 to "
                    f"{len(self.datasets) - 1}, got {number}."
                )
            element = next(open_[number], END) if number in open_ else END
            if element is not END:
                yield element
                continue
            open_.pop(number, None)
            if self.stop or not open_:
                return


class Resample(Stage):
    """A pipeline stage that yields (class, element), dropping some for given class frequencies.

    An element of class c is kept with a probability proportional to target[c] / initial[c]. If
    `initial` is None, the frequencies are those among the elements so far, where the count of each
    class starts at 1.
    """

    calls_python = True

    def __init__(self, parent, class_of, target, initial, seed):
        super().__init__(parent)
        self.class_of, self.target, self.initial = class_of, target, initial
        self.seed, self.epoch = seed, 0

    def length(self):
        return UNKNOWN

    def spec(self):
        element = firsts(self.parent, 1)[0]
        label = as_element(call(self.class_of, element), "class_func's result")
        return spec_of(label), self.parent.spec()

    def elements(self):
        generator = own_generator(self.seed, self.epoch)
        self.epoch += 1
        counts = np.ones(len(self.target))
        for number, element in zip(count(), self.parent.iterate()):
            value = run(self, "class_func", self.class_of, element, number)
            label = as_element(value, "class_func's result")
            at = int(array_in(label, "class_func's result"))
            if not 0 <= at < len(self.target):
                raise InvalidArgumentError(
                    f"rejection_resample: class_func: expected a class from 0 to "
                    f"{len(self.target) - 1}, got {at}."
                )
            counts[at] += 1
            initial = counts / counts.sum() if self.initial is None else self.initial
            ratios = self.target / np.maximum(initial, np.finfo(np.float64).tiny)
            if generator.random() * ratios[initial > 0].max() < ratios[at]:
                yield label, element
