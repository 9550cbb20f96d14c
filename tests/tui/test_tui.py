"""The dashboard with textual's pilot, on a daemon that answers by script."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from textual.widgets import Input, Static

from nudge.errors import NudgeError
from nudge.instants import Instant, as_instant
from nudge.tui.app import LinesScreen, NudgeTui, QuestionDialog
from nudge.tui.client import Event, read_events

NOW = datetime(2026, 3, 2, 14, 0, tzinfo=UTC)
SPENDING = {
    "state": "awake",
    "percent": 47,
    "colour": "green",
    "text": "Budget: 47% used",
    "refresh_at": None,
    "banner": None,
}
QUESTION = {
    "id": "s1-more-1",
    "agent": "builder",
    "session": "s1",
    "kind": "extension",
    "text": "builder asks for 200,000 more tokens. To finish: fix the tests",
    "deadline": (NOW + timedelta(seconds=60)).isoformat(),
    "open": True,
}


class HandClock:
    """Stands still until it is told to go on."""

    def __init__(self) -> None:
        self.at = as_instant(NOW)

    def now(self) -> Instant:
        return self.at

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(3600)

    async def wait(self, event: asyncio.Event, seconds: float) -> bool:
        return False


class Daemon:
    """Answers what it was told to, and remembers what it was asked."""

    def __init__(self, **overview: Any) -> None:
        self.asked: list[tuple[str, Mapping[str, Any]]] = []
        self.queue: asyncio.Queue[Event] = asyncio.Queue()
        self.refuse = ""
        self.overview: dict[str, Any] = {
            "place": "0-0-0",
            "now": NOW.isoformat(),
            "agents": [
                {"name": "coach", "unread": 0, "spending": SPENDING,
                 "bucket": {"ping_budget": "on", "available": 3.0, "capacity": 5, "next_refill_minutes": 42}},
                {"name": "builder", "unread": 2, "spending": {**SPENDING, "percent": 12, "text": "Budget: 12% used"}},
            ],
            "upcoming": [
                {"id": "r-aaaaaa", "name": "stretch", "message": "Stretch", "agent": "coach", "status": "active",
                 "next_at": (NOW + timedelta(minutes=30)).isoformat()},
                {"id": "r-bbbbbb", "name": "", "message": "Call mum", "agent": "coach", "status": "active",
                 "next_at": (NOW + timedelta(days=1)).isoformat()},
            ],
            "feed": [{"type": "feed", "id": 1, "at": NOW.isoformat(), "agent": "builder", "text": "Started: fix it"}],
            "questions": [],
            **overview,
        }  # fmt: skip

    async def ask(self, name: str, body: Mapping[str, Any] | None = None) -> Mapping[str, Any]:
        self.asked.append((name, dict(body or {})))
        if self.refuse:
            raise NudgeError(self.refuse)
        if name == "read/overview":
            return self.overview
        if name == "read/why":
            row = {"at": NOW.isoformat(), "due_at": NOW.isoformat(), "result": "fired", "title": "stretch",
                   "key": "k", "reason": "It was due.", "message": None}  # fmt: skip
            return {"things": [], "outcomes": [row], "near": []}
        return {"ok": True, "upcoming": self.overview["upcoming"], "agents": self.overview["agents"]}

    async def events(self, place: str) -> AsyncIterator[Event]:
        while True:
            yield await self.queue.get()

    async def close(self) -> None:
        return None

    def did(self, name: str) -> list[Mapping[str, Any]]:
        return [body for asked, body in self.asked if asked == name]


@pytest.fixture
def daemon() -> Daemon:
    return Daemon()


def screen_text(app: NudgeTui) -> str:
    return "\n".join("".join(segment.text for segment in line) for line in app.screen._compositor.render_strips())


async def settled(pilot: Any) -> None:
    for _ in range(5):
        await pilot.pause()


@pytest.mark.asyncio
@pytest.mark.parametrize("size", [(80, 24), (200, 50)], ids=["80 by 24", "200 columns"])
async def test_everything_is_on_the_first_screen(daemon: Daemon, size: tuple[int, int]) -> None:
    app = NudgeTui(daemon, HandClock())
    async with app.run_test(size=size) as pilot:
        await settled(pilot)
        text = screen_text(app)
    for words in (
        "coach",
        "Budget: 47% used",
        "builder",
        "stretch",
        "Started: fix it",
        "Pings: 3.0 of 5, next in 42 min",
    ):
        assert words in text, text


@pytest.mark.asyncio
async def test_a_budget_question_counts_down_and_y_grants(daemon: Daemon) -> None:
    clock = HandClock()
    app = NudgeTui(daemon, clock)
    async with app.run_test(size=(100, 30)) as pilot:
        await settled(pilot)
        daemon.queue.put_nowait(Event("question", QUESTION, "0-0-1"))
        await settled(pilot)
        dialog = app.screen
        assert isinstance(dialog, QuestionDialog)
        assert "No answer within 60 s means no." in screen_text(app)
        clock.at = Instant(clock.at + 20_000_000)
        dialog.tick()
        await settled(pilot)
        assert "No answer within 40 s means no." in screen_text(app)
        await pilot.press("y")
        await settled(pilot)
        assert not isinstance(app.screen, QuestionDialog)
    assert daemon.did("do/answer") == [{"id": "s1-more-1", "answer": "yes"}]


@pytest.mark.asyncio
async def test_n_denies_and_silence_closes_the_dialog(daemon: Daemon) -> None:
    clock = HandClock()
    daemon.overview["questions"] = [QUESTION]
    app = NudgeTui(daemon, clock)
    async with app.run_test(size=(100, 30)) as pilot:
        await settled(pilot)
        assert isinstance(app.screen, QuestionDialog)
        await pilot.press("n")
        await settled(pilot)
        daemon.queue.put_nowait(Event("question", {**QUESTION, "id": "s1-more-2"}, "0-0-2"))
        await settled(pilot)
        dialog = app.screen
        assert isinstance(dialog, QuestionDialog)
        clock.at = Instant(clock.at + 60_000_000)
        dialog.tick()
        await settled(pilot)
        assert not isinstance(app.screen, QuestionDialog)
    assert daemon.did("do/answer") == [{"id": "s1-more-1", "answer": "no"}]


@pytest.mark.asyncio
async def test_an_answer_elsewhere_closes_the_dialog(daemon: Daemon) -> None:
    app = NudgeTui(daemon, HandClock())
    async with app.run_test(size=(100, 30)) as pilot:
        await settled(pilot)
        daemon.queue.put_nowait(Event("question", QUESTION, "0-0-1"))
        await settled(pilot)
        daemon.queue.put_nowait(Event("question", {**QUESTION, "open": False}, "0-0-2"))
        await settled(pilot)
        assert not isinstance(app.screen, QuestionDialog)


@pytest.mark.asyncio
async def test_the_banner_and_the_meter_follow_the_events(daemon: Daemon) -> None:
    stopped = {
        **SPENDING,
        "state": "budget_exceeded",
        "percent": 112,
        "colour": "red",
        "text": "Budget: 112% used",
        "banner": "Agent stopped — daily budget exceeded",
        "refresh_at": (NOW + timedelta(hours=10)).isoformat(),
    }
    app = NudgeTui(daemon, HandClock())
    async with app.run_test(size=(120, 30)) as pilot:
        await settled(pilot)
        assert not app.query_one("#banner", Static).has_class("on")
        daemon.queue.put_nowait(Event("meter", {"agent": "builder", **stopped}, "0-0-1"))
        await settled(pilot)
        text = screen_text(app)
        assert app.query_one("#banner", Static).has_class("on")
    assert "builder: Agent stopped — daily budget exceeded" in text
    assert "exceeded until Tue 00:00" in text
    assert "Budget: 112% used" in text


@pytest.mark.asyncio
async def test_keys_act_on_the_selected_line(daemon: Daemon) -> None:
    app = NudgeTui(daemon, HandClock())
    async with app.run_test(size=(120, 30)) as pilot:
        await settled(pilot)
        await pilot.press("tab", "tab", "down", "p", "c")
        await settled(pilot)
        await pilot.press("s")
        await settled(pilot)
        await pilot.press("enter")
        await settled(pilot)
        await pilot.press("b")
        await settled(pilot)
        await pilot.press("enter")
        await settled(pilot)
    assert daemon.did("do/pause") == [{"id": "r-bbbbbb"}]
    assert daemon.did("do/complete") == [{"id": "r-bbbbbb"}]
    assert daemon.did("do/snooze") == [{"id": "r-bbbbbb", "for": "30m"}]
    assert daemon.did("do/quiet") == [{"for": "2h"}]


SESSION = {
    "id": "s1",
    "agent": "builder",
    "task": "Fix the tests",
    "status": "working",
    "tokens": 12,
    "doing": "thinking",
}


@pytest.mark.asyncio
async def test_every_key_reaches_what_it_is_for(daemon: Daemon) -> None:
    paused = {**daemon.overview["upcoming"][1], "status": "paused", "next_at": None}
    daemon.overview["upcoming"] = [paused]
    daemon.overview["agents"][1]["session"] = SESSION
    app = NudgeTui(daemon, HandClock())
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(pilot)
        assert "Call mum (paused)" in screen_text(app)
        await pilot.press("down", "r", "w", "x")
        await settled(pilot)
        for key, typed in (("t", ""), ("m", "hurry")):
            await pilot.press(key)
            await settled(pilot)
            await pilot.press(*typed, "enter")
            await settled(pilot)
        await pilot.press("question_mark")
        await settled(pilot)
        keys = screen_text(app)
    assert daemon.did("do/resume") == [{"id": "r-bbbbbb"}]
    assert daemon.did("do/wake") == [{"agent": "builder"}]
    assert daemon.did("do/top_up") == [{"agent": "builder", "amount": "5.00"}]
    assert daemon.did("do/message") == [{"agent": "builder", "text": "hurry"}]
    assert daemon.did("do/cancel_session") == [{"id": "s1"}]
    assert "top up the selected agent" in keys


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("tabs", "asked"),
    [
        pytest.param(0, "coach", id="an agent"),
        pytest.param(1, "s1", id="the session"),
        pytest.param(2, "r-aaaaaa", id="a reminder"),
        pytest.param(3, "outcome 7", id="an outcome in the feed"),
    ],
)
async def test_enter_on_anything_tells_why(daemon: Daemon, tabs: int, asked: str) -> None:
    daemon.overview["agents"][1]["session"] = SESSION
    outcome = {
        "type": "outcome",
        "id": 7,
        "agent": "coach",
        "result": "suppressed",
        "key": "k",
        "reason": "Quiet hours.",
    }
    daemon.overview["feed"] = [{**outcome, "at": NOW.isoformat()}, *daemon.overview["feed"]]
    app = NudgeTui(daemon, HandClock())
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(pilot)
        await pilot.press(*["tab"] * tabs, "enter")
        await settled(pilot)
        assert isinstance(app.screen, LinesScreen)
    assert daemon.did("read/why") == [{"what": asked}]


@pytest.mark.asyncio
async def test_without_colour_the_words_say_the_same(daemon: Daemon, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    app = NudgeTui(daemon, HandClock())
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(pilot)
        text = screen_text(app)
        colours = {
            segment.style.color.triplet
            for line in app.screen._compositor.render_strips()
            for segment in line
            if segment.style and segment.style.color and segment.style.color.triplet
        }
    assert "Budget: 47% used" in text
    assert "awake" in text
    assert all(len(set(colour)) == 1 for colour in colours), "only grey is left"


@pytest.mark.asyncio
async def test_enter_tells_why_and_slash_filters(daemon: Daemon) -> None:
    app = NudgeTui(daemon, HandClock())
    async with app.run_test(size=(120, 30)) as pilot:
        await settled(pilot)
        await pilot.press("tab", "tab", "enter")
        await settled(pilot)
        assert isinstance(app.screen, LinesScreen)
        assert "It was due." in screen_text(app)
        await pilot.press("escape", "slash", *"mum", "enter")
        await settled(pilot)
        text = screen_text(app)
        assert app.query_one("#filter", Input).value == "mum"
    assert "Call mum" in text
    assert "stretch" not in text


@pytest.mark.asyncio
async def test_hostile_text_moves_no_cursor(daemon: Daemon) -> None:
    app = NudgeTui(daemon, HandClock())
    async with app.run_test(size=(120, 30)) as pilot:
        await settled(pilot)
        evil = {
            "type": "feed",
            "id": 9,
            "at": NOW.isoformat(),
            "agent": "builder",
            "text": "\x1b[2J[red]boo[/red]\x07 \u202eabc",
        }
        daemon.queue.put_nowait(Event("feed", evil, "0-0-1"))
        await settled(pilot)
        text = screen_text(app)
    assert "\x1b" not in text
    assert "\x07" not in text
    assert "\u202e" not in text
    assert "[red]boo[/red]" in text


@pytest.mark.asyncio
async def test_a_daemon_that_goes_away_is_said_so(daemon: Daemon) -> None:
    daemon.refuse = "The daemon does not answer."
    app = NudgeTui(daemon, HandClock())
    async with app.run_test(size=(100, 30)) as pilot:
        await settled(pilot)
        assert "The daemon does not answer. Retrying." in screen_text(app)


@pytest.mark.asyncio
async def test_events_are_read_from_their_lines() -> None:
    async def lines() -> AsyncIterator[str]:
        for line in (
            ": alive",
            "",
            "id: 1-2-3",
            "event: feed",
            'data: {"text": "a: b"}',
            "",
            "id: 1-2-4",
            "data: {}",
            "",
        ):
            yield line

    assert [event async for event in read_events(lines())] == [
        Event("feed", {"text": "a: b"}, "1-2-3"),
        Event("message", {}, "1-2-4"),
    ]


PICTURES = Path(__file__).parent / "pictures"


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("name", "size", "events"),
    [
        pytest.param("small", (80, 24), [], id="80 by 24"),
        pytest.param("question", (100, 30), [Event("question", QUESTION, "0-0-1")], id="a question"),
    ],
)
async def test_a_screen_looks_as_it_did(daemon: Daemon, name: str, size: tuple[int, int], events: list[Event]) -> None:
    """To accept a new look, remove the picture and run the test again: it is written, and the test says so."""
    app = NudgeTui(daemon, HandClock())
    async with app.run_test(size=size) as pilot:
        await settled(pilot)
        for event in events:
            daemon.queue.put_nowait(event)
        await settled(pilot)
        picture = re.sub(r"terminal-\d+", "terminal", app.export_screenshot())
    file = PICTURES / f"{name}.svg"
    if not file.exists():
        file.parent.mkdir(exist_ok=True)
        file.write_text(picture, encoding="utf-8")
        pytest.fail(f"There was no {file.name}: it is written now. Look at it, and run the test again.")
    assert picture == file.read_text(encoding="utf-8")
