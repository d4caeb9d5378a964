"""The programs talk to the person at the terminal by messages, lines and a bar."""

import contextlib
import errno
import os
import sys

import psutil
from tqdm import tqdm

FULL = "The disk is full or a quota is reached: free some space and start again; nothing is lost."
SHUT = "Nothing may be written there: change its permissions, or work in a copy of this checkout."
REMEDIES = {
    errno.ENOSPC: FULL,
    errno.EDQUOT: FULL,
    errno.EFBIG: FULL,
    errno.EACCES: SHUT,
    errno.EPERM: SHUT,
    errno.EROFS: SHUT,
}


class Stop(Exception):
    """This message ends the program; it is at most one screen long."""


def say(text):
    """Print a line, above the bar if there is one."""
    tqdm.write(text)
    sys.stdout.flush()


def remedy(error):
    """Say of an OSError which file it is about, what the system says, and what to do."""
    text = f"{error.filename or 'A file'}: {error.strerror or error}."
    return f"{text} {REMEDIES.get(error.errno, '')}".strip()


def progress(total, form):
    """Make a bar of tqdm; it shows nothing without a terminal, or on one without a cursor."""
    quiet = not sys.stdout.isatty() or os.environ.get("TERM", "dumb") == "dumb"
    return tqdm(
        total=total,
        bar_format=form,
        file=sys.stdout,
        disable=quiet,
        leave=False,
        dynamic_ncols=True,
    )


def leave(main):
    """Run `main`, say what failed, and end at once with all threads and processes it started."""
    try:
        status, text = main() or 0, ""
    except Stop as stop:
        status, text = 1, f"\nStopped. {stop}"
    except OSError as error:
        status, text = 1, f"\nStopped. {remedy(error)}"
    except KeyboardInterrupt:
        status, text = 130, "\nInterrupted; the next run goes on from here."
    for child in psutil.Process().children(recursive=True):
        with contextlib.suppress(psutil.NoSuchProcess):
            child.kill()
    sys.stdout.flush()
    print(text, file=sys.stderr, end="\n" if text else "", flush=True)
    os._exit(status)
