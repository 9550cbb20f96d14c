"""Who may not see the page, and what may not be done with it."""

from __future__ import annotations

import re
import socket
import threading
import time
from urllib.parse import urlsplit

import pytest

from nudge.daemon.control_client import call
from nudge.home.folder import Home
from nudge.instants import Instant
from nudge.stores.store import SqlStore
from nudge.web.access import MOST_SESSIONS, Visitors
from nudge.web.app import ACTIONS
from tests.web.site import Site

pytestmark = [pytest.mark.process, pytest.mark.slow]


@pytest.fixture(scope="module")
def cookie(site: Site) -> str:
    return site.enter()


@pytest.fixture(scope="module")
def csrf(site: Site, cookie: str) -> str:
    found = re.search(r'data-csrf="([^"]+)"', site.request("GET", "/", cookie=cookie).text)
    assert found
    return found[1]


def reminders(site: Site) -> int:
    return len(call(Home(site.cli.home).socket, "POST", "/read/reminders", {})["reminders"])


def test_a_link_works_once(site: Site) -> None:
    link = urlsplit(site.link())
    assert site.request("GET", f"{link.path}?{link.query}").status == 303
    assert site.request("GET", f"{link.path}?{link.query}").status == 403


def test_the_cookie_is_kept_from_scripts_and_other_sites(site: Site) -> None:
    link = urlsplit(site.link())
    given = site.request("GET", f"{link.path}?{link.query}").headers["set-cookie"].lower()
    assert "httponly" in given
    assert "samesite=strict" in given


@pytest.mark.parametrize(
    "forged", ["", "x", "a" * 43, "../../etc/passwd", "nudge=nudge", "\u00e9"], ids=lambda value: f"cookie {value!r}"
)
@pytest.mark.parametrize("path", ["/", "/time", "/coach", "/events", "/why/1", "/nothing"])
def test_nobody_sees_anything_without_a_cookie_of_ours(site: Site, forged: str, path: str) -> None:
    answer = site.request("GET", path, cookie=forged.encode("utf-8").decode("latin-1"))
    assert answer.status == 403
    assert "Reminder" not in answer.text


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:80", "127.0.0.1", "localhost:1", "127.0.0.1.evil.example", ""]
)
def test_a_name_that_was_pointed_at_us_is_refused(site: Site, cookie: str, host: str) -> None:
    assert site.request("GET", "/", cookie=cookie, Host=host).status in (400, 421)


OTHERS = {
    "a form of another site": {"Origin": "http://evil.example"},
    "another port of this machine": {"Origin": "http://127.0.0.1:1"},
    "a sandboxed frame": {"Origin": "null"},
    "another site by its own account": {"Sec_Fetch_Site": "cross-site"},
    "a page beside ours": {"Sec_Fetch_Site": "same-site"},
    "a name that contains ours": {"Origin": "http://127.0.0.1.evil.example"},
}


@pytest.mark.parametrize("headers", OTHERS.values(), ids=OTHERS.keys())
def test_a_write_from_elsewhere_is_refused_and_changes_nothing(
    site: Site, cookie: str, csrf: str, headers: dict[str, str]
) -> None:
    before = reminders(site)
    answer = site.post("/do/add", {"csrf": csrf, "words": "steal the show tomorrow 5pm"}, cookie=cookie, **headers)
    assert answer.status == 403
    assert reminders(site) == before


def test_a_write_without_an_origin_is_refused(site: Site, cookie: str, csrf: str) -> None:
    assert site.request("POST", "/do/add", cookie=cookie, body=f"csrf={csrf}&words=x+tomorrow+5pm").status == 403


@pytest.mark.parametrize("token", ["", "x", "a" * 43])
def test_a_write_without_the_page_s_token_is_refused(site: Site, cookie: str, token: str) -> None:
    before = reminders(site)
    assert site.post("/do/add", {"csrf": token, "words": "x tomorrow 5pm"}, cookie=cookie).status == 403
    assert reminders(site) == before


def test_a_write_by_a_page_of_ours_is_done(site: Site, cookie: str, csrf: str) -> None:
    before = reminders(site)
    answer = site.post("/do/add", {"csrf": csrf, "words": "tidy up tomorrow 5pm", "back": "/time"}, cookie=cookie)
    assert (answer.status, answer.headers["location"]) == (303, "/time")
    assert reminders(site) == before + 1


@pytest.mark.parametrize(
    "back", ["//evil.example", "http://evil.example", "/\\evil.example", "javascript:alert(1)", "/\r\nX: y"]
)
def test_the_way_back_never_leads_elsewhere(site: Site, cookie: str, csrf: str, back: str) -> None:
    answer = site.post("/do/quiet", {"csrf": csrf, "for": "off", "back": back}, cookie=cookie)
    assert answer.headers["location"] == "/"


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE"])
def test_nothing_is_done_by_any_other_method(site: Site, cookie: str, method: str) -> None:
    assert site.request(method, "/do/quiet", cookie=cookie).status in (404, 405)


@pytest.mark.parametrize("action", list(ACTIONS))
def test_a_form_without_its_fields_changes_nothing_and_says_so(site: Site, cookie: str, csrf: str, action: str) -> None:
    before = reminders(site)
    answer = site.post(f"/do/{action}", {"csrf": csrf, "check": "1"}, cookie=cookie)
    assert (answer.status, reminders(site)) == (303, before)


def test_what_is_no_action_is_not_done(site: Site, cookie: str, csrf: str) -> None:
    assert site.post("/do/stop", {"csrf": csrf}, cookie=cookie).status == 404
    assert site.post("/do/..%2Fstop", {"csrf": csrf}, cookie=cookie).status == 404


@pytest.mark.parametrize(
    "path", ["/", "/time", "/static/nudge.css", "/enter?token=x", "/nothing", "/events?after=nonsense"]
)
def test_every_answer_says_what_a_browser_may_do(site: Site, cookie: str, path: str) -> None:
    headers = site.request("GET", path, cookie=cookie).headers
    policy = headers["content-security-policy"]
    assert "frame-ancestors 'none'" in policy
    assert "unsafe" not in policy
    assert headers["x-frame-options"] == "DENY"
    assert headers["x-content-type-options"] == "nosniff"


def test_a_body_that_is_too_long_is_refused(site: Site, cookie: str, csrf: str) -> None:
    assert site.post("/do/add", {"csrf": csrf, "words": "x" * 200_000}, cookie=cookie).status == 413
    many = {"csrf": csrf, **{f"f{number}": "x" for number in range(100)}}
    assert site.post("/do/add", many, cookie=cookie).status == 403


def test_slow_clients_do_not_keep_others_waiting(site: Site, cookie: str) -> None:
    parts = urlsplit(site.address)
    held = [socket.create_connection((parts.hostname or "", parts.port or 0)) for _ in range(50)]
    try:
        for one in held:
            one.sendall(b"GET / HTTP/1.1\r\nHost: ")
        before = time.perf_counter()  # noqa: TID251
        assert site.request("GET", "/", cookie=cookie).status == 200
        assert time.perf_counter() - before < 2  # noqa: TID251
    finally:
        for one in held:
            one.close()


def test_streams_that_nobody_reads_do_not_keep_the_daemon_waiting(site: Site, cookie: str) -> None:
    parts = urlsplit(site.address)
    held = [socket.create_connection((parts.hostname or "", parts.port or 0)) for _ in range(20)]
    try:
        for one in held:
            head = f"GET /events HTTP/1.1\r\nHost: {parts.netloc}\r\nCookie: nudge={cookie}\r\n\r\n"
            one.sendall(head.encode())
        done = threading.Event()

        def flood() -> None:
            for number in range(20):
                call(Home(site.cli.home).socket, "POST", "/do/quiet", {"for": "off" if number % 2 else "2h"})
            done.set()

        threading.Thread(target=flood, daemon=True).start()
        assert done.wait(10)
        assert site.request("GET", "/", cookie=cookie).status == 200
    finally:
        for one in held:
            one.close()


@pytest.mark.parametrize(
    "words, hosts",
    [((), True), (("--host", "0.0.0.0"), False)],
    ids=["this machine alone is the default", "other machines need a name"],
)
def test_other_machines_are_let_in_only_by_name(site: Site, words: tuple[str, ...], hosts: bool) -> None:
    if not hosts:
        assert "other machines" in site.cli("web", "--port", "0", *words, code=2).stderr
    else:
        assert urlsplit(site.address).hostname == "127.0.0.1"


def test_a_stolen_cookie_ends_with_the_process_and_the_oldest_end_first() -> None:
    before = Visitors()
    cookies = [before.enter(before.new_link()) or "" for _ in range(MOST_SESSIONS + 1)]
    assert before.of(cookies[0]) is None
    assert before.of(cookies[-1]) is not None
    assert Visitors().of(cookies[-1]) is None


def test_ten_thousand_events_are_harmless_and_reminders_keep_their_time(site: Site, cookie: str) -> None:
    """They are written at once while pages follow. What is due in the middle of it fires on time."""
    parts = urlsplit(site.address)
    held = [socket.create_connection((parts.hostname or "", parts.port or 0)) for _ in range(5)]
    home = Home(site.cli.home)
    try:
        for one in held:
            one.sendall(f"GET /events HTTP/1.1\r\nHost: {parts.netloc}\r\nCookie: nudge={cookie}\r\n\r\n".encode())
        added = call(home.socket, "POST", "/do/add", {"words": "look up in 2 seconds"})

        async def flood(store: SqlStore, now: Instant) -> None:
            lines = [{"at": now, "agent": "coach", "kind": "note", "text": f"event {n}"} for n in range(10_000)]
            async with store.transaction():
                await store.database.run_many("feed_add", lines)

        site.write(flood)
        assert site.request("GET", "/", cookie=cookie).status == 200
        end = time.monotonic() + 20  # noqa: TID251
        history: list[dict[str, str]] = []
        while not history and time.monotonic() < end:  # noqa: TID251
            history = call(home.socket, "POST", "/read/reminder", {"id": added["id"]})["history"]
        assert [one["result"] for one in history] == ["fired"]
    finally:
        for one in held:
            one.close()
