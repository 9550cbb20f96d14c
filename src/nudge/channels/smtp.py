"""The Mailer port over SMTP: the standard library's client, in a thread.

`NUDGE_SMTP_URL` is `smtps://user:password@host` (TLS from the start) or `smtp://…` (STARTTLS where the server has it).
`?from=` and `?to=` name the addresses; the default is the user name, if that is an address. The URL and its password
never appear in an error.
"""

from __future__ import annotations

import asyncio
import ipaddress
import smtplib
import socket
import ssl
from collections.abc import Mapping
from dataclasses import dataclass, field
from email.message import EmailMessage
from email.utils import format_datetime
from html import escape
from urllib.parse import parse_qs, unquote, urlsplit

from nudge.errors import ChannelUnavailableError, NotConfiguredError, NudgeError
from nudge.instants import to_datetime
from nudge.palette import LIGHT, Tone
from nudge.redaction import redact
from nudge.spending.alerts import Mail
from nudge.text import plain, short

TIMEOUT_SECONDS = 30.0
_LONGEST_SUBJECT = 200
_PORTS = {"smtp": 587, "smtps": 465}
_STEP = "Write NUDGE_SMTP_URL like smtps://user:password@mail.example.com?to=you@example.com."


@dataclass(frozen=True, slots=True)
class SmtpServer:
    """The mail server and the sender. Its repr hides the password."""

    host: str
    port: int
    secure: bool
    sender: str
    to: str
    user: str = ""
    password: str = field(default="", repr=False)

    @classmethod
    def parse(cls, url: str, to: str = "") -> SmtpServer:
        """Read the URL. `to` from the configuration comes before the URL's own."""
        try:
            parts = urlsplit(url)
            port = parts.port
        except ValueError:
            raise NotConfiguredError("NUDGE_SMTP_URL is not a URL.", next_step=_STEP) from None
        if parts.scheme not in _PORTS or not parts.hostname:
            raise NotConfiguredError("NUDGE_SMTP_URL does not name a mail server.", next_step=_STEP)
        told = {name: values[-1] for name, values in parse_qs(parts.query).items()}
        user = unquote(parts.username or "")
        own = user if "@" in user else ""
        recipient = to or told.get("to", own)
        if not recipient:
            raise NotConfiguredError(
                "No recipient for alerts.", next_step="Set alert_to under [spending] in nudge.toml."
            )
        return cls(
            host=parts.hostname,
            port=port or _PORTS[parts.scheme],
            secure=parts.scheme == "smtps",
            sender=told.get("from", own) or recipient,
            to=recipient,
            user=user,
            password=unquote(parts.password or ""),
        )


class SmtpMailer:
    def __init__(
        self, server: SmtpServer, *, tls: ssl.SSLContext | None = None, timeout: float = TIMEOUT_SECONDS
    ) -> None:
        self._server = server
        self._tls = tls
        self._timeout = timeout

    @classmethod
    def from_settings(cls, environment: Mapping[str, str], alert_to: str = "") -> SmtpMailer | None:
        """None where NUDGE_SMTP_URL is not set."""
        url = environment.get("NUDGE_SMTP_URL", "").strip()
        return cls(SmtpServer.parse(url, alert_to.strip())) if url else None

    async def send(self, mail: Mail) -> None:
        failure = await asyncio.to_thread(self._try, mail)
        if failure is not None:
            raise failure

    def _try(self, mail: Mail) -> NudgeError | None:
        """Returns the failure: what the client raised holds credentials, so it must not become the cause of ours."""
        server = self._server
        try:
            with self._connected() as client:
                if server.user:
                    client.login(server.user, server.password)
                client.send_message(_message(mail, server))
        except NotConfiguredError as error:
            return error
        except smtplib.SMTPAuthenticationError:
            return NotConfiguredError("The mail server does not accept the user name and password.", next_step=_STEP)
        except smtplib.SMTPRecipientsRefused as error:
            code, words = next(iter(error.recipients.values()))
            return self._refused(code, words)
        except smtplib.SMTPResponseException as error:
            return self._refused(error.smtp_code, error.smtp_error)
        except ssl.SSLError:
            return NotConfiguredError("The mail server's TLS certificate is not trusted here.", next_step=_STEP)
        except (OSError, smtplib.SMTPException):
            return ChannelUnavailableError("The mail server did not answer.")
        except ValueError:  # other letters than ASCII in a password, a line break in an address
            return NotConfiguredError("NUDGE_SMTP_URL has characters that no mail can be sent with.", next_step=_STEP)
        return None

    def _connected(self) -> smtplib.SMTP:
        server = self._server
        name = socket.gethostname()
        if server.secure:
            return smtplib.SMTP_SSL(
                server.host, server.port, local_hostname=name, timeout=self._timeout, context=self._context()
            )
        client = smtplib.SMTP(server.host, server.port, local_hostname=name, timeout=self._timeout)
        try:
            client.ehlo()
            if client.has_extn("starttls"):
                client.starttls(context=self._context())
                client.ehlo()
            elif server.user and not _is_here(server.host):
                raise NotConfiguredError(
                    "The mail server offers no encryption, and nudge does not send a password without it.",
                    next_step=_STEP,
                )
        except BaseException:
            client.close()
            raise
        return client

    def _context(self) -> ssl.SSLContext:
        if self._tls is None:
            from nudge.tls import tls_context

            self._tls = tls_context()
        return self._tls

    def _refused(self, code: int, words: bytes | str) -> NudgeError:
        said = words.decode("utf-8", "replace") if isinstance(words, bytes) else words
        said = redact(said, (self._server.password,))[:200].strip()  # cut last: half a password has no shape
        text = f"The mail server refused ({code} {said})."
        return ChannelUnavailableError(text) if code < 500 else NotConfiguredError(text, next_step=_STEP)


def _message(mail: Mail, server: SmtpServer) -> EmailMessage:
    message = EmailMessage()
    message["From"] = server.sender
    message["To"] = server.to
    message["Subject"] = short(plain(mail.subject), _LONGEST_SUBJECT)
    message["Date"] = format_datetime(to_datetime(mail.at))
    message["Message-ID"] = f"<{mail.id}@nudge>"
    message.set_content(mail.text)
    message.add_alternative(page_of(mail), subtype="html")
    return message


def page_of(mail: Mail) -> str:
    """The same words in the look of the web page. The styles are inline and nothing is loaded: a mail program may drop
    style sheets, and a picture from outside would tell when it is read."""
    block = f"margin:0;padding:14px 20px;border-bottom:1px solid {LIGHT['line']}"
    paragraphs = [part.strip() for part in mail.text.split("\n\n") if part.strip()]
    red = f"background:{LIGHT[Tone.BAD]};color:{LIGHT['on-bad']}"
    parts = [
        f'<p style="{block};font-size:18px;font-weight:700">nudge</p>',
        f'<h1 style="{block};{red};font-size:17px">{_safe(mail.subject)}</h1>',
        *(f'<p style="margin:0;padding:14px 20px">{_safe(part)}</p>' for part in paragraphs),
    ]
    card = (
        f"max-width:560px;margin:0 auto;background:{LIGHT['card']};border:1px solid {LIGHT['line']};border-radius:14px"
    )
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="color-scheme" content="light"></head>'
        f'<body style="margin:0;padding:24px 12px;background:{LIGHT["page"]};color:{LIGHT["ink"]};'
        f'font:15px/1.5 system-ui,-apple-system,Segoe UI,Roboto,sans-serif"><div style="{card}">'
        f"{''.join(parts)}</div></body></html>\n"
    )


def _safe(text: str) -> str:
    return escape(plain(text)).replace("\n", "<br>")


def _is_here(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
