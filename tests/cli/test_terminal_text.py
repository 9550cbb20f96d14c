"""What others wrote, on the person's terminal."""

from __future__ import annotations

import io
import json
import os
from contextlib import suppress

import pytest

from nudge.channels.terminal import TerminalChannel, wrapped
from nudge.columns import cells
from nudge.errors import ChannelUnavailableError
from nudge.queue.channel import Button, Outbound
from nudge.queue.outcomes import FeedLine
from nudge.stores.open import open_store
from tests.cli.cli import Cli
from tests.times import NOON, TORONTO

NASTY = "a\x1b[2Jb\rc\x9bd\x07"


async def test_a_message_cannot_drive_the_terminal() -> None:
    stream = io.StringIO()
    channel = TerminalChannel(stream, lambda: NOON, lambda: TORONTO)
    await channel.send(Outbound(1, f"{NASTY}\nsecond line\ttab", (Button(NASTY, "done:1"),)))
    shown = stream.getvalue()
    assert shown.startswith("12:00  a�[2Jb")
    assert "\n       second line\ttab\n" in shown
    assert not set(shown) & set("\x1b\r\x9b\x07")


async def test_a_terminal_that_was_closed_is_a_channel_that_is_away() -> None:
    """What the person asked for waits for the next one; it did not arrive, so it is no repeat."""
    reader, writer = os.pipe()
    os.close(reader)
    stream = os.fdopen(writer, "w")
    channel = TerminalChannel(stream, lambda: NOON, lambda: TORONTO)
    with pytest.raises(ChannelUnavailableError, match="Broken pipe") as caught:
        await channel.send(Outbound(1, "drink"))
    assert not caught.value.maybe_sent
    with suppress(BrokenPipeError):
        stream.close()


async def test_the_log_shows_one_line_for_each_thing(home: Cli) -> None:
    store = await open_store(f"sqlite:///{home.home / 'nudge.db'}")
    await store.feed.add(FeedLine(NOON, "coach", "said", f"{NASTY}\nsecond line"))
    await store.close()
    (line,) = home("log").stdout.splitlines()
    assert "second line" in line
    assert not set(line) & set("\x1b\r\x9b\x07")
    assert json.loads(home("log", "--json").stdout)["text"] == f"{NASTY}\nsecond line"


@pytest.mark.parametrize("width", [12, 20, 33, 80, 200])
@pytest.mark.parametrize(
    "line",
    [
        "I write in the morning, before bed and when something is due. Otherwise I stay out of your way.",
        "• call Mum about the trip to the mountains and the keys",
        "https://example.com/a/very/long/address/that/has/no/space/in/it/at/all",
        "会议在星期五下午三点开始请不要忘记带上文件",
        "",
    ],
    ids=["prose", "a list", "a long word", "wide letters", "nothing"],
)
def test_a_line_fits_any_width_and_loses_nothing(line: str, width: int) -> None:
    pieces = wrapped(line, width)
    assert max(cells(piece) for piece in pieces) <= width
    assert "".join("".join(pieces).split()) == "".join(line.split())
    if " " in line and width > 20:
        assert all(word in line.split() for piece in pieces for word in piece.split())
