"""An answer while it is written, for those who want to watch: a terminal, `nudge chat`, a web page.

A draft is never the answer. What is shown is whole words without secrets, and it only grows; the message that is
delivered in the end begins with it, unless something went wrong on the way.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from nudge.redaction import screen

Watcher = Callable[[str, str], None]
"""Called with the agent and its draft so far."""


class Drafts:
    """The drafts of this process, by agent. Nobody streams an answer that nobody watches."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        self._secrets = tuple(secrets)
        self._watchers: list[tuple[Watcher, Callable[[], bool]]] = []
        self._texts: dict[str, str] = {}

    def watch(self, watcher: Watcher, *, only_if: Callable[[], bool] = lambda: True) -> None:
        """Watch all drafts from now on, while `only_if` says so."""
        self._watchers.append((watcher, only_if))

    @property
    def watched(self) -> bool:
        return any(is_there() for _, is_there in self._watchers)

    def of(self, agent: str) -> str:
        """What is written of the answer that is under way; "" where none is."""
        return self._texts.get(agent, "")

    def writer(self, agent: str) -> DraftWriter | None:
        """Who writes this agent's next answer, if somebody watches."""
        return DraftWriter(self, agent, self._secrets) if self.watched else None

    def show(self, agent: str, text: str) -> None:
        self._texts[agent] = text
        for watcher, is_there in self._watchers:
            if is_there():
                watcher(agent, text)

    def end(self, agent: str) -> None:
        """The answer is on its way as a message."""
        self._texts.pop(agent, None)


class DraftWriter:
    """The words of one answer as they come, over all rounds of it.

    >>> drafts, seen = Drafts(), []
    >>> drafts.watch(lambda agent, text: seen.append(text))
    >>> writer = drafts.writer("coach")
    >>> writer.begin()
    >>> for piece in ("Cal", "l Mum ", "fir", "st."): writer.add(piece)
    >>> seen
    ['Call Mum ']
    """

    def __init__(self, drafts: Drafts, agent: str, secrets: tuple[str, ...]) -> None:
        self._drafts = drafts
        self._agent = agent
        self._secrets = secrets
        self._text = ""
        self._shown = ""
        self._broken = False

    def begin(self) -> None:
        """Another round, or another attempt after a stream that broke: its words cannot be taken back, so the rest of
        the answer is not shown before it is delivered."""
        self._broken = self._broken or bool(self._text)

    def add(self, text: str) -> None:
        self._text = (self._text + text).lstrip()
        if self._broken or self._text.startswith("{"):  # an answer in a form is not for reading
            return
        whole = max(self._text.rfind(" "), self._text.rfind("\n")) + 1
        shown = screen(self._text[:whole], self._secrets)
        if len(shown) > len(self._shown) and shown.startswith(self._shown):
            self._shown = shown
            self._drafts.show(self._agent, shown)
