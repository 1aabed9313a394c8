"""The guards of the loaders: the source text that removes each, and a file that it refuses.

`GUARDS` has the removals by name: the owner of a function, the function, its text, a replacement.
`ROWS` says which hostile file shows that a guard works. It loads without the guard (`LOADS`), or
another guard behind it refuses the file for another reason (`ANOTHER`).
"""

import inspect
import textwrap

from framework.core import configs, stored
from framework.saving import archive, hdf5, texts
from tests.changed import changed

LOADS, ANOTHER = "loads", "another error"

_ZIP, _H5 = archive.Archive, hdf5.Reader

GUARDS = {
    "members named twice": (_ZIP, "_check", "if info.filename in self._infos:", "if False:"),
    "paths of members": (
        _ZIP, "_check", '".." in parts or info.filename[:1] in ("/", "\\\\") or ":" in parts[0]',
        "False",
    ),
    "links as members": (_ZIP, "_check", "elif stat.S_IFMT(", "elif 0 and stat.S_IFMT("),
    "expansion of members": (_ZIP, "_check", "elif info.file_size > max(", "elif 0 > max("),
    "number of members": (_ZIP, "__init__", "if len(infos) >", "if 0 >"),
    "checksums": (_ZIP, "verifying", "if section.checksum() != info.CRC:", "if False:"),
    "links in HDF5": (hdf5, "_walk", "if group.links.get_info(raw).type !=", "if None and 0 !="),
    "depth of groups": (hdf5, "_walk", "if depth > limits.h5_depth:", "if False:"),
    "objects under two names": (hdf5, "_walk", "in seen:", "in ():"),
    "data in other files": (
        _H5, "_check", "if dataset.is_virtual or dataset.external or plist.get_external_count():",
        "if False:",
    ),
    "types of elements": (_H5, "_check", "if not (dtype.kind in", "if 0 and not (dtype.kind in"),
    "datasets without a shape": (_H5, "_check", "if dataset.shape is None:", "if False:"),
    "declared sizes": (_H5, "_check", "if declared >", "if 0 >"),
    "depth of JSON": (texts, "parse", "if depth(data) > limits.json_depth:", "if False:"),
    "size of the model": (stored.budget, "take", "if self._left < 0:", "if False:"),
    "shapes of variables": (stored, "check_variables", "if shape != tuple(", "if 0 and tuple("),
    "number of variables": (
        stored, "check_variables", "if len(keys) != len(variables):", "if False:"
    ),
    "modules of classes": (configs, "_public_class", "if module not in _PACKAGES or", "if"),
    "classes only": (configs, "class_of", "if inspect.isclass(found) and", "if 1 or"),
    "known functions": (configs, "_function", "if found is None:", "if False:"),
    "configs that are dicts": (configs, "object_of", "if not isinstance(", "if (lambda *_: 0)("),
}  # fmt: skip

ROWS = [
    ("duplicate_members", ANOTHER, ["members named twice"]),
    ("CVE-2025-12060 member above", LOADS, ["paths of members"]),
    ("GHSA-hqp4 absolute member", LOADS, ["paths of members"]),
    ("backslash member", LOADS, ["paths of members"]),
    ("link member", LOADS, ["links as members"]),
    ("device member", LOADS, ["links as members"]),
    ("zip_bomb_in_the_config", ANOTHER, ["expansion of members"]),
    ("many_members", LOADS, ["number of members"]),
    ("changed byte in the weights", LOADS, ["checksums"]),
    ("soft_link", ANOTHER, ["links in HDF5"]),
    ("group_is_a_soft_link", ANOTHER, ["links in HDF5"]),
    ("deep_groups", LOADS, ["depth of groups"]),
    ("two_names", ANOTHER, ["objects under two names"]),
    ("cycle", ANOTHER, ["objects under two names"]),
    ("virtual_dataset", ANOTHER, ["data in other files"]),
    ("cve_2026_1669_external_storage", LOADS, ["data in other files"]),
    ("virtual_dataset", LOADS, ["data in other files", "declared sizes"]),
    ("compound_type", ANOTHER, ["types of elements"]),
    ("texts_instead_of_numbers", ANOTHER, ["types of elements"]),
    ("no_shape", ANOTHER, ["datasets without a shape"]),
    ("shape_without_data", LOADS, ["declared sizes"]),
    ("extra_bomb", LOADS, ["declared sizes"]),
    ("config deep lists", ANOTHER, ["depth of JSON"]),
    ("units huge", ANOTHER, ["size of the model"]),
    ("another_shape", ANOTHER, ["shapes of variables"]),
    ("an_array_too_many", LOADS, ["number of variables"]),
    ("CVE-2025-1550 os.system as_layer", ANOTHER, ["modules of classes"]),
    ("CVE-2025-1550 subprocess as_model", ANOTHER, ["modules of classes"]),
    ("CVE-2025-8747 get_file as_layer", ANOTHER, ["classes only"]),
    ("CVE-2025-9906 unsafe switch function as_layer", ANOTHER, ["known functions"]),
    ("layer config a list", ANOTHER, ["configs that are dicts"]),
]


def without(stack, names):
    """Replace functions by ones without some guards, until the ExitStack ends."""
    changes = {}
    for owner, name, text, replacement in map(GUARDS.get, names):
        changes.setdefault((owner, name), []).append((text, replacement))
    for (owner, name), texts_of in changes.items():
        function = inspect.getattr_static(owner, name)
        source = textwrap.dedent(inspect.getsource(function))
        for text, replacement in texts_of:
            if source.count(text) != 1:
                raise AssertionError(f"{name} does not have {text!r}: change this guard's row")
            source = source.replace(text, replacement)
        found = {}
        exec(source, inspect.unwrap(function).__globals__, found)
        stack.enter_context(changed(owner, **{name: found[name]}))
