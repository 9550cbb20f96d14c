"""Every error that nudge raises on purpose.

NudgeError                      exit 1   something failed; the message says what, why and the next step
├── UsageError                  exit 2   what was asked cannot be understood
│   ├── NaiveDatetimeError               a datetime without a time zone
│   ├── InvalidScheduleError             a schedule that is malformed or can never fire
│   ├── InvalidPhraseError               words for a time that are not understood
│   │   └── UnclearPhraseError           … but would be with one more word; `question` asks for it
│   └── FieldError                       a reminder field is missing or wrong (in `reminders.fields`)
├── NotFoundError               exit 3   no such agent, reminder, role, …
├── NotConfiguredError          exit 4   a home, key or file is missing or broken
│   └── ConfigError                      a file of the person's has an error at a known place
├── DaemonUnreachableError      exit 5   the command needs a running daemon
├── BudgetExhaustedError        exit 6   the call does not fit the budget
│   └── AsleepError                      the agent sleeps on its budget (in `spending.lifecycle`, with its times)
├── AnotherPollerError          exit 7   another process polls this bot
├── StoreError                           the database refused
│   ├── StoreNewerError                  written by a newer nudge
│   ├── StoreCorruptError                what is stored cannot be read
│   │   └── StoreDamagedError            the file is not a sound database any more
│   ├── StoreGoneError                   the file was removed or replaced while it was in use
│   └── StoreFullError                   no room left on the disk
├── LostLeaseError                       another daemon took this agent over; nothing was written
├── QuestionRefusedError                 the model's service does not take this question; it costs nothing
└── RetryableError                       may work later; `retry_after` says when, if known
    ├── ModelUnavailableError            the model's service did not answer
    └── ChannelUnavailableError          the person's channel did not answer

The docstring of a class is its default message.
"""

from __future__ import annotations

import sys
from datetime import datetime
from typing import ClassVar


class NudgeError(Exception):
    """Something failed."""

    exit_code: ClassVar[int] = 1

    def __init__(self, message: str | None = None, *, next_step: str | None = None) -> None:
        self.message = message or (type(self).__doc__ or "").strip()
        self.next_step = next_step
        super().__init__(self.message)

    def __str__(self) -> str:
        return f"{self.message} {self.next_step}" if self.next_step else self.message


class UsageError(NudgeError):
    """What was asked cannot be understood."""

    exit_code = 2


class NaiveDatetimeError(UsageError):
    """A datetime without a time zone is ambiguous: pass one with tzinfo set."""


class InvalidScheduleError(UsageError):
    """This schedule is malformed or can never fire."""


class InvalidPhraseError(UsageError):
    """These words for a time are not understood."""


class UnclearPhraseError(InvalidPhraseError):
    """One word is missing in these words for a time.

    `question` asks for it ("5 am or 5 pm?"), and `options` are the answers where there are only these.
    """

    def __init__(
        self,
        message: str | None = None,
        *,
        next_step: str | None = None,
        question: str = "",
        options: tuple[str, ...] = (),
    ) -> None:
        super().__init__(message, next_step=next_step)
        self.question = question
        self.options = options


class NotFoundError(NudgeError):
    """There is nothing of that name."""

    exit_code = 3


class NotConfiguredError(NudgeError):
    """nudge is not set up here."""

    exit_code = 4


def needs_extra(what: str, extra: str) -> NotConfiguredError:
    """Something that comes with `nudge[extra]` is not installed. The step names the Python that nudge runs on: a plain
    `pip` may belong to another."""
    return NotConfiguredError(what, next_step=f"Run {sys.executable} -m pip install 'nudge[{extra}]'")


class ConfigError(NotConfiguredError):
    """A configuration file has an error."""


class DaemonUnreachableError(NudgeError):
    """No daemon answers."""

    exit_code = 5


class BudgetExhaustedError(NudgeError):
    """The budget does not cover this call."""

    exit_code = 6

    def __init__(
        self,
        message: str | None = None,
        *,
        next_step: str | None = None,
        retry_at: datetime | None = None,
        permanent: bool = False,
    ) -> None:
        super().__init__(message, next_step=next_step)
        self.retry_at = retry_at  # when the budget is refreshed, where that is known
        self.permanent = permanent  # the budget of a run is not refreshed


class AnotherPollerError(NudgeError):
    """Another process polls this bot."""

    exit_code = 7


class StoreError(NudgeError):
    """The database refused."""


class StoreNewerError(StoreError):
    """The database was written by a newer nudge."""


class StoreCorruptError(StoreError):
    """What is stored cannot be read."""


class StoreDamagedError(StoreCorruptError):
    """The database file is damaged."""


class StoreGoneError(StoreError):
    """The database file was removed or replaced while it was in use."""


class StoreFullError(StoreError):
    """There is no room left for the database."""


class LostLeaseError(NudgeError):
    """Another daemon took this agent over."""


class QuestionRefusedError(NudgeError):
    """The model's service does not accept this question."""


class RetryableError(NudgeError):
    """This may work later."""

    def __init__(
        self, message: str | None = None, *, retry_after: float | None = None, next_step: str | None = None
    ) -> None:
        super().__init__(message, next_step=next_step)
        self.retry_after = retry_after  # seconds, as the other side said


class ModelUnavailableError(RetryableError):
    """The model's service did not answer."""

    def __init__(
        self,
        message: str | None = None,
        *,
        retry_after: float | None = None,
        next_step: str | None = None,
        unbilled: bool = False,
    ) -> None:
        super().__init__(message, retry_after=retry_after, next_step=next_step)
        self.unbilled = unbilled  # the service certainly did not do it; otherwise it may have, and charge for it


class ChannelUnavailableError(RetryableError):
    """The person's channel did not answer."""

    def __init__(
        self,
        message: str | None = None,
        *,
        retry_after: float | None = None,
        next_step: str | None = None,
        maybe_sent: bool = False,
    ) -> None:
        super().__init__(message, retry_after=retry_after, next_step=next_step)
        self.maybe_sent = maybe_sent  # the request went out and no answer came back: it may have arrived
