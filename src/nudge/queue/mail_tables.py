"""Agents, their letters and the outbox in the database."""

from __future__ import annotations

import json
from collections.abc import Sequence

from nudge.database import Database, Row
from nudge.instants import Instant
from nudge.queue.agents import Agent, ListedAgent
from nudge.queue.inbox import Letter, Priority
from nudge.queue.outbox import Message, Sending


class AgentTable:
    def __init__(self, database: Database) -> None:
        self._db = database

    async def add(self, agent: Agent) -> bool:
        """False if there is an agent of that name already; a removed one comes back with the new role."""
        params = {"name": agent.name, "role": agent.role, "created_at": agent.created_at}
        return await self._db.run("agents_add", params) > 0

    async def ensure(self, agent: Agent) -> bool:
        """Add it unless there is or ever was one of that name; True if it was added."""
        params = {"name": agent.name, "role": agent.role, "created_at": agent.created_at}
        return await self._db.run("agents_ensure", params) > 0

    async def known(self, name: str) -> bool:
        """Whether there is or was an agent of that name: a removed one has a history."""
        return await self._db.one("agents_known", {"name": name}) is not None

    async def get(self, name: str) -> Agent | None:
        row = await self._db.one("agents_get", {"name": name})
        return _agent(row) if row else None

    async def all(self) -> Sequence[Agent]:
        return [_agent(row) for row in await self._db.all("agents_all", {})]

    async def page(self, *, search: str = "", after: str = "", limit: int = 50) -> Sequence[ListedAgent]:
        """In the order of their names, from the first behind `after`; only those with `search` in their names."""
        rows = await self._db.all("agents_page", {"pattern": _pattern(search), "after": after, "limit": limit})
        return [ListedAgent(row["name"], row["role"], row["state"] or "", row["next_at"]) for row in rows]

    async def count(self, search: str = "") -> int:
        row = await self._db.one("agents_count", {"pattern": _pattern(search)})
        return int(row["n"]) if row else 0

    async def remove(self, name: str, now: Instant) -> bool:
        """Mark it removed and cancel all its timers."""
        async with self._db.transaction():
            await self._db.run("timers_cancel_all", {"agent": name})
            return await self._db.run("agents_remove", {"name": name, "now": now}) > 0


def _pattern(search: str) -> str:
    """
    >>> _pattern("EU_"), _pattern("")
    ('%eu!_%', '')
    """
    for special in "!%_":
        search = search.replace(special, f"!{special}")
    return f"%{search.lower()}%" if search else ""


def _agent(row: Row) -> Agent:
    return Agent(row["name"], row["role"], Instant(row["created_at"]), row["removed_at"])


class LetterTable:
    def __init__(self, database: Database) -> None:
        self._db = database

    async def put(self, letter: Letter) -> int:
        """Deliver; an unread letter of the same topic is refreshed and counted instead. Returns its id."""
        params = {
            "agent": letter.agent,
            "sender": letter.sender,
            "body": letter.body,
            "priority": int(letter.priority),
            "created_at": letter.created_at,
            "topic": letter.topic,
            "count": letter.count,
            "detail": json.dumps(dict(letter.detail), ensure_ascii=False),
        }
        return int((await self._db.returning("letters_put", params))["id"])

    async def unread(
        self, agent: str, *, up_to: Priority = Priority.IDLE, limit: int = 100, free_at: Instant | None = None
    ) -> Sequence[Letter]:
        """In reading order: by priority, then as they came. With `free_at` only those that nobody has taken then."""
        params = {"agent": agent, "up_to": int(up_to), "limit": limit, "free_at": free_at}
        return [_letter(row) for row in await self._db.all("letters_unread", params)]

    async def take(self, agent: str, now: Instant, until: Instant, *, up_to: Priority = Priority.IDLE) -> Letter | None:
        """The next letter that nobody has, for the caller alone until then."""
        while letters := await self.unread(agent, up_to=up_to, limit=1, free_at=now):
            if await self._db.run("letters_take", {"id": letters[0].id, "now": now, "until": until}):
                return await self.get(letters[0].id)
        return None

    async def acknowledge(self, letter_id: int, takes: int, now: Instant) -> bool:
        """Whoever took it that time is done. One that was refreshed meanwhile comes back: it says something new. False,
        and nothing changes, if it was taken again since, or is done already."""
        return await self._db.run("letters_acknowledge", {"id": letter_id, "takes": takes, "now": now}) > 0

    async def give_back(self, letter_id: int, takes: int, until: Instant) -> bool:
        """Whoever took it that time is not done: it is free again from then on. False as above."""
        return await self._db.run("letters_give_back", {"id": letter_id, "takes": takes, "until": until}) > 0

    async def put_off(self, letter_id: int, until: Instant) -> bool:
        """Keep an unread letter from everybody until then, and count it."""
        return await self._db.run("letters_put_off", {"id": letter_id, "until": until}) > 0

    async def taken(self, agent: str) -> Sequence[Letter]:
        """Those that somebody took and has not said anything about, the last first."""
        return [_letter(row) for row in await self._db.all("letters_taken", {"agent": agent})]

    async def next_free(self, agent: str, now: Instant) -> Instant | None:
        """When the next of those that are taken or put off comes back."""
        row = await self._db.one("letters_next_free", {"agent": agent, "now": now})
        return Instant(row["at"]) if row and row["at"] is not None else None

    async def count_unread(self, agent: str) -> int:
        row = await self._db.one("letters_count_unread", {"agent": agent})
        return int(row["n"]) if row else 0

    async def mark_read(self, letter_id: int, now: Instant, *, count: int | None = None) -> bool:
        """With a `count`, only if it has not been refreshed since it had that one."""
        return await self._db.run("letters_mark_read", {"id": letter_id, "now": now, "count": count}) > 0

    async def put_back(self, letter_id: int) -> bool:
        """Let a letter be unread again; False where a newer one of its topic has come meanwhile and stands for it."""
        return await self._db.run("letters_put_back", {"id": letter_id}) > 0

    async def recent(self, agent: str | None = None, limit: int = 50) -> Sequence[Letter]:
        """Read and unread ones, the newest first."""
        return [_letter(row) for row in await self._db.all("letters_recent", {"agent": agent, "limit": limit})]

    async def delete_topic(self, agent: str, topic: str) -> None:
        """For good, read ones too."""
        await self._db.run("letters_delete_topic", {"agent": agent, "topic": topic})

    async def get(self, letter_id: int) -> Letter | None:
        row = await self._db.one("letters_get", {"id": letter_id})
        return _letter(row) if row else None


def _letter(row: Row) -> Letter:
    return Letter(
        row["agent"],
        row["sender"],
        row["body"],
        Priority(row["priority"]),
        Instant(row["created_at"]),
        row["topic"],
        row["count"],
        row["read_at"],
        json.loads(row["detail"]),
        row["id"],
        row["takes"],
        row["taken_until"],
    )


_FOREVER = 2**62


class OutboxTable:
    def __init__(self, database: Database) -> None:
        self._db = database

    async def put(self, message: Message) -> int:
        params = {
            "agent": message.agent,
            "text": message.text,
            "kind": message.kind,
            "created_at": message.created_at,
            "asked": int(message.asked),
            "buttons": json.dumps([list(button) for button in message.buttons], ensure_ascii=False),
            "state": message.state.value,
            "possibly_repeated": int(message.possibly_repeated),
            "reminder_id": message.reminder_id,
            "typed": int(message.typed),
            "topic": message.topic,
            "key": message.key,
            "slot_at": message.slot_at,
        }
        return int((await self._db.returning("outbox_put", params))["id"])

    async def pending(self, agent: str, limit: int = 100, *, after: int = 0) -> Sequence[Message]:
        """What waits to be sent, may have to be sent again, or was being sent when the process died, in order."""
        params = {"agent": agent, "limit": limit, "after": after}
        return [_message(row) for row in await self._db.all("outbox_pending", params)]

    async def mark(
        self,
        message_id: int,
        state: Sending,
        *,
        sent_at: Instant | None = None,
        error: str = "",
        receipt: Sequence[str] | None = None,
        possibly_repeated: bool | None = None,
        retry_at: Instant | None = None,
    ) -> None:
        """Write how far it is. Without a `receipt`, the parts that have arrived stay as they are."""
        params = {
            "id": message_id,
            "state": state.value,
            "sent_at": sent_at,
            "error": error,
            "receipt": None if receipt is None else json.dumps(list(receipt)),
            "possibly_repeated": None if possibly_repeated is None else int(possibly_repeated),
            "retry_at": retry_at,
        }
        async with self._db.transaction():
            await self._db.run("outbox_mark", params)
            for one in receipt or ():
                await self._db.run("outbox_receipt", {"id": message_id, "receipt": one})

    async def arrived(self, message_id: int, receipt: Sequence[str]) -> None:
        """Parts of a long message have arrived, by the channel's ids; the others are still to be sent."""
        async with self._db.transaction():
            await self._db.run("outbox_arrived", {"id": message_id, "receipt": json.dumps(list(receipt))})
            await self._db.run("outbox_receipt", {"id": message_id, "receipt": receipt[-1]})

    async def wait(self, message_id: int, until: Instant) -> None:
        """It must not go out before then; how late it is counts from there."""
        await self._db.run("outbox_wait", {"id": message_id, "until": until})

    async def get(self, message_id: int) -> Message | None:
        row = await self._db.one("outbox_get", {"id": message_id})
        return _message(row) if row else None

    async def by_receipt(self, agent: str, receipt: str) -> Message | None:
        """The message that the channel knows under this id."""
        row = await self._db.one("outbox_by_receipt", {"agent": agent, "receipt": receipt})
        return _message(row) if row else None

    async def recent(
        self, agent: str | None = None, *, since: Instant | None = None, limit: int = 50
    ) -> Sequence[Message]:
        params = {"agent": agent, "since": -_FOREVER if since is None else since, "limit": limit}
        return [_message(row) for row in await self._db.all("outbox_recent", params)]

    async def after_id(self, last: int, limit: int = 500) -> Sequence[Message]:
        """Oldest first, for whoever follows."""
        return [_message(row) for row in await self._db.all("outbox_after_id", {"last": last, "limit": limit})]

    async def last_id(self) -> int:
        row = await self._db.one("outbox_last_id", {})
        return int(row["id"]) if row else 0


def _message(row: Row) -> Message:
    return Message(
        agent=row["agent"],
        text=row["text"],
        kind=row["kind"],
        created_at=Instant(row["created_at"]),
        asked=bool(row["asked"]),
        buttons=tuple((label, data) for label, data in json.loads(row["buttons"])),
        state=Sending(row["state"]),
        sent_at=row["sent_at"],
        possibly_repeated=bool(row["possibly_repeated"]),
        attempts=row["attempts"],
        error=row["error"],
        receipt=tuple(json.loads(row["receipt"])),
        reminder_id=row["reminder_id"],
        typed=bool(row["typed"]),
        topic=row["topic"],
        key=row["key"],
        slot_at=row["slot_at"],
        ready_at=row["ready_at"],
        retry_at=row["retry_at"],
        id=row["id"],
    )
