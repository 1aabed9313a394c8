"""A recorded function of arrays and numbers as compiled loops over the elements, in place."""

import numpy as np

from framework.compiler import loops
from framework.core.tensor import Tensor


class FusedLoop:
    """The compiled form of `fused.Fused`, called in the same way.

    Its numbers are those of the NumPy form, bit for bit, as long as there is no exp or the like in
    it. Where sums over all elements are taken on the way (a norm), there is a loop for each sum
    that needs another one first, and what it needs of earlier values it computes again.

    A second thread does not pay: of Adam on 25 million parameters it made 13.2 ms where there were
    13.6, since memory is the limit. Nor does one call for several variables, whose arrays have to
    be handed over all the same: of 3.6 µs a variable the call is 0.8.

    Raises:
        InvalidArgumentError: an op has no form in loops.
    """

    def __init__(self, fused, events, probes, results):
        self.arrays, self.outputs = fused.arrays, fused.outputs
        self._places = [self.arrays.index(name) for name in self.outputs]
        self._record = _Record(events, probes, self.arrays)
        names = [self._record.names[id(results[name])] for name in self.outputs]
        last = max([self._record.stage[name] for name in names], default=0)
        self._sums = [self._sum_loop(stage, fused.dtype) for stage in range(last)]
        stores = {name: out for name, out in zip(names, self.outputs) if name != out}
        loop, self._reads = self._loop(stores, {}, fused.dtype)
        self.source, self._function = loop.source, loop.compiled()

    def _loop(self, stores, sums, dtype):
        """A loop, and the names of the numbers that it reads."""
        steps = self._record.needed([*stores, *sums])
        read = {a for _, _, args in steps for a in args}
        numbers = [(name, of) for name, of in self._record.numbers.items() if name in read]
        operands = [loops.full(name, dtype, 1) for name in self.arrays]
        operands += [loops.number(*number) for number in numbers]
        program = loops.Program(operands, steps, stores, sums, ndim=0)
        return loops.build(program), [name for name, _ in numbers]

    def _sum_loop(self, stage, dtype):
        """The function for the sums of a stage, the numbers it reads, and (name, dtype) of each."""
        found = [(name, of) for name, of, at in self._record.sums if at == stage]
        loop, reads = self._loop({}, {of: "all" for _, of in found}, dtype)
        return loop.compiled(), reads, [(name, self._record.numbers[name]) for name, _ in found]

    def prepare(self, *numbers):
        """All that depends on the numbers alone, for `__call__`."""
        values = dict(zip(self._record.given, map(np.asarray, numbers)))
        self._record.compute(0, values)
        return values

    def __call__(self, arrays, destinations, prepared):
        """Fill `destinations` (see `Fused`)."""
        flat = [a.reshape(-1) for a in arrays]
        for place, destination in zip(self._places, destinations):
            if destination is not arrays[place]:
                destination[...] = arrays[place]
                flat[place] = destination.reshape(-1)
        if self._sums:
            prepared = dict(prepared)
            for stage, (function, reads, sums) in enumerate(self._sums, 1):
                totals = {name: np.empty((), dtype) for name, dtype in sums}
                function(*flat, *[prepared[name] for name in reads], *totals.values())
                prepared.update(totals)
                self._record.compute(stage, prepared)
        self._function(*flat, *[prepared[name] for name in self._reads])


class _Record:
    """What a trace holds, by names, each value with the number of sums that come before it.

    given: the names of the numbers that are parameters. numbers: name -> dtype of all numbers.
    sums: (name, name of what is summed, stage).
    """

    def __init__(self, events, probes, arrays):
        self.names = {id(tensor): name for name, tensor in probes.items()}
        self.stage = dict.fromkeys(probes, 0)
        self.given = [name for name in probes if name not in arrays]
        self.numbers = {name: probes[name].array.dtype for name in self.given}
        self.sums, self._steps, self._number_steps = [], [], []
        self._keep = events  # ids stay unique while the tensors live
        for _, op, args, _, (output,), _ in events:
            self._event(op, args, output)

    def _event(self, op, args, output):
        args = [self._argument(a) for a in args]
        name = self.names[id(output)] = f"_{len(self.names)}"
        stage = max([self.stage[a] for a in args if type(a) is str], default=0)
        if output.array.ndim:
            self._steps.append((name, op.name, args))
        else:
            self.numbers[name] = output.array.dtype
            if op.kind == "reduction":
                known = next((s for s, of, _ in self.sums if of == args[0]), None)
                if known is not None:
                    self.names[id(output)] = known
                    return
                self.sums.append((name, args[0], stage))
                stage += 1
            else:
                self._number_steps.append((name, op.forward, args, stage))
        self.stage[name] = stage

    def _argument(self, arg):
        """A name or a Python number, as the steps of a loop take them."""
        if type(arg) is Tensor and id(arg) in self.names:
            return self.names[id(arg)]
        value = arg.array if type(arg) is Tensor else arg
        return value if type(value) in (int, float, bool) else np.asarray(value).item()

    def needed(self, names):
        """The steps on arrays without which these values are not known, in order."""
        wanted, found = set(names), []
        for step in reversed(self._steps):
            if step[0] in wanted:
                found.append(step)
                wanted.update(a for a in step[2] if type(a) is str)
        return found[::-1]

    def compute(self, stage, values):
        """Add the numbers of a stage to `values`."""
        for name, forward, args, at in self._number_steps:
            if at == stage:
                given = [values[a] if type(a) is str else a for a in args]
                values[name] = np.asarray(forward(*given), self.numbers[name])
