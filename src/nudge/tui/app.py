"""`nudge tui`: agents, what is next, the feed, the running session, and the questions that wait for an answer."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any, ClassVar

from rich.text import Text
from textual import work
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.message import Message
from textual.screen import ModalScreen
from textual.theme import Theme
from textual.widgets import DataTable, Footer, Input, Label, Static

from nudge.clock import Clock
from nudge.errors import NudgeError
from nudge.instants import SECOND, as_instant, rfc3339
from nudge.palette import DARK, Tone
from nudge.tui import view
from nudge.tui.client import Event, Surface

MOST_LINES = 500
RETRY_SECONDS = 2.0
WIDE = 140
"""From this many columns on, the lists stand side by side."""

KEYS = """\
Enter     show why: what happened to the selected line
/         filter the lists and the feed
p / r     pause / resume the selected reminder
s         snooze the selected reminder
c         mark the selected reminder as done
w         wake the selected agent
t         top up the selected agent
b         turn quiet on or off
x         cancel the selected agent's session
m         write to the selected agent
Tab       next list
?         show these keys
q         quit; the daemon keeps running
"""


class QuestionDialog(ModalScreen[None]):
    """A question that something waits for. Y or N answers one for more budget; others take a line of text. When the
    time is over, silence has answered."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", "answer('yes')", "Grant"),
        Binding("n", "answer('no')", "Deny"),
        Binding("escape", "later", "Later"),
    ]

    def __init__(self, question: Mapping[str, Any], clock: Clock, send: Callable[[str, str], Any]) -> None:
        super().__init__()
        self.question = question
        self._clock = clock
        self._send = send

    @property
    def is_extension(self) -> bool:
        return bool(self.question["kind"] == "extension")

    @property
    def seconds_left(self) -> int:
        deadline = as_instant(datetime.fromisoformat(str(self.question["deadline"])))
        return max(0, -(-(deadline - self._clock.now()) // SECOND))

    def compose(self) -> ComposeResult:
        with Vertical(id="dialog"):
            yield Label(view.one_line(str(self.question["text"])), id="question")
            if self.is_extension:
                yield Label("", id="countdown")
                yield Label("[b]Y[/b] grants   [b]N[/b] denies   Esc decides later")
            else:
                yield Input(placeholder="Your answer", id="answer")

    def on_mount(self) -> None:
        self.tick()
        self.set_interval(0.5, self.tick)

    def tick(self) -> None:
        if self.is_extension:
            self.query_one("#countdown", Label).update(f"No answer within {self.seconds_left} s means no.")
        if self.seconds_left == 0:
            self.dismiss(None)

    async def action_answer(self, word: str) -> None:
        if self.is_extension:
            await self._send(str(self.question["id"]), word)
            self.dismiss(None)

    async def on_input_submitted(self, event: Input.Submitted) -> None:
        if event.value.strip():
            await self._send(str(self.question["id"]), event.value)
            self.dismiss(None)

    def action_later(self) -> None:
        self.dismiss(None)


class SessionPanel(Static, can_focus=True):
    """The running session. Enter tells why it is where it is."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("enter", "select", "Why", show=False)]

    class Selected(Message):
        def __init__(self, session: str) -> None:
            super().__init__()
            self.session = session

    _session = ""

    def show(self, session: Mapping[str, Any] | None) -> None:
        self._session = str(session["id"]) if session else ""
        self.update(Text("\n").join(view.session_lines(session)))

    def action_select(self) -> None:
        if self._session:
            self.post_message(self.Selected(self._session))


class LinesScreen(ModalScreen[None]):
    """Some lines to read: a story, or the keys."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,q,enter", "close", "Close")]

    def __init__(self, title: str, lines: list[str]) -> None:
        super().__init__()
        self.title_text = title
        self.lines = lines

    def compose(self) -> ComposeResult:
        with VerticalScroll(id="dialog"):
            yield Label(Text(self.title_text, style="bold"))
            yield Static(Text("\n".join(self.lines)))

    def action_close(self) -> None:
        self.dismiss(None)


class AskScreen(ModalScreen[str]):
    """One line of text. Escape gives none."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "cancel", "Cancel")]

    def __init__(self, question: str, value: str = "") -> None:
        super().__init__()
        self._question = question
        self._value = value

    def compose(self) -> ComposeResult:
        with Vertical(id="dialog"):
            yield Label(self._question)
            yield Input(self._value)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        self.dismiss(event.value.strip())

    def action_cancel(self) -> None:
        self.dismiss("")


def _key(line: Mapping[str, Any]) -> str:
    """What names a line of the feed."""
    return f"{line.get('type')} {line.get('id')}"


LOOK = Theme(
    name="nudge",
    primary=DARK["briefing"],
    secondary=DARK["notice"],
    accent=DARK["focus"],
    foreground=DARK["ink"],
    background=DARK["page"],
    surface=DARK["card"],
    panel=DARK["grid"],
    success=DARK[Tone.GOOD],
    warning=DARK[Tone.WARN],
    error=DARK[Tone.BAD],
)


class NudgeTui(App[None]):
    TITLE = "nudge"
    ENABLE_COMMAND_PALETTE = False
    CSS = """
    #banner { background: $error; color: $background; padding: 0 1; display: none; }
    #banner.on { display: block; }
    #agents, #session, #upcoming, #feed { border: round $primary; height: 100%; }
    #agents, #feed { width: 3fr; }
    #session, #upcoming { width: 2fr; }
    #session { padding: 0 1; }
    #session:focus { border: round $accent; }
    #top { height: 40%; }
    #middle { height: 1fr; }
    .-narrow #top, .-narrow #middle { layout: vertical; }
    .-narrow #top { height: auto; max-height: 50%; }
    .-narrow #agents, .-narrow #session, .-narrow #upcoming, .-narrow #feed { width: 100%; }
    .-narrow #agents { height: auto; max-height: 8; }
    .-narrow #session { height: auto; max-height: 5; }
    .-narrow #upcoming { height: 2fr; }
    .-narrow #feed { height: 3fr; }
    #status { padding: 0 1; color: $text-muted; }
    #filter { display: none; }
    #filter.on { display: block; }
    QuestionDialog, LinesScreen, AskScreen { align: center middle; }
    #dialog { width: 72; max-width: 90%; height: auto; max-height: 80%; border: thick $accent; padding: 1 2;
              background: $surface; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("q", "quit", "Quit"),
        Binding("slash", "filter", "Filter", key_display="/"),
        Binding("question_mark", "keys", "Keys", key_display="?"),
        Binding("p", "reminder('pause')", "Pause"),
        Binding("r", "reminder('resume')", "Resume", show=False),
        Binding("s", "snooze", "Snooze"),
        Binding("c", "reminder('complete')", "Done"),
        Binding("w", "wake", "Wake", show=False),
        Binding("t", "top_up", "Top up"),
        Binding("b", "quiet", "Quiet"),
        Binding("x", "cancel_session", "Cancel session", show=False),
        Binding("m", "message", "Write", show=False),
    ]

    def __init__(self, surface: Surface, clock: Clock) -> None:
        super().__init__()
        self.register_theme(LOOK)
        self.HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (WIDE, "-wide")]
        self._surface = surface
        self._clock = clock
        self._agents: dict[str, dict[str, Any]] = {}
        self._upcoming: dict[str, dict[str, Any]] = {}
        self._feed: list[Mapping[str, Any]] = []
        self._asked: set[str] = set()
        self._words = ""
        self._place = ""
        self._zone_now = ""

    @property
    def now(self) -> str:
        """The moment, in the zone of the person."""
        here = datetime.fromisoformat(self._zone_now).tzinfo if self._zone_now else None
        return rfc3339(self._clock.now(), here) if here else rfc3339(self._clock.now())

    def compose(self) -> ComposeResult:
        yield Static("", id="banner")
        with Horizontal(id="top"):
            yield DataTable(id="agents", cursor_type="row", show_header=False)
            yield SessionPanel("", id="session")
        with Horizontal(id="middle"):
            yield DataTable(id="upcoming", cursor_type="row", show_header=False)
            yield DataTable(id="feed", cursor_type="row", show_header=False)
        yield Input(placeholder="Filter", id="filter")
        yield Static("", id="status")
        yield Footer()

    def on_mount(self) -> None:
        self.theme = LOOK.name
        for name, columns in (("agents", 4), ("upcoming", 4), ("feed", 1)):
            table = self.query_one(f"#{name}", DataTable)
            table.add_columns(*("" for _ in range(columns)))
        self.query_one("#agents").border_title = "Agents"
        self.query_one("#session").border_title = "Session"
        self.query_one("#upcoming").border_title = "Next"
        self.query_one("#feed").border_title = "Feed"
        self.query_one("#agents", DataTable).focus()
        self.follow()

    @work(exclusive=True)
    async def follow(self) -> None:
        """Read everything once, then go on with the events. If the daemon goes away, come back when it does."""
        while True:
            try:
                await self.load()
                async for event in self._surface.events(self._place):
                    if event.kind == "reset":
                        break
                    await self.take(event)
            except NudgeError as error:
                self.query_one("#status", Static).update(Text(f"{error} Retrying.", style=DARK[Tone.BAD]))
            await self._clock.sleep(RETRY_SECONDS)

    async def load(self) -> None:
        overview = await self._surface.ask("read/overview")
        self._place, self._zone_now = str(overview["place"]), str(overview["now"])
        self._agents = {agent["name"]: dict(agent) for agent in overview["agents"]}
        await self._load_upcoming()
        self._feed = list(reversed(overview["feed"]))
        self.show_all()
        for question in overview["questions"]:
            self.show_question(question)

    async def take(self, event: Event) -> None:
        self._place = event.place or self._place
        data = dict(event.data)
        agent = self._agents.get(str(data.get("agent")))
        match event.kind:
            case "feed" | "outcome":
                self._feed = [*self._feed, data][-MOST_LINES:]
                self._show_feed()
                return
            case "meter" if agent is not None:
                agent["spending"] = data
            case "attention" if agent is not None:
                agent.update(data)
            case "session" if agent is not None:
                agent["session"] = data if data.get("status") in ("working", "waiting") else None
            case "question":
                if data.get("open"):
                    self.show_question(data)
                else:
                    self.close_question(str(data.get("id")))
                return
            case "reminder" | "session" | "meter" | "attention":
                await self._load_upcoming()
                if agent is None:
                    found = await self._surface.ask("read/agents")
                    self._agents = {one["name"]: dict(one) for one in found["agents"]}
        self.show_all(feed=False)

    async def _load_upcoming(self) -> None:
        """Paused reminders are in it too: how else could one be resumed?"""
        answer = await self._surface.ask("read/upcoming", {"limit": 50, "paused": True})
        self._upcoming = {one["id"]: dict(one) for one in answer["upcoming"]}

    def show_all(self, *, feed: bool = True) -> None:
        agents = list(self._agents.values())
        text = view.banner(agents)
        banner = self.query_one("#banner", Static)
        banner.update(Text(text))
        banner.set_class(bool(text), "on")
        self._fill("agents", {name: view.agent_row(one, self.now) for name, one in self._agents.items()})
        shown = {key: view.upcoming_row(one, self.now) for key, one in self._upcoming.items() if self._wanted(one)}
        self._fill("upcoming", shown)
        running = next((one["session"] for one in agents if one.get("session")), None)
        self.query_one("#session", SessionPanel).show(running)
        self.query_one("#status", Static).update(view.bucket(agents))
        if feed:
            self._show_feed()

    def _show_feed(self) -> None:
        """The newest line is the last, and in sight unless somebody reads further up."""
        feed = self.query_one("#feed", DataTable)
        follows = feed.cursor_row >= feed.row_count - 1
        self._fill("feed", {_key(one): (view.feed_line(one, self.now),) for one in self._feed if self._wanted(one)})
        if follows and feed.row_count:
            feed.move_cursor(row=feed.row_count - 1)

    def _wanted(self, line: Mapping[str, Any]) -> bool:
        return view.matches(line, self._words)

    def _fill(self, name: str, rows: Mapping[str, tuple[Text, ...]]) -> None:
        """Show these rows, with the cursor where it was."""
        table = self.query_one(f"#{name}", DataTable)
        selected = self.selected(name)
        table.clear()
        for key, row in rows.items():
            table.add_row(*row, key=key)
        if selected in rows:
            table.move_cursor(row=list(rows).index(selected))

    def selected(self, name: str) -> str:
        table = self.query_one(f"#{name}", DataTable)
        if not table.row_count:
            return ""
        return str(table.coordinate_to_cell_key(table.cursor_coordinate).row_key.value)

    def show_question(self, question: Mapping[str, Any]) -> None:
        key = str(question["id"])
        if key not in self._asked:
            self._asked.add(key)
            self.push_screen(QuestionDialog(question, self._clock, self.answer))

    def close_question(self, key: str) -> None:
        """Somebody answered elsewhere, or the time is over: the first answer counted."""
        for screen in self.screen_stack:
            if isinstance(screen, QuestionDialog) and screen.question["id"] == key and screen.is_current:
                screen.dismiss(None)

    async def answer(self, question: str, word: str) -> None:
        await self.do("answer", {"id": question, "answer": word}, "Answered.")

    async def do(self, name: str, body: Mapping[str, Any], said: str) -> None:
        """Carry out one request, and say what came of it."""
        try:
            await self._surface.ask(f"do/{name}", body)
        except NudgeError as error:
            self.notify(str(error), severity="error")
        else:
            self.notify(said)

    @work
    async def action_reminder(self, verb: str) -> None:
        if key := self.selected("upcoming"):
            said = {"pause": "Paused.", "resume": "Resumed.", "complete": "Done."}[verb]
            await self.do(verb, {"id": key}, said)

    @work
    async def action_snooze(self) -> None:
        if (key := self.selected("upcoming")) and (
            length := await self.push_screen_wait(AskScreen("Snooze for", "30m"))
        ):
            await self.do("snooze", {"id": key, "for": length}, f"Snoozed for {length}.")

    @work
    async def action_wake(self) -> None:
        await self.do("wake", {"agent": self.selected("agents")}, "Checked its budget.")

    @work
    async def action_top_up(self) -> None:
        agent = self.selected("agents")
        if amount := await self.push_screen_wait(AskScreen(f"Dollars for {agent}", "5.00")):
            await self.do("top_up", {"agent": agent, "amount": amount}, f"Topped up {agent}.")

    @work
    async def action_quiet(self) -> None:
        quiet = any(one.get("quiet_until") for one in self._agents.values())
        length = "off" if quiet else await self.push_screen_wait(AskScreen("Be quiet for", "2h"))
        if length:
            await self.do("quiet", {"for": length}, "Quiet is off." if length == "off" else f"Quiet for {length}.")

    @work
    async def action_cancel_session(self) -> None:
        agent = self._agents.get(self.selected("agents"), {})
        if agent.get("session"):
            await self.do("cancel_session", {"id": agent["session"]["id"]}, "Cancelled.")

    @work
    async def action_message(self) -> None:
        agent = self.selected("agents")
        if text := await self.push_screen_wait(AskScreen(f"Write to {agent}")):
            await self.do("message", {"agent": agent, "text": text}, f"Sent to {agent}.")

    @work
    async def on_data_table_row_selected(self, event: DataTable.RowSelected) -> None:
        """Enter: why."""
        key = str(event.row_key.value)
        if event.data_table.id != "feed":
            await self._tell_why(key)
            return
        kind, _, number = key.partition(" ")
        if kind == "outcome":
            await self._tell_why(f"outcome {number}")
        else:
            line = next(one for one in self._feed if _key(one) == key)
            await self.push_screen(LinesScreen("Feed", view.feed_story(line, self.now)))

    @work
    async def on_session_panel_selected(self, event: SessionPanel.Selected) -> None:
        await self._tell_why(event.session)

    async def _tell_why(self, what: str) -> None:
        try:
            answer = await self._surface.ask("read/why", {"what": what})
        except NudgeError as error:
            self.notify(str(error), severity="error")
            return
        await self.push_screen(LinesScreen(f"Why: {what}", view.story(answer, self.now)))

    def action_keys(self) -> None:
        self.push_screen(LinesScreen("Keys", KEYS.splitlines()))

    def action_filter(self) -> None:
        box = self.query_one("#filter", Input)
        box.add_class("on")
        box.focus()

    def on_input_changed(self, event: Input.Changed) -> None:
        if event.input.id == "filter":
            self._words = event.value
            self.show_all()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        if event.input.id == "filter":
            event.input.remove_class("on")
            self.query_one("#upcoming", DataTable).focus()
