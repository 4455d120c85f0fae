"""The errors a user can cause, each saying where, what came, what was expected and what to do."""

from __future__ import annotations


class ErniePPError(Exception):
    """A problem the user can mend; the command line prints it without a traceback and exits with `exit_code`."""

    exit_code = 1

    def __init__(self, where: str, what: str, do: str = "") -> None:
        """`where` is a file with its line, or a config key; `what` says what came and what was expected."""
        super().__init__("\n  ".join(part for part in (where, *what.split("\n"), *do.split("\n")) if part))
        self.where, self.what, self.do = where, what, do


class ConfigError(ErniePPError):
    """The settings are wrong: an unknown key, a value of another type, two that contradict each other."""

    exit_code = 2


class DataError(ErniePPError):
    """A row of the user's data cannot be used as it is."""

    exit_code = 3


class ModelError(ErniePPError):
    """A model folder, vocabulary or bundle is missing, damaged or of another shape than its config says."""

    exit_code = 1


class NumericError(ErniePPError):
    """Training left the finite numbers."""

    exit_code = 4


class RunError(ErniePPError):
    """A run could not go on for a reason outside its settings and data (disk, another process, an export check)."""

    exit_code = 1


class PeerLost(RunError):
    """Another process of the run is gone, and this one cannot go on without it; the other's own message says why."""

    exit_code = 75

    def __init__(self, rank: int, what: str = "is gone") -> None:
        super().__init__(f"rank {rank}", what, "Its own message says why.")
        self.rank = rank


class RanksFailed(ErniePPError):
    """A run of many processes has ended badly: the failed ranks' own messages, the first failure first, and its code.

    The text is one line that names the rank.
    """

    def __init__(self, line: str, *, messages: tuple[str, ...], exit_code: int) -> None:
        super().__init__(line, "")
        self.messages, self.exit_code = messages, exit_code
