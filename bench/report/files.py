"""Files, read as they are and written whole or not at all."""

import os
import stat
import tempfile

from results import refuse


def read_file(path):
    with open(path, encoding="utf-8", errors="surrogateescape", newline="") as file:
        return file.read()


def write_file(path, content):
    """A file appears under its name when it is complete, with the permissions of one that was there. A link stays one;
    a FIFO or a terminal is written to at once."""
    where = f"write {path}"
    data = content.encode("utf-8", "surrogateescape")
    temporary = None
    try:
        mode = os.stat(path).st_mode if os.path.exists(path) else None
        if mode is not None and stat.S_ISDIR(mode):
            refuse("is a folder, not a file", where)
        if mode is not None and not stat.S_ISREG(mode):
            with open(path, "wb") as file:
                file.write(data)
            return
        target = os.path.realpath(path)
        folder = os.path.dirname(target)
        if not os.path.isdir(folder):
            refuse(f"there is no folder {folder}", where)
        descriptor, temporary = tempfile.mkstemp(prefix=os.path.basename(target) + ".tmp-", dir=folder)
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
        umask = os.umask(0)
        os.umask(umask)
        os.chmod(temporary, stat.S_IMODE(mode) if mode is not None else 0o666 & ~umask)
        os.replace(temporary, target)
        temporary = None
    except OSError as error:
        refuse(error.strerror or str(error), where)
    finally:
        if temporary:
            os.unlink(temporary)
