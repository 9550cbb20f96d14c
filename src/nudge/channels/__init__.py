"""Ways to reach the person: one module or folder each, and one line here.

To add one: inherit from `nudge.queue.channel.Channel`, write a factory that takes a `Setup`, name it below, and give
it a section in `home/config.py`. `tests/channels/test_conformance.py` says what every channel must do.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import tzinfo
from typing import TYPE_CHECKING, Any, Final, Protocol, cast

if TYPE_CHECKING:
    from nudge.clock import Clock
    from nudge.queue.channel import Channel
    from nudge.queue.pairing import Pairs


class Stream(Protocol):
    """Where text can be written."""

    def write(self, text: str, /) -> int: ...

    def flush(self) -> None: ...


@dataclass(frozen=True, slots=True)
class Setup:
    """What a channel may need. `section` is its own part of nudge.toml, `environment` includes `.env`.

    `zone` is the person's, looked up every time because they may travel. `screen` is the terminal that nudge runs in.
    `pairs` decides which stranger becomes the person.
    """

    section: Any
    environment: Mapping[str, str]
    clock: Clock
    screen: Stream
    zone: Callable[[], tzinfo]
    colour: bool = False
    pairs: Pairs | None = None


@dataclass(frozen=True, slots=True)
class Entry:
    """`factory` is imported only when the channel is used. With `channel.kind = "auto"` a channel is used if the
    environment has its `key`; one without a key always can be."""

    factory: str
    key: str = ""


CHANNELS: Final[Mapping[str, Entry]] = {
    "telegram": Entry("nudge.channels.telegram:telegram_channel", key="TELEGRAM_BOT_TOKEN"),
    "terminal": Entry("nudge.channels.terminal:terminal_channel"),
}


def chosen(kind: str, environment: Mapping[str, str]) -> str:
    """The name of the channel to use: the one that nudge.toml names, or else the first with its key set.

    >>> chosen("auto", {}), chosen("auto", {"TELEGRAM_BOT_TOKEN": "1:x"})
    ('terminal', 'telegram')
    """
    if kind != "auto":
        return kind
    return next(name for name, entry in CHANNELS.items() if not entry.key or environment.get(entry.key, "").strip())


def open_channel(name: str, setup: Setup) -> Channel:
    """Make the channel. It connects when it is first used. Raises NotConfiguredError if something is missing."""
    from importlib import import_module

    module, _, factory = CHANNELS[name].factory.partition(":")
    return cast("Channel", getattr(import_module(module), factory)(setup))
