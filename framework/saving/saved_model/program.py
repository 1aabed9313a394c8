"""Programs: the ops of one traced call as data that can be stored in a file and run on tensors.

A program lists calls of ops of the op table by name. Values are numbered; unknown sizes are
computed by a few NumPy functions with ONNX's names, as in ONNX files.
"""

import pkgutil
import warnings
from importlib import import_module

import numpy as np

from framework import ops
from framework.autodiff.custom_gradients import CustomGradientOp
from framework.core import random
from framework.core.errors import DamagedFileError, ExportError, SaveError
from framework.core.op import table
from framework.core.tensor import Tensor
from framework.saving.onnx import constants
from framework.saving.onnx.builder import Builder
from framework.saving.onnx.folding import same
from framework.saving.onnx.sizes import Size
from framework.saving.onnx.traces import Array, Varying, expanded, path_of, where
from framework.saving.saved_model.arrays import stored
from framework.saving.saved_model.literals import decoded, encoded
from framework.saving.saved_model.size_nodes import SIZE_NODES
from framework.saving.saved_model.table_ops import SavedTable, saved_table

_OPSET = 20


# ---- from a graph --------------------------------------------------------------------------------


class ProgramWriter:
    """Converts graphs to programs, as JSON values.

    Args:
        arrays: {name: array}, to which constants are added.
        number_of: a function from a variable to its number in the file.
        sizes: the sizes of the variables.
    """

    def __init__(self, arrays, number_of, sizes=()):
        self._arrays, self._number_of, self.sizes = arrays, number_of, sizes

    def described(self, graph):
        """Return the JSON value of a GeneralGraph.

        Raises:
            SaveError: an op or a value cannot be saved.
        """
        return _Description(graph, self._constant, self._number_of).program()

    def _constant(self, array):
        return stored(f"constant/{len(self._arrays)}", array, self._arrays)


class _Description:
    def __init__(self, graph, constant, number_of):
        self._graph, self._constant, self._number_of = graph, constant, number_of
        self._sizes = Builder(_OPSET, graph.traces)
        # maps the id of an Array to (its JSON value, the Array); keeping the Array keeps its id
        # valid
        self._names = {}
        self._steps, self._sized, self._count = [], 0, 0

    def program(self):
        graph = self._graph
        for array in graph.arguments:
            self._new(array)
        count = self._count
        self._add_calls(graph)
        results = [self._argument(a) for a in graph.results]
        assigned = [[self._number_of(v), self._argument(a)] for v, a in graph.assigned]
        return {"inputs": count, "steps": self._steps, "results": results, "assigned": assigned}

    def _new(self, array):
        number, self._count = self._count, self._count + 1
        self._names[id(array)] = {"value": number}, array
        self._sizes.input(f"value {number}", array.dtype, array.shape)
        return number

    def _add_calls(self, graph):
        needed = _needed(graph)
        for call in graph.calls:
            if call.op is None or id(call) in needed:
                self._add(call)

    def _add(self, call):
        op = call.op
        if op is not None and table.get(op.name) is not op:
            self._add_composite(call)
            return
        try:
            step = self._draw(call) if op is None else self._op(call)
        except SaveError as error:
            what = "random draw" if op is None else f"op {op.name!r}"
            raise SaveError(f"The {what}{where(call.node)} cannot be saved: {error}") from None
        # only the op's results get numbers, not the values that it saves for its gradient
        made = call.outputs[: len(call.node.outputs)]
        step["out"] = [self._new(array) for array in made]
        self._steps.append(step)

    def _op(self, call):
        attrs = {name: self._argument(value) for name, value in call.attrs.items()}
        return {"op": call.op.name, "args": [self._argument(a) for a in call.args], "attrs": attrs}

    def _draw(self, call):
        source = call.node.draw.source
        fixed = isinstance(source, random.Stateless)
        attrs = {name: self._argument(value) for name, value in call.attrs.items()}
        state = getattr(source, "state", None)
        number = None if state is None else self._number_of(state)
        return {"draw": attrs, "at": list(source.advance()) if fixed else None, "state": number}

    def _pass_on(self, call):
        """Skip a custom gradient: its results are its last arguments, which are known already."""
        warnings.warn(
            f"saved_model.save: the custom gradient {call.op.name!r}{where(call.node)} is not "
            "saved: the loaded function uses the gradients of its ops.", stacklevel=2,
        )  # fmt: skip
        for given, output in zip(call.args[-len(call.outputs) :], call.outputs, strict=True):
            self._names[id(output)] = self._argument(given), output

    def _add_composite(self, call):
        """Add the composite of a call whose op is not in the op table."""
        if isinstance(call.op, CustomGradientOp):
            self._pass_on(call)
            return
        if call.op.composite is None:
            raise SaveError(
                f"The op {call.op.name!r}{where(call.node)} runs Python code, which a saved model "
                "cannot contain. Leave it out of the saved function."
            )
        arguments, graph = expanded(call, self._graph.traces)
        for inner, outer in zip(graph.arguments, arguments, strict=True):
            self._names[id(inner)] = self._argument(outer), inner
        self._add_calls(graph)
        for inner, outer in zip(graph.results, call.outputs):
            self._names[id(outer)] = self._argument(inner), outer
        # keeping the graph alive keeps the ids of its Arrays valid
        self._names[id(graph)] = None, graph

    # ---- arguments ----

    def _argument(self, value):
        return encoded(value, self._other)

    def _other(self, value):
        if type(value) is Array:
            return self._array(value)
        if isinstance(value, np.ndarray):
            return {"array": self._constant(value)}
        if type(value) is Size:
            return {"size": self._computed(lambda b: b.size(value))}
        if type(value) is Varying:
            arrays = [np.asarray(a) for a in value.arrays]
            kind = "computed" if arrays[0].ndim else "number"
            return {kind: self._computed(lambda b: constants.computed(b, arrays))}
        if type(value) is np.dtype and value.kind == "O":
            return {"array_dtype": "string"}
        table_op = saved_table(value)
        return None if table_op is None else {"table": encoded(table_op, self._other)}

    def _array(self, array):
        if id(array) not in self._names:
            if array.variable is not None:
                number = self._number_of(array.variable)
                if number is None:
                    raise SaveError(
                        f"it reads the variable {path_of(array.variable)!r}, which no attribute of "
                        "the saved object holds. Make it an attribute."
                    )
                found = {"variable": number}
            elif array.constant is not None:
                found = self._constant_array(array.constant)
            else:
                raise SaveError("it reads a value that another op saves only for its gradient")
            self._names[id(array)] = found, array
        return self._names[id(array)][0]

    def _constant_array(self, arrays):
        if all(same(a, arrays[0]) for a in arrays):
            return {"array": self._constant(arrays[0])}
        return {"computed": self._computed(lambda b: constants.computed(b, arrays))}

    def _computed(self, build):
        """Add steps that compute a size or an array from known sizes; return its name."""
        b = self._sizes
        try:
            name = b.name_of(build(b))
        except ExportError as error:
            raise SaveError(str(error)) from None
        for node in b.nodes[self._sized :]:
            attrs = {k: encoded(v, self._other) for k, v in node.attrs.items()}
            inputs = [self._input(name) for name in node.inputs]
            self._steps.append(
                {"size": node.op_type, "args": inputs, "attrs": attrs, "out": node.outputs}
            )
        self._sized = len(b.nodes)
        return self._input(name)

    def _input(self, name):
        array = self._sizes.initializers.get(name)
        return name if array is None else {"array": self._constant(array)}


def _needed(graph):
    """Return the ids of the calls on which results and assigned values depend."""
    wanted = {id(a) for a in (*graph.results, *(a for _, a in graph.assigned))}
    needed = set()
    for call in reversed(graph.calls):
        if any(id(output) in wanted for output in call.outputs):
            needed.add(id(call))
            wanted.update(id(a) for a in call.args if type(a) is Array)
    return needed


# ---- to a function -------------------------------------------------------------------------------


class Program:
    """A program read from a file, as a function of tensors.

    Args:
        description: the JSON value of a `ProgramWriter`.
        array_of: a function from a result of `stored` to the constant array.
        variables: {number: variable}.

    Raises:
        DamagedFileError: the description is invalid.
    """

    def __init__(self, description, array_of, variables):
        self._array_of, self.variables = array_of, {}
        self._of_number = variables
        try:
            self.inputs = int(description["inputs"])
            self._steps = [self._step(step) for step in description["steps"]]
            self._results = [self._argument(value) for value in description["results"]]
            self._assigned = [
                (self._variable(number), self._argument(value))
                for number, value in description["assigned"]
            ]
        except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
            raise DamagedFileError(f"A program of the saved model is damaged: {error!r}") from None

    def run(self, *tensors):
        """Run the program: assign its variables, and return the list of results."""
        state = dict(enumerate(tensors))
        for number, variable in self.variables.items():
            state["variable", number] = variable.read()
        for step in self._steps:
            step(state)
        results = [reader(state) for reader in self._results]
        for variable, reader in self._assigned:
            variable.assign(reader(state))
        return results

    def _variable(self, number):
        variable = self.variables[number] = self._of_number[number]
        return variable

    # ---- steps: functions that change the state {number of a value or name of a size: value} ----

    def _step(self, step):
        if "size" in step:
            return self._size_step(step)
        out = [int(number) for number in step["out"]]
        call = self._draw(step) if "draw" in step else self._op(step)

        def run(state):
            found = call(state)
            found = found if isinstance(found, (tuple, list)) else (found,)
            state.update(zip(out, [_tensor(v) for v in found]))

        return run

    def _op(self, step):
        op = _op_named(step["op"])
        readers = [self._argument(value) for value in step["args"]]
        attrs = {name: self._attribute(value) for name, value in step["attrs"].items()}
        if all(type(value) is not _Open for value in attrs.values()):
            return lambda state: op(*[r(state) for r in readers], **attrs)
        return lambda state: op(
            *[r(state) for r in readers], **{n: _at(v, state) for n, v in attrs.items()}
        )

    def _draw(self, step):
        attrs = {name: self._attribute(value) for name, value in step["draw"].items()}
        at, number = step["at"], step["state"]
        source = None if at is None else random.Stateless(*at)
        if number is not None:
            source = random.generator_with(self._of_number[number])

        def draw(state):
            values = {n: _at(v, state) for n, v in attrs.items()}
            return random.draw(source or random.global_generator(), **values)

        return draw

    def _size_step(self, step):
        function, names = SIZE_NODES[step["size"]], step["args"]
        attrs = {name: self._attribute(value) for name, value in step["attrs"].items()}
        inputs = [self._attribute(name) if type(name) is dict else _size_reader(name)
                  for name in names]  # fmt: skip
        (out,) = step["out"]

        def run(state):
            state[out] = function(*[_at(i, state) for i in inputs], **attrs)

        return run

    # ---- arguments: functions of the state ----

    def _argument(self, value):
        """Return a function from the state to an argument of an op."""
        found = self._attribute(value)
        if type(found) is _Open:
            return found.reader
        found = Tensor(found) if isinstance(found, np.ndarray) else found
        return lambda state: found

    def _attribute(self, value):
        """Return the value of an attribute, or an _Open if it depends on the state."""
        open_parts = []

        def later(reader):
            open_parts.append(reader)
            return _Open(reader)

        found = decoded(value, {
            "value": lambda number: later(lambda state: state[number]),
            "variable": lambda number: self._read(number, later),
            "array": self._array_of,
            "size": lambda name: later(lambda state: int(self._sized(name, state).reshape(()))),
            "computed": lambda name: later(lambda state: Tensor(self._sized(name, state))),
            "table": lambda entries: SavedTable(*decoded(entries, {"array": self._array_of})),
            "number": lambda name: later(lambda state: _number(self._sized(name, state))),
        })  # fmt: skip
        return _Open(lambda state: _filled(found, state)) if open_parts else found

    def _read(self, number, later):
        self._variable(number)
        return later(lambda state: state["variable", number])

    def _sized(self, name, state):
        return self._array_of(name["array"]) if type(name) is dict else state[name]


class _Open:
    """A value that is known only when the program runs, as a function of the program's state."""

    __slots__ = ("reader",)

    def __init__(self, reader):
        self.reader = reader


def _at(value, state):
    return value.reader(state) if type(value) is _Open else value


def _filled(value, state):
    """Return `value` with each _Open in it replaced by what it reads from the state."""
    if type(value) is _Open:
        return value.reader(state)
    if type(value) in (tuple, list):
        return type(value)([_filled(v, state) for v in value])
    if type(value) is slice:
        return slice(*(_filled(v, state) for v in (value.start, value.stop, value.step)))
    if type(value) is dict:
        return {name: _filled(v, state) for name, v in value.items()}
    return value


def _size_reader(name):
    """Return the _Open that reads a named size, or the shape of a value, from the state."""
    kind, _, number = name.partition(" ")
    if kind == "value":
        return _Open(lambda state: np.array(state[int(number)].shape, np.int64))
    return _Open(lambda state: state[name])


def _number(array):
    """Return a 0-d array as a Python number (a weak scalar) if it is an int64 or float64."""
    return array.item() if array.dtype in (np.float64, np.int64) else array[()]


def _tensor(value):
    return value if type(value) is Tensor else Tensor(np.asarray(value))


def _op_named(name):
    if name not in table:
        for module in pkgutil.iter_modules(ops.__path__):
            import_module(f"{ops.__name__}.{module.name}")
    if name not in table:
        raise DamagedFileError(
            f"The saved model uses the op {name!r}, which this release does not have. Load it with "
            "a newer release."
        )
    return table[name]
