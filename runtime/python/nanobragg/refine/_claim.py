"""The lock of a folder of results, so that two runs do not mix theirs."""

import fcntl
import os

from .._errors import FileError


class Claim:
    """Locks a folder, which is made where it is not there, until release() or the end of this
    process. together: several such claims may hold it. FileError where another run has it. A file
    system without locks does not keep runs apart."""

    def __init__(self, folder, together=False):
        self._file = None
        os.makedirs(folder, exist_ok=True)
        self._file = os.open(os.path.join(folder, ".lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o666)
        try:
            fcntl.flock(self._file, (fcntl.LOCK_SH if together else fcntl.LOCK_EX) | fcntl.LOCK_NB)
        except BlockingIOError:
            self.release()
            raise FileError(f"{folder}: another nb-refine is writing its results there; give another --out, or wait until it ends") from None
        except OSError:
            pass

    def share(self):
        """From now on, claims that are made together may hold the folder, too."""
        try:
            fcntl.flock(self._file, fcntl.LOCK_SH)
        except OSError:
            pass

    def release(self):
        if self._file is not None:
            os.close(self._file)
            self._file = None

    def __del__(self):
        self.release()
