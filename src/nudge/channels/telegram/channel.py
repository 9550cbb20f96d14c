"""The person's Telegram chat as their channel."""

from __future__ import annotations

import hmac
import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from nudge.backoff import RetryClock
from nudge.channels import Setup
from nudge.channels.telegram.client import PUBLIC_API, TOKEN_STEP, BadRequestError, ConflictError, TelegramClient
from nudge.channels.telegram.poller import LONG_POLL_SECONDS, STALL_MARGIN_SECONDS, Poller
from nudge.channels.telegram.richtext import RichText, parse_markdown, utf16_before
from nudge.channels.telegram.splitting import LIMIT, split
from nudge.channels.telegram.updates import ALLOWED_UPDATES, Cursor, Refused
from nudge.errors import ChannelUnavailableError, NotConfiguredError, UsageError
from nudge.queue.channel import REPEAT_MARK, Button, Capabilities, Channel, Inbound, Outbound, Receipt, Updates
from nudge.queue.pairing import Pairs

SEND_SECONDS = 30.0
BUTTON_DATA_BYTES = 64
BUTTONS_IN_A_ROW = 3
_CALLBACK_ANSWER_CHARACTERS = 100  # 200 code units are allowed, and a character may take two


class TelegramChannel(Channel):
    """Sends to one person and hears from the allowed accounts, which are the person's own.

    Sending and polling have separate connections, so that cutting a dead poll cuts no message.

    >>> TelegramChannel("1:x", person=7, clock=None)
    TelegramChannel(person=7)
    """

    name = "telegram"
    capabilities = Capabilities(listens=True, buttons=True, formatting=True, typing=True, longest_message=LIMIT)

    def __init__(
        self,
        token: str,
        *,
        person: int,
        clock: RetryClock,
        allowed: Iterable[int] = (),
        api_base: str = PUBLIC_API,
        long_poll: float = LONG_POLL_SECONDS,
        stall_margin: float = STALL_MARGIN_SECONDS,
        pairs: Pairs | None = None,
    ) -> None:
        """`pairs` says which stranger becomes the person, by the code that they sent."""
        self._person = person
        self._outgoing = TelegramClient(token, api_base=api_base)
        self._polling = TelegramClient(token, api_base=api_base)
        self._bot = int(token.partition(":")[0])
        self._pairs = pairs
        self._secret = hmac.new(token.encode(), b"webhook", "sha256").hexdigest()  # every worker knows the same
        everybody = frozenset({person, *allowed})
        self._poller = Poller(
            self._polling,
            clock,
            everybody,
            stranger=self._pair if pairs else None,
            long_poll=long_poll,
            margin=stall_margin,
        )

    def __repr__(self) -> str:
        return f"TelegramChannel(person={self._person})"

    async def _pair(self, user: int, words: str) -> bool:
        """Whether this stranger is the person from now on."""
        assert self._pairs is not None
        if not await self._pairs.offer(words, str(user)):
            return False
        self._person = user
        await self._pairs.accepted(str(user))
        return True

    @property
    def refused(self) -> Counter[Refused]:
        """Updates that were not handed on since the start, by reason."""
        return self._poller.refused.copy()

    @property
    def stalls(self) -> int:
        """Polls that went dead and were restarted since the start."""
        return self._poller.stalls

    async def send(self, message: Outbound) -> Receipt:
        if not message.text.strip():
            raise UsageError("An empty message cannot be sent.")
        keyboard = _keyboard(message.buttons)
        parts = _parts(_clean(message.body))
        arrived = list(message.arrived)
        for number in range(len(arrived), len(parts)):
            part = parts[number]
            if message.possibly_repeated and number == len(message.arrived):
                part = await self._marked(part)
            last = number == len(parts) - 1
            arrived.append(await self._send_part(part, keyboard if last else None))
            if not last:
                await message.on_part(arrived[-1])
        return Receipt(tuple(arrived))

    async def _marked(self, part: RichText) -> RichText:
        """The part with the words that it may be a repeat; they go ahead alone where they do not fit."""
        marked = part.after(REPEAT_MARK)
        if utf16_before(marked.text)[-1] <= LIMIT:
            return marked
        await self._send_part(RichText(REPEAT_MARK.strip()), None)
        return part

    async def _send_part(self, part: RichText, keyboard: Mapping[str, Any] | None) -> str:
        """Previews are off: the service would fetch whatever address a text names."""
        params: dict[str, Any] = {"chat_id": self._person, "link_preview_options": {"is_disabled": True}}
        if keyboard is not None:
            params["reply_markup"] = keyboard
        try:
            result = await self._call("sendMessage", {**params, **part.payload()})
        except BadRequestError as refusal:
            if "can't parse entities" not in refusal.description:
                raise
            result = await self._call("sendMessage", {**params, "text": part.text})
        except ConflictError as conflict:  # about polls; whatever it means here, it is no refusal of the message
            raise ChannelUnavailableError(str(conflict), maybe_sent=True) from None
        return str(result.get("message_id", "")) if isinstance(result, dict) else ""

    async def updates(self, cursor: str, wait_seconds: float) -> Updates:
        """Raises AnotherPollerError after one long-poll period of conflicts."""
        return await self._poller.updates(Cursor.read(cursor, self._bot), wait_seconds)

    async def hook(self, url: str) -> None:
        await self._call(
            "setWebhook", {"url": url, "secret_token": self._secret, "allowed_updates": list(ALLOWED_UPDATES)}
        )

    async def unhook(self) -> None:
        await self._call("deleteWebhook", {})

    def pushed_it(self, headers: Mapping[str, str]) -> bool:
        told = headers.get("x-telegram-bot-api-secret-token", "")
        return hmac.compare_digest(told.encode(), self._secret.encode())

    def read(self, body: bytes) -> Inbound | None:
        """Pushed updates may overtake each other, so none is old: those that were handled are known by their ids."""
        try:
            result = json.loads(body)
        except (ValueError, RecursionError):
            result = None
        return self._poller.read(result, Cursor(self._bot))

    async def acknowledge(self, update: Inbound, text: str = "") -> None:
        """Stop the button's spinner. A press that is too old to be answered is ignored."""
        if update.callback_id is None:
            return
        answer = {"callback_query_id": update.callback_id, "text": _clean(text)[:_CALLBACK_ANSWER_CHARACTERS]}
        try:
            await self._call("answerCallbackQuery", answer)
        except BadRequestError as refusal:
            if "query is too old" not in refusal.description:
                raise

    async def show_typing(self) -> None:
        await self._call("sendChatAction", {"chat_id": self._person, "action": "typing"})

    async def offer_commands(self, commands: Iterable[tuple[str, str]]) -> None:
        """Telegram allows no hyphen in a command: it becomes `_`."""
        entries = [
            {"command": re.sub(r"[^a-z0-9_]", "_", name.lower().lstrip("/"))[:32], "description": words[:256]}
            for name, words in commands
        ]
        await self._call("setMyCommands", {"commands": entries})

    async def check(self) -> str:
        return f"@{await self.bot_name()} works and writes to {self._person}"

    async def bot_name(self) -> str:
        """Ask which bot the token belongs to."""
        result = await self._call("getMe", {})
        if not isinstance(result, dict) or not isinstance(result.get("id"), int):
            raise ChannelUnavailableError("Telegram's answer is unreadable.")
        return str(result.get("username") or result["id"])

    async def close(self) -> None:
        await self._outgoing.close()
        await self._polling.close()

    async def _call(self, method: str, params: Mapping[str, Any]) -> Any:
        return await self._outgoing.call(method, params, deadline=SEND_SECONDS)


def telegram_channel(setup: Setup) -> TelegramChannel:
    """From TELEGRAM_BOT_TOKEN, TELEGRAM_API_BASE (the public service, if it is not set) and `[telegram]` in nudge.toml.
    The first id in `allow` is where messages go."""
    token = setup.environment.get("TELEGRAM_BOT_TOKEN", "").strip()
    if not token:
        raise NotConfiguredError(
            'channel.kind is "telegram" in nudge.toml, but there is no TELEGRAM_BOT_TOKEN.', next_step=TOKEN_STEP
        )
    allow = setup.section.allow
    if not allow:
        raise NotConfiguredError(
            "There is a Telegram token, but nobody may talk to the bot: telegram.allow in nudge.toml is empty.",
            next_step="Run 'nudge pair' and send the code that it shows to your bot; or run 'nudge run --terminal'.",
        )
    api_base = setup.environment.get("TELEGRAM_API_BASE", "").strip() or PUBLIC_API
    return TelegramChannel(
        token, person=allow[0], allowed=allow, clock=setup.clock, api_base=api_base, pairs=setup.pairs
    )


def _parts(text: str) -> list[RichText]:
    """The same for the same text, whenever it is sent. Without blank parts, which Telegram refuses."""
    rich = parse_markdown(text)
    if not rich.text.strip():  # only markers, such as an empty code block
        rich = RichText(text)
    return [part for part in split(rich) if part.text.strip()]


def _keyboard(buttons: tuple[Button, ...]) -> dict[str, Any] | None:
    for button in buttons:
        if not button.label or not 1 <= len(button.data.encode()) <= BUTTON_DATA_BYTES:
            raise UsageError(f"The button {button.label!r} needs a label and 1 to {BUTTON_DATA_BYTES} bytes of data.")
    keys = [{"text": button.label, "callback_data": button.data} for button in buttons]
    rows = [keys[start : start + BUTTONS_IN_A_ROW] for start in range(0, len(keys), BUTTONS_IN_A_ROW)]
    return {"inline_keyboard": rows} if rows else None


def _clean(text: str) -> str:
    """Without halves of surrogate pairs, which no JSON encoder sends."""
    return text.encode("utf-8", "replace").decode()
