"""Download files into Keras's cache folder and check their hashes."""

import hashlib
import os
import shutil
import tempfile
import urllib.error
import urllib.parse
import urllib.request
import warnings
from pathlib import Path
from typing import Any

from framework.core.archive_extraction import extract as extract_archive
from framework.core.errors import DamagedFileError, DownloadError, InvalidArgumentError

_SCHEMES = ("http", "https", "file")
_TIMEOUT = 60  # A download fails after this many seconds without an answer.
_BLOCK = 2**20


def keras_home() -> str:
    """Return Keras's folder: $KERAS_HOME, by default ~/.keras."""
    named = os.environ.get("KERAS_HOME")
    return named or str(Path.home() / ".keras")


def get_file(
    fname: Any = None, origin: Any = None, untar: bool = False, md5_hash: Any = None,
    file_hash: Any = None, cache_subdir: Any = "datasets", hash_algorithm: Any = "auto",
    extract: bool = False, archive_format: Any = "auto", cache_dir: Any = None,
    force_download: bool = False,
) -> str:  # fmt: skip
    """Return the path of a file in the cache, downloaded if it is not there.

    A file appears under its name only when it is complete and its hash matches. An archive is
    extracted only if all its members stay in the folder, see `core/archive_extraction.py`.

    Args:
        fname: the name of the file; by default the last part of `origin`. With `extract`, a name
            without an extension is the name of the folder.
        origin: the address: http, https or file.
        untar: extract a tar file.
        md5_hash: the file's hash by MD5; use `file_hash`.
        file_hash: the file's hash, in hexadecimal digits.
        cache_subdir: the folder in the cache, or an absolute path.
        hash_algorithm: "md5", "sha256", or "auto", which tells them apart by the hash's length.
        extract: extract a tar or zip file, and return the folder.
        archive_format: "tar", "zip", a list of them, "auto" for both, or None.
        cache_dir: the cache; by default $KERAS_HOME or ~/.keras.
        force_download: download the file even if it is in the cache.

    Raises:
        DownloadError: the file cannot be downloaded; an OSError.
        ValueError: an argument is wrong, the hash is wrong, or a member of the archive is not safe.

    Example:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     origin = Path(folder, "words.txt")
        ...     _ = origin.write_text("a b")
        ...     copy = get_file(origin=origin.as_uri(), cache_dir=folder)
        ...     Path(copy).read_text(), Path(copy).relative_to(folder).as_posix()
        Downloading data from file://...
        ('a b', 'datasets/words.txt')
    """
    _check_origin(origin)
    if md5_hash is not None and file_hash is None:
        file_hash, hash_algorithm = md5_hash, "md5"
    folder = _folder(cache_dir, cache_subdir)
    name = _name(fname, origin)
    target, extracted = folder / name, None
    if extract or untar:
        stem, dot, _ = name.partition(".")
        if dot and fname:
            extracted = folder / f"{stem}_extracted"
        else:
            extracted, target = folder / name, folder / f"{name}_archive"
    if force_download or not _is_whole(target, file_hash, hash_algorithm):
        _download(origin, target, file_hash, hash_algorithm)
    if extracted is None:
        return str(target)
    is_current = extracted.is_dir() and extracted.stat().st_mtime >= target.stat().st_mtime
    if not is_current and not extract_archive(
        target, extracted, _formats("tar" if untar else archive_format)
    ):
        warnings.warn(f"Could not extract archive {target}.", stacklevel=2)
    return str(extracted)


# ---- checks of arguments -------------------------------------------------------------------------


def _check_origin(origin):
    if origin is None:
        raise InvalidArgumentError(
            'Please specify the "origin" argument (URL of the file to download).'
        )
    scheme = urllib.parse.urlsplit(str(origin)).scheme
    if scheme not in _SCHEMES:
        raise InvalidArgumentError(
            f"get_file: expected an `origin` that begins with http://, https:// or file://, got "
            f"{origin!r}."
        )


def _name(fname, origin):
    if fname:
        name = os.fspath(fname)
        if os.sep in name or "/" in name or name in (".", ".."):
            raise InvalidArgumentError(
                "Paths are no longer accepted as the `fname` argument. To specify the file's "
                f"parent directory, use the `cache_dir` argument. Received: fname={fname}"
            )
        return name
    name = urllib.parse.urlsplit(str(origin)).path.rpartition("/")[2]
    if not name or name in (".", ".."):
        raise InvalidArgumentError(
            f"Can't parse the file name from the origin provided: '{origin}'. Please specify the "
            "`fname` argument."
        )
    return name


def _folder(cache_dir, cache_subdir):
    """Create and return the folder for downloads; if it is not writable, one in the system's
    temporary folder."""
    base = Path(cache_dir or keras_home()).expanduser()
    try:
        folder = base / cache_subdir
        folder.mkdir(parents=True, exist_ok=True)
        if os.access(folder, os.W_OK):
            return folder
    except OSError:
        pass
    base = Path(tempfile.gettempdir(), ".keras")
    base.mkdir(exist_ok=True)
    if hasattr(os, "getuid") and base.stat().st_uid != os.getuid():
        raise DownloadError(
            f"get_file: {cache_dir or keras_home()} cannot be written, and {base} belongs to "
            "another user. Pass cache_dir=..."
        )
    folder = base / cache_subdir
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _formats(given):
    if given is None:
        return ()
    formats = ("tar", "zip") if given == "auto" else given
    formats = (formats,) if isinstance(formats, str) else tuple(formats)
    if not set(formats) <= {"tar", "zip"}:
        raise InvalidArgumentError(
            f"get_file: `archive_format` must be 'auto', 'tar', 'zip', a list of them or None, got "
            f"{given!r}."
        )
    return formats


# ---- download of a file --------------------------------------------------------------------------


def _is_whole(path, file_hash, algorithm):
    if not path.is_file():
        return False
    if file_hash is None or hash_of(path, file_hash, algorithm) == str(file_hash).lower():
        return True
    print(
        f"A local file was found, but it seems to be incomplete or outdated because its hash is "
        f"not {file_hash}, so we will re-download the data."
    )
    return False


def hash_of(path, file_hash, algorithm="auto"):
    """Return a file's MD5 or SHA-256 in hexadecimal; "auto" goes by the length of `file_hash`."""
    if algorithm not in ("auto", "md5", "sha256"):
        raise InvalidArgumentError(
            f"get_file: `hash_algorithm` must be 'auto', 'md5' or 'sha256', got {algorithm!r}."
        )
    is_long = algorithm == "sha256" or (algorithm == "auto" and len(str(file_hash)) == 64)
    made = hashlib.sha256() if is_long else hashlib.md5(usedforsecurity=False)
    with path.open("rb") as file:
        while block := file.read(_BLOCK):
            made.update(block)
    return made.hexdigest()


def _download(origin, target, file_hash, algorithm):
    """Download a file under a temporary name, check its hash, and rename it."""
    print(f"Downloading data from {origin}")
    with tempfile.TemporaryDirectory(prefix=f".{target.name}.", dir=target.parent) as scratch:
        new = Path(scratch, "new")
        _fetch(origin, new)
        found = None if file_hash is None else hash_of(new, file_hash, algorithm)
        if found is not None and found != str(file_hash).lower():
            raise DamagedFileError(
                f"Incomplete or corrupted file detected: {origin} has the hash {found}, expected "
                f"{file_hash}."
            )
        new.replace(target)


def _fetch(origin, path):
    try:
        with urllib.request.urlopen(str(origin), timeout=_TIMEOUT) as source:  # noqa: S310 (checked)
            length = source.headers.get("Content-Length")
            with path.open("wb") as file:
                shutil.copyfileobj(source, file, _BLOCK)
                file.flush()
                os.fsync(file.fileno())
    except urllib.error.HTTPError as error:
        raise DownloadError(f"URL fetch failure on {origin}: {error.code} -- {error.msg}") from None
    except (urllib.error.URLError, OSError) as error:
        reason = getattr(error, "reason", error)
        raise DownloadError(f"URL fetch failure on {origin}: {reason}") from None
    received = path.stat().st_size
    if length is not None and length.isdigit() and int(length) != received:
        raise DownloadError(
            f"URL fetch failure on {origin}: expected {length} bytes, got {received}."
        )
