"""The samples of every layer, gathered from the files of this folder.

`SAMPLES` has for each layer some (constructor arguments, inputs), away from kinks and ties; a tuple
of inputs is several arguments, a list one. `BUILT_BY_CALL` names the layers that are built by
their first call, as those with weights are; `STOPS_MASKS` those that do not support masks.
"""

import importlib
import pkgutil

_FILES = [importlib.import_module(f"{__name__}.{m.name}") for m in pkgutil.iter_modules(__path__)]
SAMPLES = {name: rows for file in _FILES for name, rows in getattr(file, "SAMPLES", {}).items()}
BUILT_BY_CALL = {name for file in _FILES for name in getattr(file, "BUILT_BY_CALL", ())}
STOPS_MASKS = {name for file in _FILES for name in getattr(file, "STOPS_MASKS", ())}
