"""`framework` and `python -m framework`: commands for the machine and for files of models."""

import argparse
import sys
from importlib import import_module
from typing import NamedTuple

from framework.core.errors import FrameworkError


class Command(NamedTuple):
    """One command.

    Attributes:
        help: what it does.
        run: "module:function" in `framework.commands`; the function receives the arguments by name
            and returns the exit status, or None for 0.
        arguments: (name, help) for a required argument, ("--name", help) for an option, or
            ("--name", help, False) for a switch.
    """

    help: str
    run: str
    arguments: tuple = ()


_FILE = "a model (.keras, .h5) or weights (.weights.h5, .npz, .safetensors)"
COMMANDS = {
    "config": Command("print libraries, threads, and how fast they are here", "machine:config"),
    "warmup": Command("compile the library's Numba kernels into their cache", "machine:warmup"),
    "datasets": Command("list the data sets, and where their files are", "data_sets:listed"),
    "doctor": Command("check the installation", "machine:doctor"),
    "summary": Command(
        "print the layers of a model, or the arrays of weights", "model_files:summary",
        (("file", _FILE),),
    ),
    "predict": Command(
        "print the outputs of a model for data, as CSV", "model_files:predict",
        (
            ("file", "a model (.keras, .h5)"),
            ("data", "inputs: .npz with one array per input, or .csv with one column per feature"),
            ("--output", "write the outputs to this file instead: .csv, .npz or .npy"),
        ),
    ),
    "convert": Command(
        "write a model or weights in another format, given by the ending", "model_files:convert",
        (
            ("source", _FILE),
            ("target", "the file to write: .keras, .weights.h5, .npz, .safetensors or .onnx"),
            ("--model", "the model of the weights, needed from and to .weights.h5"),
            ("--force", "replace an existing file", False),
        ),
    ),
}  # fmt: skip


def main(arguments=None):
    """Run a command and return the exit status: 1 after an error, which is printed in one line."""
    parser = argparse.ArgumentParser(prog="framework", description=__doc__.partition(": ")[2])
    commands = parser.add_subparsers(dest="command", metavar="command")
    for name, command in COMMANDS.items():
        own = commands.add_parser(name, help=command.help, description=command.help)
        for flag, text, *value in command.arguments:
            own.add_argument(flag, help=text, **({"action": "store_true"} if value else {}))
    given = vars(parser.parse_args(arguments))
    name = given.pop("command")
    if name is None:
        parser.print_help()
        return 0
    module, _, function = COMMANDS[name].run.partition(":")
    run = getattr(import_module(f"framework.commands.{module}"), function)
    try:
        return run(**given) or 0
    except (FrameworkError, OSError) as error:
        print(f"framework {name}: {' '.join(str(error).split())}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
