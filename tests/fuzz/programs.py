"""Generate programs of ops, views, control flow, tapes, variables, draws, state and threads.

A generator runs what it writes, statement by statement, on the arguments of the first call: so it
knows what each name holds, and leaves out what raises.
"""

import random
import re

import numpy as np

from tests.fuzz import expressions
from tests.fuzz.filling import Filler, MisfitError
from tests.fuzz.running import Outcome, Runner

_DTYPES = {
    "float32": 60, "float64": 12, "int32": 9, "float16": 3, "bool": 5, "int64": 3, "int8": 1,
    "uint8": 2, "complex64": 2, "bfloat16": 1, "int16": 1,
}  # fmt: skip
_MOST = 5000  # elements that a value may have; a program of large arrays: `_LARGE`
_LARGE = 400_000
_SWELLS = ("diag(", "outer", "meshgrid", "_map", "map_", "scan", "{s}, {i}", "@", "matmul", "dot(")


class Program:
    """Writes one program.

    Args:
        seed: of what it is.
        tf, keras: the packages it is tried out on.
        draws, states, errors: whether it has random draws, plain values that change between calls,
            exceptions.
        peers: whether it has to run by TensorFlow too: expressions that raise are kept.
    """

    def __init__(self, seed, tf, keras, draws=True, states=True, errors=True, peers=False):
        self.rng = random.Random(seed)
        self.tf, self.peers = tf, peers
        self.draws, self.states = draws and self.chance(0.25), states and self.chance(0.15)
        self.errors = errors
        self.runner = Runner(tf, keras, Outcome())
        self.env = self.runner.names
        self.head, self.lines, self.tail = [], [], []
        self.indent, self.count = 1, 0
        self.assigns = False
        self.large = not peers and self.chance(0.01)
        self.groups = [
            (group, weight) for group, weight in expressions.GROUPS
            if not (group is expressions.DRAWS and not self.draws)
            and not (group is expressions.STATE and not self.states)
        ]  # fmt: skip

    def chance(self, p):
        return self.rng.random() < p

    def try_out(self, line):
        """Whether a line runs."""
        try:
            exec(compile(line, "<program>", "exec"), self.env)
        except Exception:
            return False
        return True

    def top(self, line):
        if self.try_out(line):
            self.head.append(line)
            return True
        return False

    def write(self, line):
        self.lines.append("    " * self.indent + line)

    # ---- inputs ----

    def shapes(self):
        sizes = [1, 2, 3, 4, 5] if self.chance(0.85) else [0, 1, 3, 7]
        n, m, k = (self.rng.choice(sizes) for _ in range(3))
        if self.large:
            n, m, k = self.rng.choice([(300, 301, 8), (64, 784, 2), (1000, 33, 3), (7, 9001, 1)])
        square = (m, m) if m * m <= _LARGE else (m, 2)
        every = [(n, m), (n, m), (m,), (n,), (1, m), (n, 1), (), square]
        return every + ([] if self.large else [(k, n, m), (m, k), (2, k, n, m)])

    def begin(self):
        shapes = self.shapes()
        kinds, weights = list(_DTYPES), list(_DTYPES.values())
        main = "float32" if self.chance(0.8) else self.rng.choices(kinds, weights)[0]
        self.top(f"tf.random.set_seed({self.rng.randrange(100)})" if self.draws else "")
        self.specs = []
        for _ in range(self.rng.choice([1, 2, 2, 2, 3])):
            dtype = main if self.chance(0.7) else self.rng.choices(kinds, weights)[0]
            self.specs.append((self.rng.choice(shapes), dtype))
        self.values = {}
        self.variables = []
        for i in range(self.rng.choice([0, 0, 1, 1, 2])):
            shape, dtype = self.rng.choice(shapes), "float32" if self.chance(0.9) else "int32"
            if self.top(f"v{i} = tf.Variable({self.data(shape, dtype, i)})"):
                self.variables.append(f"v{i}")
        for i in range(self.rng.choice([0, 0, 0, 1])):
            self.top(f"c{i} = {self.data(self.rng.choice(shapes), main, 50 + i)}")
            self.values[f"c{i}"] = self.env[f"c{i}"]
        self.values |= {name: self.env[name] for name in self.variables}
        if self.draws:
            self.top("generator = tf.random.Generator.from_seed(3)")
            self.top("seeds = keras.random.SeedGenerator(4)")
        self.stated = []
        if self.states:
            made = {'cfg["k"]': 'cfg = {"k": 1.5}', "box.k": "box = Box(k=0.5)",
                    "items[0]": "items = [2.0]", "k0": "k0 = 1.1"}  # fmt: skip
            self.stated = self.rng.sample(expressions.STATES, 1 if self.chance(0.7) else 2)
            for state in self.stated:
                self.top(made[state])

    def data(self, shape, dtype, seed, special=False):
        return f'data({shape}, "{dtype}", {seed}{", special=True" if special else ""})'

    # ---- statements ----

    def filler(self):
        return Filler(self.rng, self.values, self.stated)

    def expression(self):
        """(text, value) of something that runs."""
        for _ in range(12):
            group = self.rng.choices(*zip(*self.groups, strict=True))[0]
            template = self.rng.choice(group)
            if self.large and any(word in template for word in _SWELLS):
                continue
            try:
                text = self.filler().fill(template)
            except MisfitError:
                continue
            try:
                value = eval(compile(text, "<program>", "eval"), self.env)
            except Exception:
                if self.peers and self.chance(0.3):
                    self.write(f"probe(lambda: {text})")
                continue
            if self.fine(value):
                return text, value
        return None

    def fine(self, value):
        if not (hasattr(value, "dtype") and hasattr(value, "shape")):
            return False
        if value.dtype == "string":
            return False
        most = _LARGE if self.large else _MOST
        if np.prod(tuple(value.shape), dtype=float) > most:
            return False
        if value.dtype.is_floating and int(np.prod(value.shape)):
            return bool(np.isfinite(np.asarray(value, "float64")).any()) or self.chance(0.2)
        return True

    def name(self):
        self.count += 1
        return f"t{self.count}"

    def assign(self):
        found = self.expression()
        if found is None:
            return
        text, value = found
        name = self.name()
        self.write(f"{name} = {text}")
        self.env[name] = self.values[name] = value

    def statements(self, count, depth=0):
        kinds = [
            (self.assign, 30), (lambda: self.branch(depth), 2), (lambda: self.loop(depth), 1),
            (lambda: self.tape(depth), 3), (self.change, 3 if self.variables else 0),
            (self.inner_function, 1), (self.raising, 1 if self.errors else 0),
        ]  # fmt: skip
        for _ in range(count):
            work = self.rng.choices(*zip(*kinds, strict=True))[0] if depth < 2 else self.assign
            work()

    def condition(self):
        choices = [
            "tf.reduce_sum({f}) > {number}", "tf.reduce_any({f} > {number})",
            "float(tf.reduce_mean({f})) > {number}", "int(tf.size({a})) > 3",
            "tf.reduce_max({n}) > tf.reduce_min({N})", "len({s}) > 2",
        ]  # fmt: skip
        try:
            text = self.filler().fill(self.rng.choice(choices))
            return text, bool(eval(text, self.env))
        except Exception:
            return None

    def block(self, header, count, depth):
        """The statements of a block, and a result that it leaves under `name`."""
        self.write(header)
        self.indent += 1
        start = len(self.lines)
        self.statements(count, depth + 1)
        if len(self.lines) == start:
            self.write("pass")
        self.indent -= 1

    def branch(self, depth):
        found = self.condition()
        if found is None:
            return
        text, holds = found
        name, before = self.name(), dict(self.values)
        results = []
        for header in (f"if {text}:", "else:"):
            self.values = dict(before)
            self.block(header, self.rng.randint(0, 2), depth)
            self.indent += 1
            found = self.expression()
            source, value = found or ("tf.constant(1.0)", self.tf.constant(1.0))
            self.write(f"{name} = {source}")
            self.indent -= 1
            results.append(value)
        self.values = before
        self.env[name] = self.values[name] = results[0 if holds else 1]

    def loop(self, depth):
        found = self.expression()
        if found is None:
            return
        text, value = found
        name = self.name()
        if not (value.dtype.is_floating):
            return
        self.env[name] = value
        form = self.rng.choice(
            ["for _ in range({n}):", "while tf.reduce_max(tf.abs({x})) > 1.0:", "numbers"]
        )
        steps = self.rng.choice(["{x} * 0.5", "tf.tanh({x}) + 0.25", "{x} - {x} / 3.0"])
        self.write(f"{name} = {text}")
        if form == "numbers":
            self.write(f"for i in range({self.rng.choice([2, 3])}):")
            steps += " * i"
        elif form.startswith("while"):
            self.write("for _ in range(4):")
            self.write(f"    if tf.reduce_max({name}) < 1.0:")
            self.write("        break")
        else:
            self.write(form.format(n=self.rng.choice([1, 2, 3])))
        self.write(f"    {name} = {steps.format(x=name)}")
        self.values[name] = value

    def tape(self, depth):
        """A tape within, its gradients or jacobian used afterwards."""
        floats = [n for n, v in self.values.items() if v.dtype.is_floating]
        if not floats:
            return
        name = self.name()
        sources = self.rng.sample(floats, min(len(floats), self.rng.choice([1, 1, 2])))
        persistent = self.chance(0.2)
        self.env[name] = tape = self.tf.GradientTape(persistent=persistent)
        with tape:
            self.write(
                f"with tf.GradientTape({'persistent=True' if persistent else ''}) as {name}:"
            )
            self.indent += 1
            for source in sources:
                self.write(f"{name}.watch({source})")
                tape.watch(self.env[source])
            self.statements(self.rng.randint(1, 3), depth + 1)
            template = self.rng.choice(
                ["tf.reduce_sum({f} * {F})", "tf.reduce_mean(tf.square({f}))"]
            )
            target = self.name()
            try:
                text = self.filler().fill(template)
                self.env[target] = value = eval(text, self.env)
            except Exception:
                text, value = (
                    f"tf.reduce_sum({sources[0]})",
                    self.tf.reduce_sum(self.env[sources[0]]),
                )
                self.env[target] = value
            self.write(f"{target} = {text}")
            self.indent -= 1
        self.values[target] = value
        how = "jacobian" if self.chance(0.1) and not self.large else "gradient"
        self.ask(name, target, sources, how)
        if persistent:
            self.ask(name, target, sources[:1], "gradient")

    def ask(self, tape, target, sources, how):
        result = self.name()
        more = ", unconnected_gradients='zero'" if self.chance(0.15) else ""
        text = f"{tape}.{how}({target}, {sources[0]}{more})"
        if len(sources) > 1:
            text = f"{tape}.{how}({target}, [{', '.join(sources)}]{more})[0]"
        if not self.try_out(f"{result} = {text}"):
            return
        self.write(f"{result} = {text}")
        value = self.env[result]
        if value is not None and hasattr(value, "dtype") and not hasattr(value, "indices"):
            self.values[result] = value

    def change(self):
        """Assign a variable."""
        name = self.rng.choice(self.variables)
        variable = self.env[name]
        fits = [
            n for n, v in self.values.items()
            if v.dtype == variable.dtype and tuple(v.shape) in (tuple(variable.shape), ())
        ]  # fmt: skip
        how = self.rng.choice(["assign", "assign_add", "assign_sub", "assign_add"])
        if not fits:
            return
        value = self.rng.choice(fits)
        value = value if tuple(self.env[value].shape) else f"tf.zeros_like({name}) + {value}"
        line = f"{name}.{how}({value}{' * 0.125' if variable.dtype.is_floating else ''})"
        if self.try_out(line):
            self.assigns = True
            self.write(line)

    def inner_function(self):
        """A function within: a custom gradient, a compiled one, a recomputed one, a lambda."""
        kind = self.rng.choice(["custom", "function", "recompute", "vector"])
        name = self.name()
        floats = [n for n, v in self.values.items() if v.dtype.is_floating]
        if not floats:
            return
        x = self.rng.choice(floats)
        lines = {
            "custom": ["@tf.custom_gradient", f"def {name}f(z):",
                       "    return tf.exp(-z), lambda g: g * 0.5 * z"],
            "function": ["@tf.function", f"def {name}f(z):", "    return tf.tanh(z) * z + 1.0"],
            "recompute": [f"{name}f = tf.recompute_grad(lambda z: tf.sin(z) * z)"],
            "vector": [f"{name}f = lambda z: tf.reduce_sum(z, axis=0) + z"],
        }[kind]  # fmt: skip
        lines.append(f"{name} = {name}f({x})")
        if self.try_out("\n".join(lines)) and self.fine(self.env[name]):
            for line in lines:
                self.write(line)
            self.values[name] = self.env[name]

    def raising(self):
        """An exception that hangs on a value; only while nothing is assigned."""
        found = self.condition()
        if found is None or self.assigns or self.draws:
            return
        text, holds = found
        if holds and self.chance(0.8):
            text = f"not ({text})"
        self.write(f"if {text}:")
        self.write(f'    raise {self.rng.choice(["ValueError", "KeyError"])}("stop")')

    # ---- the whole ----

    def function(self):
        """Write the function under test; its text."""
        names = "abc"[: len(self.specs)]
        special = self.chance(0.08)
        for i, (name, (shape, dtype)) in enumerate(zip(names, self.specs, strict=True)):
            line = self.data(shape, dtype, 10 + i, special and self.chance(0.5))
            if not self.try_out(f"{name} = {line}"):
                self.try_out(f"{name} = {self.data(shape, 'float32', 10 + i)}")
                self.specs[i] = (shape, "float32")
            self.values[name] = self.env[name]
        self.special = special
        self.parameters = list(names)
        self.number = None
        if self.chance(0.2):
            self.number = self.rng.choice(["float", "int", "bool", "None"])
            self.parameters.append("k")
            self.env["k"] = {"float": 0.5, "int": 2, "bool": True, "None": None}[self.number]
            if self.number in ("float", "int"):
                floats = [n for n in names if self.values[n].dtype.is_floating]
                if floats:
                    text = self.rng.choice(
                        [f"{floats[0]} * k", f"{floats[0]} + k", f"k - {floats[0]}"]
                    )
                    self.write(f"t0 = {text}")
                    self.env["t0"] = self.values["t0"] = eval(text, self.env)
        self.statements(self.rng.choice([1, 2, 3, 4, 5, 6, 8, 12]))
        if self.number in ("bool", "None"):
            test = "k" if self.number == "bool" else "k is None"
            name = list(self.values)[-1]
            self.write(f"r0 = {name} if {test} else tf.zeros_like({name})")
            self.values["r0"] = self.env["r0"] = self.env[name]
        self.write(f"return {self.result()}")

    def result(self):
        made = [n for n in self.env if re.fullmatch(r"[tr]\d+", n) and n in self.values]
        made = made or self.parameters[:1]
        picked = list(dict.fromkeys([*made[-1:], *self.rng.sample(made, min(len(made), 2))]))
        kind = self.rng.random()
        if kind < 0.3 or (len(picked) == 1 and kind < 0.8):
            return picked[0]
        if kind < 0.7:
            return ", ".join(picked) + ("," if len(picked) == 1 else "")
        if kind < 0.8:
            return "[" + ", ".join([*picked, "None"]) + "]"
        return "{" + ", ".join(f'"{n}": {n}' for n in picked) + "}"

    def calls(self):
        """What is done with the function."""
        sets = []
        for i in range(self.rng.choice([1, 2, 2, 3])):
            other = i and self.chance(0.15)
            args = []
            for j, (shape, dtype) in enumerate(self.specs):
                longer = other and shape and self.chance(0.5)
                size = (shape[0] + 1, *shape[1:]) if longer else shape
                args.append(
                    self.data(size, dtype, 10 * (i + 1) + j, self.special or self.chance(0.02))
                )
            if self.number:
                args.append(self.rng.choice(
                    {"float": ["0.5", "2.0", "-1.0", "0.1"], "int": ["1", "2", "3", "-1"],
                     "bool": ["True", "False"], "None": ["None", "3"]}[self.number]))  # fmt: skip
            self.tail.append(f"x{i} = {', '.join(args)}{',' if len(args) == 1 else ''}")
            sets.append(f"x{i}")
        for _ in range(self.rng.choice([1, 1, 2, 3])):
            ways = [self.plain, self.taped, self.mutated, self.threaded]
            often = [10, 7, 4 if self.stated or self.variables else 0, 1]
            self.rng.choices(ways, often)[0](sets)
        self.tail += [f"out({name})" for name in self.variables]

    def order(self, sets, least=4):
        if self.peers:
            return ", ".join([*sets, sets[0]])
        order = [self.rng.choice(sets) for _ in range(self.rng.randint(1, 3))]
        return ", ".join([sets[0]] * least + order)

    def plain(self, sets):
        self.tail += [f"for x in ({self.order(sets)}):", "    call(f, *x)"]

    def taped(self, sets):
        floats = [i for i, (_, dtype) in enumerate(self.specs) if "float" in dtype]
        sources = [f"x[{i}]" for i in floats[: self.rng.choice([1, 2])]]
        sources += [v for v in self.variables if self.env[v].dtype.is_floating]
        if not sources:
            return self.plain(sets)
        if self.chance(0.2):
            line = f"second(f, x, {sources[0]})"
        else:
            line = f"grads(f, x, [{', '.join(sources)}])"
        self.tail += [f"for x in ({self.order(sets, 3)}):", f"    {line}"]
        return None

    def mutated(self, sets):
        self.plain(sets)
        for state in self.stated:
            self.tail.append(f"{state} = {self.rng.choice([0.25, 3.0, 1.5])}")
        for name in self.variables:
            if self.chance(0.5):
                self.tail.append(f"{name}.assign({name} * 2)")
        self.plain(sets)

    def threaded(self, sets):
        probes = any("probe(" in line for line in self.lines)  # threads keep in any order
        if self.variables or self.draws or probes:
            return self.plain(sets)
        for _ in range(self.rng.choice([1, 3])):
            self.tail.append(f"threads(f, {self.order(sets, 1)})")
        return None

    def text(self):
        self.begin()
        self.function()
        self.calls()
        header = [f"def f({', '.join(self.parameters)}):"]
        if not self.chance(0.03):
            header.insert(0, "@tf.function")
        state = [line for line in self.head if line]
        return "\n".join([*state, *header, *self.lines, *self.tail]) + "\n"


def program(seed, tf, keras, **options):
    """The text of the program with this seed."""
    made = Program(seed, tf, keras, **options)
    from framework.kernels import tier

    before = tier._tier
    tier.set_tier("off")
    try:
        return made.text()
    finally:
        tier.set_tier(before)
