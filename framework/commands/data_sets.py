"""The command `datasets`: which of Keras's data sets are on this machine, and where."""

from framework.datasets import archive, catalogue


def listed():
    """Print each data set, and where its file is."""
    for name, entry in catalogue.ENTRIES.items():
        print(f"{name:20} {entry.about:55} {catalogue.state(entry)}")
    folders = ", ".join(map(str, archive.folders()))
    print(f"Files are looked for in {folders}.")
