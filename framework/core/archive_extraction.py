"""Extraction of tar and zip files. All members are checked first, and the folder appears only when
it is complete.

A member must not be a device, lie outside the folder, or have a link in its path; a link must not
point outside the folder. The size limit counts the bytes written, not the sizes that the archive
declares.
"""

import os
import shutil
import stat
import tarfile
import tempfile
import zipfile
import zlib
from pathlib import Path
from typing import Any, NamedTuple

from framework.core.errors import DamagedFileError, UnsafeFileError

MEMBERS = 5_000_000
# Limit against archive bombs: the extracted members may be this many times larger than the archive,
# and up to `FLOOR` bytes in any case.
RATIO = 200
FLOOR = 256 * 2**20
_BLOCK = 2**20


class _Member(NamedTuple):
    """A member of an archive; its kind is "file", "folder", "link" or "copy" (a hard link)."""

    parts: tuple
    kind: str
    target: str
    open: Any


def extract(file, folder, formats=("tar", "zip")):
    """Extract an archive into a folder, which replaces an existing folder of this name.

    Args:
        file: the path of the archive.
        folder: the folder.
        formats: the formats to try, in order: "tar" (also compressed) and "zip".

    Returns:
        Whether the file is an archive in one of the formats.

    Raises:
        UnsafeFileError: a member is not allowed, or the members are too large. Nothing is written.
        DamagedFileError: the archive is truncated or damaged.
    """
    known = {"tar": (tarfile.is_tarfile, tarfile.open, _of_tar),
             "zip": (zipfile.is_zipfile, zipfile.ZipFile, _of_zip)}  # fmt: skip
    for name in formats:
        is_archive, opened, listed = known[name]
        if is_archive(file):
            break
    else:
        return False
    try:
        with opened(file) as archive:
            most = max(FLOOR, RATIO * Path(file).stat().st_size)
            members = _checked(listed(archive), most, file)
            _write_beside(members, Path(folder), most, file)
    except (tarfile.TarError, zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError,
            RuntimeError) as error:  # fmt: skip
        raise DamagedFileError(f"{file}: the archive cannot be extracted: {error}.") from None
    return True


# ---- reading the members -------------------------------------------------------------------------


def _of_tar(archive):
    for info in archive:
        kind = "other"
        for test, name in ((info.isreg, "file"), (info.isdir, "folder"), (info.issym, "link"),
                           (info.islnk, "copy")):  # fmt: skip
            kind = name if test() else kind
        yield info.name, kind, info.linkname, info.size, lambda info=info: archive.extractfile(info)


def _of_zip(archive):
    for info in archive.infolist():
        mode = stat.S_IFMT(info.external_attr >> 16)
        kind = "folder" if info.is_dir() else "file"
        if mode not in (0, stat.S_IFREG, stat.S_IFDIR) or info.flag_bits & 1:
            kind = "other"
        yield info.filename, kind, "", info.file_size, lambda info=info: archive.open(info)


def _checked(entries, most, file):
    """Return the archive's members as a list, or raise UnsafeFileError if one is not allowed."""
    members, kinds = [], {}
    for name, kind, target, size, reader in entries:
        parts = _inside(name, file)
        most -= size
        if most < 0:
            raise _too_large(file)
        if kind == "other":
            raise _unsafe(
                file,
                name,
                "is a device, a link inside a zip file, or encrypted, none "
                "of which can be extracted",
            )
        if kinds.get(parts, "folder") != "folder":
            raise _unsafe(file, name, "is named twice")
        kinds[parts] = kind
        members.append(_Member(parts, kind, target, reader))
        if len(members) > MEMBERS:
            raise UnsafeFileError(f"{file}: the archive has more than {MEMBERS:,} members.")
    for member in members:
        above = [member.parts[:n] for n in range(1, len(member.parts))]
        if any(kinds.get(parts, "folder") != "folder" for parts in above):
            raise _unsafe(
                file, "/".join(member.parts), "has a path that leads through a link or another file"
            )
        if member.kind == "copy" and kinds.get(_inside(member.target, file)) != "file":
            raise _unsafe(
                file,
                "/".join(member.parts),
                "is a link to a path that is not a file of the archive",
            )
        if member.kind == "link":
            _check_link(member, file)
    return members


def _unsafe(file, name, reason):
    return UnsafeFileError(f"{file}: the member {name!r} {reason}; nothing was extracted.")


def _too_large(file):
    return UnsafeFileError(
        f"{file}: the members are more than {RATIO} times larger than the archive, which is not "
        "allowed; if you trust the archive, extract it with another tool."
    )


def _inside(name, file):
    """Return the parts of a member's path; raise UnsafeFileError if the path leaves the folder."""
    plain = name.replace("\\", "/") if os.name == "nt" else name
    parts = tuple(part for part in plain.split("/") if part not in ("", "."))
    strange = any(
        part == ".." or "\0" in part or (os.name == "nt" and ":" in part) for part in parts
    )
    if plain.startswith("/") or strange:
        raise _unsafe(file, name, "has a path that leads out of the target folder")
    return parts


def _check_link(member, file):
    """Raise UnsafeFileError if a link points outside the folder.

    ".." is allowed only at the start of the target: after the name of another link, it would mean
    the parent of that link's target.
    """
    parts = [part for part in member.target.split("/") if part not in ("", ".")]
    up = next((n for n, part in enumerate(parts) if part != ".."), len(parts))
    if member.target.startswith("/") or "\\" in member.target or ".." in parts[up:] or (
        up > len(member.parts) - 1
    ):  # fmt: skip
        raise _unsafe(
            file,
            "/".join(member.parts),
            f"links to {member.target!r}, which lies outside the target folder",
        )


# ---- writing the members -------------------------------------------------------------------------


def _write_beside(members, folder, most, file):
    """Write the members into a temporary folder beside `folder`, then rename it to `folder`."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f".{folder.name}.", dir=folder.parent) as scratch:
        new, old = Path(scratch, "new"), Path(scratch, "old")
        new.mkdir()
        for member in members:
            most -= _write(member, new, most, file)
        # Links are created last, so that no member is written through a link.
        for member in members:
            if member.kind == "link":
                new.joinpath(*member.parts).symlink_to(member.target)
        if folder.exists():
            folder.rename(old)
        new.rename(folder)


def _write(member, folder, most, file):
    """Write one member that is not a link into the folder; return the member's size."""
    path = folder.joinpath(*member.parts)
    if member.kind == "folder":
        path.mkdir(parents=True, exist_ok=True)
        return 0
    path.parent.mkdir(parents=True, exist_ok=True)
    if member.kind == "link":
        return 0
    if member.kind == "copy":
        shutil.copyfile(folder.joinpath(*_inside(member.target, file)), path)
        return path.stat().st_size
    size = 0
    with member.open() as source, path.open("xb") as target:
        while block := source.read(_BLOCK):
            size += len(block)
            if size > most:
                raise _too_large(file)
            target.write(block)
    return size
