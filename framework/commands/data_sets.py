"""The command `datasets`: list the data sets stored on this machine, and their files."""

from framework.datasets import archive, catalogue


def listed():
    """Print each data set and the path of its file."""
    for name, entry in catalogue.ENTRIES.items():
        print(f"{name:20} {entry.about:55} {catalogue.state(entry)}")
    folders = ", ".join(map(str, archive.folders()))
    print(f"Files are looked for in {folders}.")
