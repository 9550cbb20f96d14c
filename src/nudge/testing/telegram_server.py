"""A Telegram Bot API on loopback: the true protocol, a script of what the person does, and faults on demand.

Runs inside a test (`with FakeTelegram() as telegram`) or as a process (`python -m nudge.testing.telegram_server
--port 0`, which prints its URL); the process is driven over `/control/…` (see `telegram_control`).

Like the service: a positive offset confirms what lies below it, one more than ten beyond the newest update is ignored,
`allowed_updates` filters updates when they are made, and of two waiting polls the *earlier* one ends with 409.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Mapping
from typing import Any

from starlette.applications import Starlette
from starlette.routing import Route

from nudge.testing.faults import Fault
from nudge.testing.loopback import Loopback, serve
from nudge.testing.telegram_control import routes as control_routes
from nudge.testing.telegram_protocol import BOT, BotApi, BotState, SentMessage

TOKEN = "1234567890:FAKE-token-of-a-bot-that-is-not-there"  # noqa: S105
PERSON = 4242


class FakeTelegram(Loopback):
    """The service, with one bot and everyone who might write to it.

    >>> import httpx2
    >>> with FakeTelegram() as telegram:
    ...     _ = telegram.say("hello")
    ...     reply = httpx2.get(f"{telegram.url}/bot{telegram.token}/getUpdates").json()
    >>> reply["result"][0]["message"]["text"]
    'hello'
    """

    def __init__(
        self,
        token: str = TOKEN,
        *,
        person: int = PERSON,
        clock: Callable[[], float] = time.time,  # noqa: TID251 - the other side has a clock of its own
    ) -> None:
        self.token = token
        self.person = person
        self._api = BotApi(token, clock)
        self.bell = self._api.bell
        bot = Route("/bot{token}/{method}", self._api.serve, methods=["GET", "POST"])
        self.app = Starlette(routes=[bot, *control_routes(self)])
        super().__init__(self.app)

    # What the person does

    def push(self, update: Mapping[str, Any], *, unfiltered: bool = False) -> int:
        """Make an update; its id. What the bot does not subscribe to is never queued, unless `unfiltered`."""
        with self.bell.lock:
            number = self._api.state.next_update
            self._api.state.next_update += 1
            if unfiltered or self._api.subscribed(update):
                self._api.state.pending.append({"update_id": number, **update})
        self.bell.ring()
        return number

    def message(self, text: str, *, user: int | None = None, chat: Mapping[str, Any] | None = None, **more: Any) -> Any:
        """A Message object from a user, in their private chat unless `chat` says otherwise."""
        user = self.person if user is None else user
        return {
            "message_id": self._api.message_id(),
            "from": {"id": user, "is_bot": False, "first_name": "Person"},
            "chat": dict(chat or {"id": user, "type": "private", "first_name": "Person"}),
            "date": int(self._api.clock()),
            "text": text,
            **more,
        }

    def say(self, text: str, *, user: int | None = None, **more: Any) -> int:
        return self.push({"message": self.message(text, user=user, **more)})

    def edit(self, text: str, *, user: int | None = None, **more: Any) -> int:
        edited = {"edit_date": int(self._api.clock()), **more}
        return self.push({"edited_message": self.message(text, user=user, **edited)})

    def forward(self, text: str, *, user: int | None = None) -> int:
        origin = {"type": "hidden_user", "sender_user_name": "Somebody", "date": int(self._api.clock())}
        return self.say(text, user=user, forward_origin=origin)

    def say_in_group(self, text: str, *, user: int | None = None) -> int:
        return self.say(text, user=user, chat={"id": -100_200, "type": "supergroup", "title": "A group"})

    def post_in_channel(self, text: str) -> int:
        post = self.message(text, chat={"id": -100_300, "type": "channel", "title": "A channel"})
        del post["from"]
        return self.push({"channel_post": post}, unfiltered=True)

    def press(
        self, data: str, *, message_id: int = 1, user: int | None = None, chat: Mapping[str, Any] | None = None
    ) -> int:
        """Press a button under a message of the bot."""
        user = self.person if user is None else user
        with self.bell.lock:
            number = f"callback-{self._api.state.next_update}"
            self._api.state.callbacks.add(number)
        carrier = {**self.message("", user=user, chat=chat), "message_id": message_id, "from": BOT}
        sender = {"id": user, "is_bot": False, "first_name": "Person"}
        return self.push({"callback_query": {"id": number, "from": sender, "message": carrier, "data": data}})

    # What the service does

    def fail(self, fault: Fault, times: int = 1) -> None:
        self._api.faults.add(fault, times)

    def heal(self) -> None:
        """No fault that is still queued is played."""
        self._api.faults.clear()

    def block(self, user: int) -> None:
        """The person blocks the bot."""
        self._api.state.blocked.add(user)

    def forget(self, user: int) -> None:
        """The person never opened a chat with the bot."""
        self._api.state.strangers.add(user)

    def let_rival_poll(self, active: bool = True) -> None:
        """Another process polls without a pause: every poll of ours ends with 409."""
        self._api.state.rival = active
        self.bell.ring()

    def set_webhook(self, active: bool = True) -> None:
        self._api.state.webhook = active

    def restart_ids(self, next_update: int) -> None:
        """Update ids start again elsewhere, as they do after a quiet week or on another server."""
        self._api.state.next_update = next_update

    def replay(self) -> None:
        """The next poll brings every confirmed update once more, whatever its offset. The service never does this."""
        with self.bell.lock:
            self._api.state.replaying = True
        self.bell.ring()

    def reset(self) -> None:
        with self.bell.lock:
            self._api.state = BotState()
            self._api.faults.clear()
        self.bell.ring()

    # What can be seen

    @property
    def sent(self) -> list[SentMessage]:
        with self.bell.lock:
            return list(self._api.state.sent)

    @property
    def calls(self) -> list[tuple[str, Mapping[str, Any]]]:
        """Every call with the right token: (method, parameters)."""
        with self.bell.lock:
            return list(self._api.state.calls)

    @property
    def answers(self) -> list[tuple[str, str]]:
        """Answered button presses: (callback id, text)."""
        with self.bell.lock:
            return list(self._api.state.answers)

    @property
    def commands(self) -> tuple[tuple[str, str], ...]:
        return self._api.state.commands

    @property
    def pending(self) -> list[int]:
        """Ids of the updates that are not confirmed."""
        with self.bell.lock:
            return [update["update_id"] for update in self._api.state.pending]

    @property
    def polls(self) -> int:
        """How often getUpdates was called."""
        return self._api.state.polls

    def wait_for_sent(self, count: int, timeout: float = 10.0) -> list[SentMessage]:
        """What was sent, once it is that many. Blocks the thread: use `asyncio.to_thread` in a coroutine."""
        if not self.bell.wait_for(lambda: len(self._api.state.sent) >= count, timeout):
            raise TimeoutError(f"{len(self._api.state.sent)} of {count} messages were sent within {timeout} s.")
        return self.sent

    def wait_for_poll(self, timeout: float = 10.0) -> None:
        """Until a long poll waits (or a request hangs, where a fault says so)."""
        if not self.bell.wait_for(lambda: self._api.waiting is not None or self._api.faults.held > 0, timeout):
            raise TimeoutError(f"Nobody polled within {timeout} s.")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m nudge.testing.telegram_server", description="A fake Bot API.")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--token", default=TOKEN)
    parser.add_argument("--person", type=int, default=PERSON)
    options = parser.parse_args()
    serve(FakeTelegram(options.token, person=options.person).app, options.port)


if __name__ == "__main__":
    main()
