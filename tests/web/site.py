"""A real daemon and a real `nudge web` in a home of their own, and hands that write its store as other programs do."""

from __future__ import annotations

import asyncio
import http.client
import subprocess
import threading
from collections.abc import Callable, Coroutine, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.cookies import SimpleCookie
from pathlib import Path
from typing import Any
from urllib.parse import urlencode, urlsplit

from nudge.clock import SystemClock
from nudge.instants import SECOND, Instant
from nudge.queue.agents import Agent
from nudge.queue.outcomes import FeedLine, Outcome, Result
from nudge.stores.open import open_sqlite
from nudge.stores.store import SqlStore
from nudge.worker.questions import Question, QuestionKind
from tests.cli.cli import NUDGE, Cli

HOSTILE = '<script>window.hurt = 1</script><img src=x onerror="window.hurt=1">\x1b[2J\x1b]0;mine\x07\u202e'
"""What anybody may put into a name, a text or a transcript."""


@dataclass
class Answer:
    status: int
    headers: dict[str, str]
    text: str


@dataclass
class Site:
    cli: Cli
    address: str
    links: list[str] = field(default_factory=list)
    came: threading.Condition = field(default_factory=threading.Condition)

    def link(self) -> str:
        """A link that nobody has used. After its use the next one is printed."""
        with self.came:
            assert self.came.wait_for(lambda: bool(self.links), 10)
            return self.links.pop()

    def write(self, work: Callable[[SqlStore, Instant], Coroutine[Any, Any, Any]], *, poke: bool = True) -> Any:
        """Change the store as a command does, and tell the daemon."""
        from nudge.daemon.control_client import poke as tell
        from nudge.home.folder import Home

        async def written() -> Any:
            store = open_sqlite(str(self.cli.home / "nudge.db"))
            try:
                return await work(store, SystemClock().now())
            finally:
                await store.close()

        with ThreadPoolExecutor(1) as other:  # the browser's loop runs in this thread
            result = other.submit(asyncio.run, written()).result()
        if poke:
            tell(Home(self.cli.home).socket)
        return result

    def request(
        self, method: str, path: str, *, cookie: str = "", body: str | bytes | None = None, **headers: str
    ) -> Answer:
        """One request as a program makes it; names of headers are written with underscores."""
        parts = urlsplit(self.address)
        connection = http.client.HTTPConnection(parts.hostname or "", parts.port or 0, timeout=20)
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        if cookie:
            sent["Cookie"] = f"nudge={cookie}"
        if body is not None:
            sent.setdefault("Content-Type", "application/x-www-form-urlencoded")
        try:
            connection.request(method, path, body=body, headers=sent)
            answer = connection.getresponse()
            found = dict(answer.getheaders())
            return Answer(answer.status, {k.lower(): v for k, v in found.items()}, answer.read().decode())
        finally:
            connection.close()

    def enter(self) -> str:
        """The cookie that a link becomes."""
        link = urlsplit(self.link())
        answer = self.request("GET", f"{link.path}?{link.query}")
        assert answer.status == 303
        return SimpleCookie(answer.headers["set-cookie"])["nudge"].value

    def post(self, path: str, fields: dict[str, str], *, cookie: str, **headers: str) -> Answer:
        return self.request("POST", path, cookie=cookie, body=urlencode(fields), **{"Origin": self.address, **headers})


@contextmanager
def started(home: Path, environment: Mapping[str, str] | None = None) -> Iterator[Site]:
    cli = Cli(home, environment)
    cli("init")
    with cli.start(), _web(cli) as web:
        assert web.stdout is not None
        first = web.stdout.readline().strip()
        parts = urlsplit(first)
        site = Site(cli, f"{parts.scheme}://{parts.netloc}", [first])

        def collect() -> None:
            assert web.stdout is not None
            for line in web.stdout:
                with site.came:
                    site.links[:] = [line.strip()]
                    site.came.notify_all()

        reader = threading.Thread(target=collect, daemon=True)
        reader.start()
        try:
            yield site
        finally:
            web.terminate()
            web.wait(10)
            reader.join(5)


def _web(cli: Cli) -> subprocess.Popen[str]:
    return subprocess.Popen([*NUDGE, "web", "--port", "0"], env=cli.environment, stdout=subprocess.PIPE, text=True)


async def demo(store: SqlStore, now: Instant) -> None:
    """A worker with hostile names, outcomes of every kind, a session with a transcript, and an exceeded budget."""
    from nudge.model import Role, ToolResult, ToolUse, Turn, turn_to_json, user
    from nudge.progress.store import Session, SessionStatus

    await store.agents.ensure(Agent("builder", "coach", now))
    for number, result in enumerate(Result):
        detail = {"name": f"{HOSTILE} {number}", "rule": "quiet"}
        at = Instant(now - number * 3 * 3600 * SECOND)
        await store.outcomes.record(
            Outcome("coach", f"heartbeat:{number}", "heartbeat", at, at, result, HOSTILE, detail)
        )
    await store.feed.add(FeedLine(now, "coach", "note", HOSTILE))
    turns = [
        user(HOSTILE),
        Turn(Role.ASSISTANT, (ToolUse("t1", "bash", {"command": HOSTILE}),)),
        Turn(Role.USER, (ToolResult("t1", HOSTILE, is_error=True),)),
    ]
    session = Session(
        "builder",
        "s-demo",
        iteration=1,
        said=3,
        last_task=HOSTILE,
        status=SessionStatus.STOPPED,
        report=HOSTILE,
        reason="It was stopped.",
        started_at=now,
        updated_at=now,
    )
    await store.sessions.save(session, 0, [turn_to_json(one) for one in turns])


async def ask_for_more(store: SqlStore, now: Instant, number: str = "more-1") -> None:
    """The dialog of a session that wants more budget."""
    question = Question(
        number,
        "coach",
        "s-demo",
        QuestionKind.EXTENSION,
        f"coach asks for 5,000 more tokens. {HOSTILE}",
        now,
        Instant(now + 60 * SECOND),
    )
    await store.questions.put(question)
