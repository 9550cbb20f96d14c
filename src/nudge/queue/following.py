"""Follow what is written: the feed, outcomes, messages and changes of everything else, each once, from any place.

A place is a short text, so whoever follows can leave, come back with it (also to a daemon that was started again), miss
nothing and see nothing twice. SQLite numbers rows in the order in which they are committed. A server numbers them when
they are written and shows them when they are committed: a number may turn up after higher ones. So a place names the
numbers below its highest one that have not been seen yet, as far back as a transaction can reasonably lag behind.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from nudge.errors import UsageError
from nudge.instants import Instant
from nudge.queue.outbox import Message
from nudge.queue.outcomes import FeedLine, Outcome, StateChange
from nudge.queue.store import QueueStore

FEED, OUTCOME, CHANGE, MESSAGE = "feed", "outcome", "change", "message"
_LOGS = (FEED, OUTCOME, CHANGE, MESSAGE)
_BEHIND = 200
"""A number that is missing this far behind the highest was taken back, or replaced by a later one."""
_MOST = 500
_NUMBER = r"\d{1,18}"
_MARK = re.compile(rf"({_NUMBER})((?:_{_NUMBER}(?:\+{_NUMBER})?)*)", re.ASCII)
_LONGEST = 4000


@dataclass(frozen=True, slots=True)
class Mark:
    """How far a log was seen: everything up to `high` but the numbers in `missing`."""

    high: int = 0
    missing: frozenset[int] = frozenset()

    @property
    def low(self) -> int:
        """Everything up to here was seen, or never comes."""
        return min(self.missing) - 1 if self.missing else self.high

    def is_new(self, number: int) -> bool:
        return number > self.high or number in self.missing

    def seen(self, number: int, *, gaps: bool) -> Mark:
        """
        >>> Mark(5).seen(8, gaps=True).seen(6, gaps=True)
        Mark(high=8, missing=frozenset({7}))
        """
        if number <= self.high:
            return replace(self, missing=self.missing - {number})
        if not gaps:
            return Mark(number)
        missing = self.missing | frozenset(range(max(self.high + 1, number - _BEHIND), number))
        return Mark(number, frozenset(one for one in missing if one >= number - _BEHIND))

    def __str__(self) -> str:
        """
        >>> str(Mark(20, frozenset({3, 4, 5, 9})))
        '20_3+2_9'
        """
        runs: list[tuple[int, int]] = []
        for one in sorted(self.missing):
            if runs and runs[-1][0] + runs[-1][1] + 1 == one:
                runs[-1] = (runs[-1][0], runs[-1][1] + 1)
            else:
                runs.append((one, 0))
        return str(self.high) + "".join(f"_{first}+{more}" if more else f"_{first}" for first, more in runs)

    @classmethod
    def parse(cls, text: str) -> Mark:
        match = _MARK.fullmatch(text)
        if not match:
            raise ValueError(text)
        high, missing = int(match[1]), set[int]()
        for run in match[2].split("_")[1:]:
            first, _, more = run.partition("+")
            missing.update(range(int(first), int(first) + min(int(more or 0), _BEHIND) + 1))
        return cls(high, frozenset(one for one in missing if high - _BEHIND <= one < high))


@dataclass(frozen=True)
class Place:
    """Where somebody is who follows.

    >>> str(Place({FEED: Mark(3), OUTCOME: Mark(7), CHANGE: Mark(0), MESSAGE: Mark(2)}))
    '3.7.0.2'
    """

    marks: Mapping[str, Mark] = field(default_factory=lambda: dict.fromkeys(_LOGS, Mark()))

    def __str__(self) -> str:
        return ".".join(str(self.marks[log]) for log in _LOGS)

    def seen(self, log: str, number: int, *, gaps: bool) -> Place:
        return Place({**self.marks, log: self.marks[log].seen(number, gaps=gaps)})

    @classmethod
    def parse(cls, text: str) -> Place:
        try:
            marks = [Mark.parse(part) for part in text.split(".")] if len(text) <= _LONGEST else []
            return cls(dict(zip(_LOGS, marks, strict=True)))
        except ValueError:
            raise UsageError(
                f"{text[:40]!r} is not a position in the events.", next_step="Start without one."
            ) from None


News = FeedLine | Outcome | StateChange | Message


@dataclass(frozen=True, slots=True)
class Step:
    """One thing that is new, and the place right behind it."""

    news: News
    place: Place


class Following:
    """Reads what is new behind a place. Holds nothing itself."""

    def __init__(self, store: QueueStore) -> None:
        self._store = store

    async def end(self) -> Place:
        """The place behind all that is there. On a server, what is being written now comes after it, too."""
        store = self._store
        logs, changes = (await store.feed.last_id(), await store.outcomes.revision()), await store.changes.revision()
        heads = (*logs, changes, await store.outbox.last_id())
        place = Place({log: Mark(head) for log, head in zip(_LOGS, heads, strict=True)})
        if not store.shared:
            return place
        back = Place({log: Mark(max(0, head - _BEHIND)) for log, head in zip(_LOGS, heads, strict=True)})
        for step in await self.after(back):
            back = step.place
        return back

    async def is_ahead(self, place: Place) -> bool:
        """Whether the place is behind more than there is: the database was replaced by an older one."""
        end = await self.end()
        return any(place.marks[log].high > end.marks[log].high for log in _LOGS)

    async def after(self, place: Place, limit: int = _MOST) -> Sequence[Step]:
        """What is new behind the place, at most about `limit` of each log, in the order of the logs' own numbers."""
        store, marks = self._store, place.marks
        lines = await store.feed.after_id(marks[FEED].low, limit=limit + len(marks[FEED].missing))
        rows = await store.outcomes.changed_after(marks[OUTCOME].low, limit + len(marks[OUTCOME].missing))
        states = await store.changes.after(marks[CHANGE].low, limit + len(marks[CHANGE].missing))
        sent = await store.outbox.after_id(marks[MESSAGE].low, limit + len(marks[MESSAGE].missing))
        found: list[tuple[Instant, str, int, News]] = []
        _add(found, MESSAGE, marks, [(one.created_at, one.id, one) for one in sent])
        _add(found, FEED, marks, [(line.at, line.id, line) for line in lines])
        _add(found, OUTCOME, marks, [(row.at, row.revision, row) for row in rows])
        latest = Instant(max((one[0] for one in found), default=0))
        _add(found, CHANGE, marks, [(latest, one.revision, one) for one in states])
        steps = []
        for _, log, number, news in sorted(found, key=lambda one: one[0]):
            place = place.seen(log, number, gaps=store.shared)
            steps.append(Step(news, place))
        return steps


def _add(
    found: list[tuple[Instant, str, int, News]],
    log: str,
    marks: Mapping[str, Mark],
    rows: Iterable[tuple[Instant, int, News]],
) -> None:
    """Those that are new, each at least as late as the one before it: the order of the numbers is kept."""
    latest = Instant(-(2**62))
    for at, number, news in rows:
        if marks[log].is_new(number):
            latest = Instant(max(at, latest))
            found.append((latest, log, number, news))
