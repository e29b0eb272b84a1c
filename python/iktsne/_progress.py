"""What is shown while the library works: lines of the log, or a bar of tqdm."""

import sys
import warnings


class Bar:
    """A bar of tqdm for one stage after another; where tqdm is missing nothing is drawn."""

    def __init__(self, wanted):
        self.bar, self.unit, self.kind = None, None, None
        if wanted:
            try:
                from tqdm.auto import tqdm

                self.kind = tqdm
            except ImportError:
                sys.stderr.write("iktsne: progress=True draws its bar by tqdm, which is not installed\n")

    def __call__(self, unit, done, total):
        if unit != self.unit:
            self.close()
            self.unit = unit
            self.bar = self.kind(total=total, desc=unit, leave=False)
        self.bar.total = total
        self.bar.update(done - self.bar.n)

    def function(self):
        return self if self.kind else None

    def close(self):
        if self.bar is not None:
            self.bar.close()
        self.bar, self.unit = None, None


def raise_kept(error):
    """Raises the exception that has stopped the library; None: there was none. Nothing that the
    exception refers to refers to it: what the caller holds is freed with the exception."""
    try:
        if error is not None:
            raise error
    finally:
        del error


def log(level, line):
    """Warnings are Python's; other lines of the log go to sys.stderr, which a notebook shows."""
    if level == 1:
        warnings.warn(line, UserWarning, stacklevel=3)
    else:
        sys.stderr.write(f"iktsne: {line}\n")
        sys.stderr.flush()
