"""Files that cannot be read: the libraries' errors as one line for the user."""

import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager

from quantshift.base.storage.arrow import with_arrow_errors
from quantshift.errors import DataError

LONGEST_ROW = 1 << 22
"""The most bytes of a row of a CSV file, which is also the size of the blocks that are parsed."""

TOO_LONG = f"a row is longer than {LONGEST_ROW >> 20} MB; is every row on its own line?"


@contextmanager
def explained(name: str) -> Iterator[None]:
    """Turn the libraries' errors for a broken file into an error of one line for the user."""
    try:
        yield
    except FileNotFoundError as error:
        raise DataError(f"{name}: no such file") from error
    except IsADirectoryError as error:
        raise DataError(f"{name}: a folder, not a file; give its files") from error
    except PermissionError as error:
        raise DataError(f"{name}: not readable (permission denied)") from error
    except zipfile.BadZipFile as error:
        raise DataError(f"{name}: not a readable zip archive ({error})") from error
    except (EOFError, zlib.error) as error:
        raise DataError(f"{name}: truncated or damaged archive; download it again") from error
    except (RuntimeError, NotImplementedError) as error:
        # zipfile raises these for a password and for an unknown compression method.
        raise DataError(f"{name}: cannot unpack ({error})") from error
    except with_arrow_errors(UnicodeDecodeError) as error:
        raise DataError(f"{name}: {_reason(error)}") from error
    except OSError as error:
        reason = str(error)
        if "ompressed stream" in reason or "zlib" in reason:
            raise DataError(
                f"{name}: truncated or damaged gzip file ({reason}); download it again"
            ) from error
        raise DataError(f"{name}: cannot be read ({reason})") from error


def _reason(error: BaseException) -> str:
    reason = str(error).splitlines()[0]
    if "Empty CSV" in reason:
        return "the file is empty"
    if "straddling" in reason:
        return TOO_LONG
    if "Parquet" in reason or "parquet" in reason:
        return f"not a readable Parquet file ({reason})"
    return f"its content does not match its file name ({reason})"
