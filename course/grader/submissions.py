"""Submissions on disk: folders and zips, read as bytes and never unpacked."""

from __future__ import annotations

import hashlib
import os
import stat
import zipfile
import zlib
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

MAX_FILE = 512 * 1024  # bytes of one chapter; a long one has some 20,000
MAX_ENTRIES = 5_000  # files of a zip, or of a folder and the folders in it
_LAYOUTS = ("chapters", "*/chapters", ".", "*")  # where the chapters may stand; the first that holds one counts


class SubmissionError(ValueError):
    """A folder that cannot be graded; the text says what was found and what was expected."""


class RefusedFileError(ValueError):
    """A file that is not read; the text is the sentence for the learner."""


@dataclass(frozen=True)
class Submission:
    """One learner's chapters: `files` by stem, `refused` the sentence for each that was not read, by stem."""

    name: str
    files: dict[str, bytes] = field(default_factory=dict)
    refused: dict[str, str] = field(default_factory=dict)
    problem: str = ""  # why nothing of it can be read

    def digest(self, course: str) -> str:
        """A short name for what was handed in, and for the state of the course that judges it."""
        whole = hashlib.sha256(course.encode() + self.problem.encode())
        for stem in sorted({*self.files, *self.refused}):
            whole.update(hashlib.sha256(stem.encode() + b"\0" + self.files.get(stem, b"")).digest())
            whole.update(self.refused.get(stem, "").encode())
        return whole.hexdigest()[:32]


def find_submissions(folder: Path, stems: Collection[str]) -> list[Path]:
    """The folders and zips in `folder`, by name; SubmissionError when there are none."""
    if not folder.is_dir():
        raise SubmissionError(f"{folder} is not a folder. Name the folder that holds the submissions.")
    if (folder / "chapters").is_dir() or any((folder / f"{stem}.py").exists() for stem in stems):
        raise SubmissionError(
            f"{folder} is one submission. Name the folder around it: in it is a folder or zip for each learner."
        )
    paths = [path for path in sorted(folder.iterdir()) if not path.name.startswith((".", "__"))]
    found = [path for path in paths if path.suffix.lower() == ".zip" or (path.is_dir() and not path.is_symlink())]
    if not found:
        raise SubmissionError(f"{folder} holds no submission: neither a folder nor a .zip.")
    return found


def read_submission(path: Path, stems: Collection[str]) -> Submission:
    """What is handed in at `path`; whatever is wrong with it is a sentence in the result."""
    try:
        if path.is_dir():
            return _pick(path.name, _folder_names(path), stems, lambda name: read_file(path / name))
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()
            if len(names) > MAX_ENTRIES:
                raise RefusedFileError(f"The zip lists {len(names):,} files; at most {MAX_ENTRIES:,} are looked at.")
            return _pick(path.name, names, stems, lambda name: read_entry(archive, name))
    except RefusedFileError as error:
        return Submission(path.name, problem=str(error))
    except (OSError, zipfile.BadZipFile, ValueError, NotImplementedError) as error:
        return Submission(path.name, problem=f"It cannot be read: {type(error).__name__}: {_line(error)}")


def _pick(name: str, names: Iterable[str], stems: Collection[str], read: Callable[[str], bytes]) -> Submission:
    """The chapters among the names of a submission, from the first place that holds any."""
    submission = Submission(name)
    for stem, place in sorted(_chapters(list(names), stems).items()):
        try:
            submission.files[stem] = read(place)
        except RefusedFileError as error:
            submission.refused[stem] = str(error)
        except (OSError, zipfile.BadZipFile, zlib.error, RuntimeError, EOFError, ValueError) as error:
            submission.refused[stem] = f"The file cannot be read: {type(error).__name__}: {_line(error)}"
    return submission


def _chapters(names: list[str], stems: Collection[str]) -> dict[str, str]:
    """{stem: name} of the chapters in the first folder, by the order of the layouts, that holds one."""
    for layout in _LAYOUTS:
        folders: dict[str, dict[str, str]] = {}
        for name in names:
            path = PurePosixPath(name)
            if path.suffix == ".py" and path.stem in stems and _fits(path.parent, layout):
                folders.setdefault(path.parent.as_posix(), {})[path.stem] = name
        if folders:
            return folders[min(folders)]
    return {}


def _fits(folder: PurePosixPath, layout: str) -> bool:
    """Whether a folder inside a submission is one of a layout; one that leads out of it is none."""
    parts, wanted = folder.parts, PurePosixPath(layout).parts
    if folder.is_absolute() or ".." in parts or len(parts) != len(wanted):
        return False
    return all(want in ("*", part) for part, want in zip(parts, wanted, strict=True))


def _folder_names(folder: Path) -> Iterator[str]:
    """The names of the files of a folder, of the folders in it, and of `chapters` in those; no link is followed."""
    waiting, seen = [PurePosixPath(".")], 0
    while waiting:
        place = waiting.pop()
        with os.scandir(folder / place) as entries:
            for entry in entries:
                seen += 1
                if seen > MAX_ENTRIES:
                    raise RefusedFileError(f"The folder holds more than {MAX_ENTRIES:,} files.")
                if not entry.is_dir(follow_symlinks=False):
                    yield (place / entry.name).as_posix()
                elif not place.parts or (len(place.parts) == 1 and entry.name == "chapters"):
                    waiting.append(place / entry.name)


def read_file(path: Path) -> bytes:
    """The bytes of a regular file; RefusedFileError for a link, a pipe, a device, or one that is too big."""
    if path.is_symlink():
        raise RefusedFileError("It is a symbolic link: hand in the file itself.")
    # a file that becomes a link or a pipe behind that look is not followed, and not waited for
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
    with open(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise RefusedFileError("It is not a file: hand in a text file with your code.")
        return _limited(file.read(MAX_FILE + 1))


def read_entry(archive: zipfile.ZipFile, name: str) -> bytes:
    """The bytes of a zip's entry, of which no more is decompressed than a chapter may have."""
    info = archive.getinfo(name)
    if stat.S_ISLNK(info.external_attr >> 16):
        raise RefusedFileError("It is a symbolic link: hand in the file itself.")
    if info.flag_bits & 0x1:
        raise RefusedFileError("The zip is encrypted: hand it in without a password.")
    with archive.open(info) as file:
        return _limited(file.read(MAX_FILE + 1))


def _limited(data: bytes) -> bytes:
    """`data`; RefusedFileError when it is more than a chapter may have."""
    if len(data) > MAX_FILE:
        raise RefusedFileError(f"The file is larger than {MAX_FILE // 1024} KB; a chapter has some 10.")
    return data


def _line(error: BaseException) -> str:
    """An error's text on one short line."""
    return " ".join(str(getattr(error, "strerror", None) or error).split())[:120]
