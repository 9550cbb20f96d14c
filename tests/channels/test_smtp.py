"""Mail against a real SMTP server on loopback, and alerts on their way there."""

from __future__ import annotations

import asyncio
import contextlib
import re
import socket
import ssl
import warnings
from collections.abc import Iterator
from dataclasses import replace
from email import message_from_bytes
from email.header import decode_header, make_header
from email.message import Message
from pathlib import Path
from typing import Any

import aiosmtpd
import pytest
from aiosmtpd.controller import Controller
from aiosmtpd.smtp import AuthResult, LoginPassword

from nudge.channels.smtp import SmtpMailer, SmtpServer, page_of
from nudge.clock import SystemClock
from nudge.errors import ChannelUnavailableError, NotConfiguredError
from nudge.palette import LIGHT
from nudge.queue.outcomes import Result
from nudge.spending.alerts import Alerts, Mail
from nudge.spending.governor import Spending
from nudge.stores.open import open_store
from tests.spending.kit import PricedModel, costs, dispatcher_of, feed, prepared, question, spending_on
from tests.times import NOON

CERTIFICATES = Path(aiosmtpd.__file__).parent / "tests" / "certs"
SECRET = "hunter2-very-secret"
MAIL = Mail("abc123", "Agent stopped — daily budget exceeded (coach)", "Budget: 112% used.", NOON)


class Mailbox:
    def __init__(self) -> None:
        self.letters: list[Message] = []
        self.refuse = ""

    async def handle_DATA(self, server: Any, session: Any, envelope: Any) -> str:  # noqa: N802
        if self.refuse:
            return self.refuse
        self.letters.append(message_from_bytes(envelope.content))
        return "250 OK"


def trusting() -> ssl.SSLContext:
    """Trusts the test server's certificate, which is for no host in particular."""
    context = ssl.create_default_context(cafile=str(CERTIFICATES / "server.crt"))
    context.check_hostname = False
    return context


def check(server: Any, session: Any, envelope: Any, mechanism: str, auth: Any) -> AuthResult:
    right = isinstance(auth, LoginPassword) and (auth.login, auth.password) == (b"me@example.com", SECRET.encode())
    return AuthResult(success=right, handled=False)


@contextlib.contextmanager
def serving(mailbox: Mailbox, *, tls: str = "", auth: bool = False) -> Iterator[int]:
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(CERTIFICATES / "server.crt", CERTIFICATES / "server.key")
    options: dict[str, Any] = {"authenticator": check, "auth_required": True} if auth else {}
    if tls == "starttls":
        options |= {"tls_context": context, "require_starttls": True}
    elif auth:
        options["auth_require_tls"] = False
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = int(probe.getsockname()[1])
    ssl_context = context if tls == "smtps" else None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it warns of passwords without TLS, for every connection
        controller = Controller(mailbox, hostname="127.0.0.1", port=port, ssl_context=ssl_context, **options)
        controller.start()
        try:
            yield port
        finally:
            controller.stop()


def server(port: int, scheme: str = "smtp", credentials: str = "") -> SmtpServer:
    return SmtpServer.parse(f"{scheme}://{credentials}127.0.0.1:{port}?from=nudge@example.com", "me@example.com")


@pytest.mark.parametrize(
    ("tls", "scheme", "auth"),
    [
        pytest.param("", "smtp", False, id="plain on loopback"),
        pytest.param("", "smtp", True, id="a password on loopback"),
        pytest.param("starttls", "smtp", True, id="starttls with a password"),
        pytest.param("smtps", "smtps", False, id="tls from the start"),
    ],
)
async def test_a_mail_arrives(tls: str, scheme: str, auth: bool) -> None:
    mailbox = Mailbox()
    with serving(mailbox, tls=tls, auth=auth) as port:
        credentials = f"me%40example.com:{SECRET}@" if auth else ""
        await SmtpMailer(server(port, scheme, credentials), tls=trusting(), timeout=5).send(MAIL)
    (letter,) = mailbox.letters
    assert str(make_header(decode_header(letter["Subject"]))) == MAIL.subject
    assert (letter["From"], letter["To"]) == ("nudge@example.com", "me@example.com")
    assert (letter["Message-ID"], letter["Date"]) == ("<abc123@nudge>", "Wed, 18 Feb 2026 17:00:00 +0000")
    assert letter.get_content_type() == "multipart/alternative"
    text, page = letter.get_payload()
    assert (text.get_content_type(), page.get_content_type()) == ("text/plain", "text/html")
    assert text.get_payload(decode=True).decode().strip() == MAIL.text.strip()
    assert "112%" in page.get_payload(decode=True).decode()


def test_the_page_of_a_mail_has_our_look_and_nothing_from_outside() -> None:
    evil = replace(MAIL, subject="<script>boo</script>", text='one <img src="http://x">\x1b[2J\n\ntwo\nlines')
    page = page_of(evil)
    assert LIGHT["bad"] in page
    assert ">nudge</p>" in page
    assert "two<br>lines" in page
    assert not re.search(r"<(script|img|link|style)\b|\bsrc=\"|url\(|\x1b", page)


@pytest.mark.parametrize(
    ("said", "error"),
    [("451 try later", ChannelUnavailableError), (f"554 no: {SECRET}", NotConfiguredError)],
    ids=["for now", "for good"],
)
async def test_a_refusal_says_why_and_no_secret(said: str, error: type[Exception]) -> None:
    mailbox = Mailbox()
    mailbox.refuse = said
    with serving(mailbox, auth=True) as port:
        mailer = SmtpMailer(server(port, credentials=f"me%40example.com:{SECRET}@"), timeout=5)
        with pytest.raises(error, match=said[:3]) as raised:
            await mailer.send(MAIL)
    assert SECRET not in f"{raised.value} {mailer!r} {raised.value.__context__}"


async def test_a_subject_stays_one_header() -> None:
    mailbox = Mailbox()
    evil = replace(MAIL, subject="Stopped\nBcc: all@example.com\n\nboo", text="Hi\r\n.\r\nMAIL FROM:<x@y.z>")
    with serving(mailbox) as port:
        await SmtpMailer(server(port), timeout=5).send(evil)
    (letter,) = mailbox.letters
    assert (letter["Bcc"], letter["Subject"]) == (None, "Stopped Bcc: all@example.com boo")


@pytest.mark.parametrize(
    "wrong", [{"password": "pässwort", "user": "me@example.com"}, {"sender": "a\nBcc: ä"}], ids=["letters", "a header"]
)
async def test_what_mail_cannot_carry_is_said_and_not_shown(wrong: dict[str, str]) -> None:
    with serving(Mailbox(), auth="user" in wrong) as port:
        mailer = SmtpMailer(replace(server(port), **wrong), timeout=5)  # type: ignore[arg-type]
        with pytest.raises(NotConfiguredError, match="characters") as raised:
            await mailer.send(MAIL)
    assert "ä" not in f"{raised.value} {raised.value.__context__}"


async def test_a_wrong_password_an_untrusted_certificate_and_nobody_there() -> None:
    mailbox = Mailbox()
    with serving(mailbox, tls="starttls", auth=True) as port:
        with pytest.raises(NotConfiguredError, match="user name and password"):
            wrong = server(port, credentials="me%40example.com:wrong-one@")
            await SmtpMailer(wrong, tls=trusting(), timeout=5).send(MAIL)
        with pytest.raises(NotConfiguredError, match="not trusted"):
            await SmtpMailer(server(port), tls=ssl.create_default_context()).send(MAIL)
    with pytest.raises(ChannelUnavailableError, match="did not answer"):
        await SmtpMailer(server(port), timeout=2).send(MAIL)


async def test_a_password_is_not_sent_in_the_clear_beyond_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    real = socket.create_connection

    def here(address: tuple[str, int], *rest: Any) -> socket.socket:
        return real(("127.0.0.1", address[1]), *rest)

    monkeypatch.setattr(socket, "create_connection", here)
    with serving(Mailbox(), auth=True) as port:
        mailer = SmtpMailer(SmtpServer.parse(f"smtp://me%40example.com:{SECRET}@mail.example.com:{port}"))
        with pytest.raises(NotConfiguredError, match="no encryption"):
            await mailer.send(MAIL)


@pytest.mark.parametrize(
    ("url", "to", "expected"),
    [
        pytest.param("smtps://a%40b.c:p@h", "", ("h", 465, True, "a@b.c", "a@b.c"), id="an address as the user"),
        pytest.param("smtp://h?to=x@y.z", "", ("h", 587, False, "x@y.z", "x@y.z"), id="whom in the url"),
        pytest.param("smtp://h:25?from=f@y.z", "x@y.z", ("h", 25, False, "f@y.z", "x@y.z"), id="whom in the config"),
    ],
)
def test_what_a_url_says(url: str, to: str, expected: tuple[Any, ...]) -> None:
    found = SmtpServer.parse(url, to)
    assert (found.host, found.port, found.secure, found.sender, found.to) == expected


@pytest.mark.parametrize("url", ["http://h", "smtp://", "smtp://h:99999", f"smtp://user:{SECRET}@h", "nonsense"])
def test_a_url_that_means_nothing_is_refused_without_showing_it(url: str) -> None:
    with pytest.raises(NotConfiguredError) as raised:
        SmtpServer.parse(url)
    assert SECRET not in str(raised.value)


def test_no_url_means_no_mail() -> None:
    assert SmtpMailer.from_settings({}) is None
    mailer = SmtpMailer.from_settings({"NUDGE_SMTP_URL": f"smtp://me%40x.y:{SECRET}@h"})
    assert mailer is not None
    assert SECRET not in repr(SmtpServer.parse(f"smtp://me%40x.y:{SECRET}@h"))


async def run_until_quiet(spending: Spending, store: Any, alerts: Alerts) -> None:
    dispatcher = dispatcher_of(spending, store, SystemClock(), mail=alerts.mail)
    running = asyncio.create_task(dispatcher.run())
    async with asyncio.timeout(20):
        while await store.timers.of_agent("coach", prefix="mail:"):
            await asyncio.sleep(0.01)
    dispatcher.stop()
    await running


async def test_an_exceeded_budget_is_mailed_once_for_each_incident() -> None:
    store = await open_store("sqlite://:memory:")
    await prepared(store)
    clock, mailbox = SystemClock(), Mailbox()
    spending = spending_on(store, clock, 30_000_000, PricedModel(costs(1_300_000)))
    with serving(mailbox) as port:
        alerts = Alerts(SmtpMailer(server(port)))
        with contextlib.suppress(Exception):
            await asyncio.gather(*(spending.call("coach", question()) for _ in range(3)))
        await run_until_quiet(spending, store, alerts)
        assert len(mailbox.letters) == 1
        assert not any("$" in part.get_payload(decode=True).decode() for part in mailbox.letters[0].get_payload())
        await spending.budgets.top_up("coach", 30, clock.now())
        spending._model = PricedModel(costs(9_000_000))
        await spending.call("coach", question())
        await run_until_quiet(spending, store, alerts)
    assert len(mailbox.letters) == 2
    assert mailbox.letters[0]["Message-ID"] != mailbox.letters[1]["Message-ID"]
    assert await feed(store, "budget_exceeded") == ["Agent stopped — daily budget exceeded"] * 2
    await store.close()


def test_a_mail_is_tried_again_and_given_up_after_a_day(in_store: Any) -> None:
    async def scenario(clock: Any, store: Any) -> None:
        await prepared(store, "coach", "worker")

        class Away:
            tries = 0

            async def send(self, mail: Mail) -> None:
                self.tries += 1
                if self.tries < 3 or mail.subject.endswith("(worker)"):
                    raise ChannelUnavailableError("away")

        away = Away()
        spending = spending_on(store, clock, 30_000, PricedModel(costs(5_000)))
        await spending.call("coach", question(500))
        dispatcher = dispatcher_of(spending, store, clock, mail=Alerts(away).mail)
        running = asyncio.create_task(dispatcher.run())
        await clock.sleep(60)
        assert away.tries == 3
        (row,) = await store.outcomes.recent(kind="mail")
        assert row.result is Result.FIRED
        await spending.call("worker", question(500))
        dispatcher.poke()
        await clock.sleep(26 * 3600)
        row = (await store.outcomes.recent(agent="worker", kind="mail"))[0]
        assert (row.result, row.final) == (Result.FAILED, True)
        assert (await feed(store, "failed"))[-1].startswith("⚠️ Could not send the mail “Agent stopped")
        dispatcher.stop()
        await running

    in_store(scenario)


def test_without_a_mail_server_the_outcome_says_so(in_store: Any) -> None:
    async def scenario(clock: Any, store: Any) -> None:
        await prepared(store)
        spending = spending_on(store, clock, 30_000, PricedModel(costs(5_000)))
        await spending.call("coach", question(500))
        dispatcher = dispatcher_of(spending, store, clock, mail=Alerts().mail)
        running = asyncio.create_task(dispatcher.run())
        await clock.sleep(1)
        (row,) = await store.outcomes.recent(kind="mail")
        assert (row.result, "NUDGE_SMTP_URL" in row.reason) == (Result.SKIPPED, True)
        dispatcher.stop()
        await running

    in_store(scenario)
