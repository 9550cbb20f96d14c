"""The web page: how fast a large home is shown, what open pages cost, and what a flood of events does to timers."""

from __future__ import annotations

import fcntl
import http.client
import os
import pty
import re
import sqlite3
import struct
import subprocess
import termios
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import cache
from http.cookies import SimpleCookie
from pathlib import Path
from urllib.parse import urlencode, urlsplit

from benchmarks.foundation import NUDGE, Environment
from benchmarks.measure import Row, compiled_copy, median, megabytes, percentile, running, say, scratch, until
from benchmarks.reminders import made_home

REMINDERS, OUTCOMES = 100_000, 1_000_000
PAGES = ("/", "/time", "/attention", "/money", "/sessions", "/why", "/coach")
STREAMS = 50
IDLE_SECONDS = 10
FLOOD_SECONDS, FLOOD_RATE = 5, 10_000
DUE = 20


def fill_outcomes(database: Path, count: int) -> None:
    """Outcomes of the last month, as many for each hour, newest last."""
    now = time.time_ns() // 1000
    connection = sqlite3.connect(database)
    connection.execute("PRAGMA synchronous = OFF")
    with connection:
        connection.execute(
            "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < :count) "
            "INSERT INTO outcomes (agent, key, kind, slot_at, at, result, reason, detail, final, revision) "
            "SELECT 'coach', 'heartbeat:' || (i % 1000), 'heartbeat', :now - (:count - i) * :step, "
            "  :now - (:count - i) * :step, CASE i % 3 WHEN 0 THEN 'fired' WHEN 1 THEN 'suppressed' ELSE 'silent' END, "
            "  'It fell in your quiet hours.', '{}', 1, i FROM n",
            {"count": count, "now": now, "step": 30 * 86_400_000_000 // count},
        )
    connection.execute("ANALYZE")
    connection.close()


class Visitor:
    """A browser's cookie, and requests with it."""

    def __init__(self, link: str) -> None:
        self._parts = urlsplit(link)
        answer = self._answer(f"{self._parts.path}?{self._parts.query}", "")
        self._cookie = SimpleCookie(answer[1]["set-cookie"])["nudge"].value

    def _answer(self, path: str, cookie: str) -> tuple[bytes, dict[str, str]]:
        connection = self.connected()
        connection.request("GET", path, headers={"Cookie": f"nudge={cookie}"} if cookie else {})
        answer = connection.getresponse()
        body, headers = answer.read(), {name.lower(): value for name, value in answer.getheaders()}
        connection.close()
        return body, headers

    def connected(self) -> http.client.HTTPConnection:
        return http.client.HTTPConnection(self._parts.hostname or "", self._parts.port or 0, timeout=60)

    def get(self, path: str) -> bytes:
        return self._answer(path, self._cookie)[0]

    def change(self, action: str, fields: dict[str, str], back: str) -> bytes:
        """Send a form as a page does, and load the page that it leads to."""
        form = urlencode({**fields, "csrf": self._csrf(), "back": back})
        connection = self.connected()
        headers = {
            "Cookie": f"nudge={self._cookie}",
            "Origin": f"{self._parts.scheme}://{self._parts.netloc}",
            "Content-Type": "application/x-www-form-urlencoded",
        }
        connection.request("POST", f"/do/{action}", body=form, headers=headers)
        answer = connection.getresponse()
        answer.read()
        connection.close()
        if answer.status != 303:
            raise RuntimeError(f"/do/{action} answered {answer.status}")
        return self.get(back)

    @cache  # noqa: B019  (one visitor, as long as the benchmark runs)
    def _csrf(self) -> str:
        found = re.search(r'name="csrf" value="([^"]+)"', self.get("/").decode())
        assert found is not None
        return found[1]

    def seconds(self, path: str, rounds: int = 15) -> list[float]:
        times = []
        for _ in range(rounds):
            started = time.perf_counter()
            self.get(path)
            times.append(time.perf_counter() - started)
        return times

    @contextmanager
    def stream(self) -> Iterator[http.client.HTTPResponse]:
        connection = self.connected()
        connection.request("GET", "/events", headers={"Cookie": f"nudge={self._cookie}"})
        answer = connection.getresponse()
        answer.readline()
        try:
            yield answer
        finally:
            connection.close()


def page_rows(visitor: Visitor) -> list[Row]:
    visitor.get("/")  # what is loaded once is loaded
    found = {path: visitor.seconds(path) for path in PAGES}
    size = sum(len(visitor.get(path)) for path in ("/", "/static/nudge.css", "/static/nudge.js"))
    large = f"{REMINDERS:,} reminders, {OUTCOMES:,} outcomes"
    others = ", ".join(f"{path[1:]} {median(times) * 1000:.0f}" for path, times in found.items() if path != "/")
    return [
        (f"first page, {large}", _milliseconds(found["/"]), "< 100 ms"),
        ("other pages, median in ms", others, "-"),
        ("first page with style and script", f"{size / 1000:.1f} kB", "< 60 kB"),
    ]


def interaction_rows(visitor: Visitor, home: Path) -> list[Row]:
    """A reminder is paused on its page and goes on again: from the tap to the page that says so."""
    from nudge.daemon.control_client import call
    from nudge.home.folder import Home

    one = call(Home(home).socket, "POST", "/do/add", {"words": "tap me tomorrow at noon"})["id"]
    times = []
    for turn in range(20):
        action, said = ("pause", b"Paused: tap me") if turn % 2 == 0 else ("resume", b"Resumed: tap me")
        started = time.perf_counter()
        page = visitor.change(action, {"id": one}, f"/time/{one}")
        times.append(time.perf_counter() - started)
        if said not in page:
            raise RuntimeError(f"the page does not say {said.decode()!r}")
    return [("a reminder is paused, until its page says so", _milliseconds(times), "< 50 ms")]


def paint_rows(environment: Environment) -> list[Row]:
    """The dashboard on a terminal of 80 by 24, from the start of its process to the first agent on the screen."""
    command = [*NUDGE, "tui"]
    times = [_painted(command, {**environment, "TERM": "xterm-256color"}) for _ in range(7)]
    return [("nudge tui, from its start to the first frame", _milliseconds(times), "< 500 ms")]


def _painted(command: list[str], environment: Environment) -> float:
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    started, seen = time.perf_counter(), b""
    process = subprocess.Popen(command, env=environment, stdin=theirs, stdout=theirs, stderr=theirs)
    os.close(theirs)
    try:
        while b"coach" not in seen:
            seen += os.read(ours, 65_536)
        return time.perf_counter() - started
    finally:
        process.kill()
        process.wait()
        os.close(ours)


def _milliseconds(times: list[float]) -> str:
    return f"{median(times) * 1000:.0f} ms, best {min(times) * 1000:.0f}"


def cpu(pids: list[int]) -> float:
    import psutil  # type: ignore[import-untyped]

    return float(sum(sum(psutil.Process(pid).cpu_times()[:2]) for pid in pids))


def stream_rows(visitor: Visitor, pids: list[int]) -> list[Row]:
    before = sum(megabytes(pid) for pid in pids)
    with ExitStack() as open_pages:
        for _ in range(STREAMS):
            open_pages.enter_context(visitor.stream())
        time.sleep(2)
        started = cpu(pids)
        time.sleep(IDLE_SECONDS)
        used = (cpu(pids) - started) / IDLE_SECONDS
        after = sum(megabytes(pid) for pid in pids)
    return [
        (f"{STREAMS} open pages, daemon and web together", f"{after - before:.1f} MB more", "< 20 MB"),
        ("their load while nothing happens", f"{used * 100:.2f} % of a core", "< 1 %"),
    ]


def flood(database: Path, poke: Callable[[], None]) -> float:
    """Write events at the rate for some seconds; how many a second it came to."""
    connection = sqlite3.connect(database, timeout=30)
    started, written, batch = time.perf_counter(), 0, FLOOD_RATE // 10
    while time.perf_counter() - started < FLOOD_SECONDS:
        now = time.time_ns() // 1000
        with connection:
            connection.executemany(
                "INSERT INTO feed (at, agent, kind, text) VALUES (?, 'coach', 'note', ?)",
                [(now, f"event {written + number}") for number in range(batch)],
            )
        written += batch
        poke()
        time.sleep(max(0.0, started + written / FLOOD_RATE - time.perf_counter()))
    taken = time.perf_counter() - started
    connection.close()
    return written / taken


def flood_rows(visitor: Visitor, home: Path) -> list[Row]:
    """Reminders that are due in the middle of a flood, while a page follows it."""
    from nudge.daemon.control_client import call
    from nudge.home.folder import Home

    socket, database = Home(home).socket, home / "nudge.db"

    def lags() -> list[float]:
        connection = sqlite3.connect(database, timeout=30)
        rows = connection.execute(
            "SELECT (at - slot_at) / 1e6 FROM outcomes WHERE kind = 'reminder' ORDER BY id DESC LIMIT ?", (DUE,)
        ).fetchall()
        connection.close()
        return [row[0] for row in rows]

    def due() -> None:
        for number in range(DUE):
            call(socket, "POST", "/do/add", {"words": f"bench {number} in {3 + number % 3} seconds"})

    def fired() -> bool:
        coming = call(socket, "POST", "/read/reminders", {"limit": DUE})["reminders"]
        return not any(one["message"].startswith("bench") for one in coming)

    due()
    until(fired, "the reminders fired without a flood", 60)
    alone = percentile(lags(), 0.95)
    with visitor.stream() as stream:
        reader = threading.Thread(target=lambda: _drain(stream), daemon=True)
        reader.start()
        due()
        rate = flood(database, lambda: call(socket, "POST", "/poke"))
        until(fired, "the reminders fired in the flood", 60)
    flooded = percentile(lags(), 0.95)
    return [
        (f"lag of reminders with {rate:,.0f} events a second", f"{flooded * 1000:.0f} ms, p95", "< 1 s"),
        ("the same without them", f"{alone * 1000:.0f} ms, p95", "-"),
    ]


def _drain(stream: http.client.HTTPResponse) -> None:
    try:
        while stream.read1(65_536):
            pass
    except (OSError, ValueError, AttributeError, http.client.HTTPException):
        return


def rows() -> list[Row]:
    with scratch() as folder:
        environment: Environment = compiled_copy(folder)
        say(f"{REMINDERS:,} reminders and {OUTCOMES:,} outcomes are written …")
        home = made_home(folder / "home", REMINDERS)
        fill_outcomes(home / "nudge.db", OUTCOMES)
        inside = {**environment, "NUDGE_HOME": str(home)}
        subprocess.run([*NUDGE, "init"], env=inside, capture_output=True, check=False)
        with running([*NUDGE, "run"], inside) as daemon:
            until(lambda: _answers(home), "the daemon answers", 60)
            with running([*NUDGE, "web", "--port", "0"], inside) as web:
                assert web.stdout is not None
                visitor = Visitor(web.stdout.readline().strip())
                found = page_rows(visitor) + interaction_rows(visitor, home) + paint_rows(inside)
                found += stream_rows(visitor, [daemon.pid, web.pid])
                return found + flood_rows(visitor, home)


def _answers(home: Path) -> bool:
    from nudge.daemon.control_client import call
    from nudge.errors import NudgeError
    from nudge.home.folder import Home

    try:
        call(Home(home).socket, "GET", "/status", timeout=2)
    except NudgeError:
        return False
    return True
