"""Commands about working sessions: list, show, watch, resume, cancel, answer."""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Coroutine
from typing import Any

from nudge.cli.context import Context
from nudge.cli.render import clock_time, full_time, how_many, note, out, out_json, table
from nudge.cli.session_watch import Watch
from nudge.clock import SystemClock
from nudge.daemon.lock import holder_of
from nudge.errors import NotFoundError
from nudge.palette import LINES, painted
from nudge.progress.store import Session
from nudge.stores.store import SqlStore
from nudge.text import short
from nudge.worker.questions import Question
from nudge.worker.session_view import lines_of, public, status_line
from nudge.worker.sessions import Sessions

_LOOK_SECONDS = 0.3


def sessions_of(context: Context, store: SqlStore) -> Sessions:
    return Sessions(store, SystemClock(), context.config.worker.run_options)


def list_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--agent", metavar="NAME", help="only this agent's")
    parser.add_argument("--limit", type=how_many, default=20, metavar="N", help="at most this many (default: 20)")
    parser.add_argument("--json", action="store_true", help="print JSON")


def list_(args: argparse.Namespace) -> int:
    """List sessions, newest first, and their questions for you."""
    context = Context(args)

    async def read(store: SqlStore) -> tuple[list[Session], list[Question]]:
        if args.agent:
            found = await store.sessions.of_agent(args.agent, args.limit)
        else:
            found = await store.sessions.recent(args.limit)
        queued = await sessions_of(context, store).queued(args.agent)
        return [*queued, *found], list(await store.questions.open(context.now))

    sessions, questions = context.with_store(read)
    if args.json:
        out_json(
            {"sessions": [public(one) for one in sessions], "questions": [question.public() for question in questions]}
        )
        return 0
    if not sessions:
        note('No sessions yet. Start one with: nudge work "what should be done"')
        return 0
    rows = [
        [
            one.id,
            one.agent,
            one.status.value,
            clock_time(one.updated_at, context.zone, context.now),
            short(one.last_task),
        ]
        for one in sessions
    ]
    table(["ID", "AGENT", "STATUS", "LAST", "TASK"], rows)
    for question in questions:
        out(f"\n{question.agent} asks: {question.text}\nAnswer with: nudge session answer {question.session} …")
    return 0


def show_arguments(parser: argparse.ArgumentParser) -> None:
    _which(parser)
    parser.add_argument("--json", action="store_true", help="print JSON")


def show(args: argparse.Namespace) -> int:
    """Show a session: its state, everything said and done, and its report."""
    context = Context(args)

    async def read(store: SqlStore) -> tuple[Session, list[dict[str, object]], list[Session]]:
        session = await sessions_of(context, store).find(args.session)
        messages = await store.sessions.messages(session.agent, session.id, limit=10_000)
        family = await store.sessions.family(session.agent, session.id)
        return session, [dict(one) for one in messages], [one for one in family if one.id != session.id]

    session, messages, children = context.with_store(read)
    if args.json:
        out_json({**public(session), "messages": messages, "subagents": [one.id for one in children]})
        return 0
    out(f"{session.id}  {session.last_task}")
    out(f"{session.agent}, {session.status.value}; started {full_time(session.started_at, context.zone)}")
    out(status_line(session))
    for one in children:
        out(f"  subagent {one.id}: {one.status.value}, {one.last_task}")
    out()
    for message in messages:
        for kind, line in lines_of(message):
            out(painted(line, LINES[kind], context.colour), hang=2)
    if session.reason:
        out(f"\n{session.reason}")
    if session.report:
        out(f"\nReport\n{session.report}")
    return 0


def watch_arguments(parser: argparse.ArgumentParser) -> None:
    _which(parser)
    parser.add_argument("--json", action="store_true", help="one JSON object per line")


def watch(args: argparse.Namespace) -> int:
    """Follow a session until it ends. Ctrl-C stops watching; the session continues."""
    context = Context(args)
    found = context.with_store(lambda store: sessions_of(context, store).find(args.session))
    if found.status.is_open and holder_of(context.home) is None:
        note("No daemon is running: it continues with the next 'nudge run'.")
    return follow(context, found.agent, found.id, as_json=args.json)


def follow(context: Context, agent: str, session_id: str, *, as_json: bool = False) -> int:
    """Print what a session says and does until it has ended. The exit code tells how: 0 if it is done."""
    view = Watch(context.colour, as_json=as_json)
    try:
        while True:
            session, meter = context.with_store(lambda store: view.look(store, agent, session_id))
            view.show(session, meter)
            if session is not None and not session.status.is_open:
                return view.ended(session)
            time.sleep(_LOOK_SECONDS)
    except KeyboardInterrupt:
        view.clear()
        note(f"\nStill working. Watch it again with: nudge session watch {session_id}")
        return 130


def resume_arguments(parser: argparse.ArgumentParser) -> None:
    _which(parser)


def resume(args: argparse.Namespace) -> int:
    """Continue a session that was stopped, failed or cancelled, with a fresh run budget."""
    session, runs = _changed(args, Sessions.resume)
    note(f"Resumed {session.id}." if runs else f"Resumed {session.id}. It continues with the next 'nudge run'.")
    return 0


def cancel_arguments(parser: argparse.ArgumentParser) -> None:
    _which(parser)


def cancel(args: argparse.Namespace) -> int:
    """Cancel a session. Its work stays in the workspace."""
    session, _ = _changed(args, Sessions.cancel)
    note(f"Cancelled {session.id}: {session.last_task}")
    return 0


def _changed(
    args: argparse.Namespace, change: Callable[[Sessions, Session], Coroutine[Any, Any, None]]
) -> tuple[Session, bool]:
    """The session that was named, changed, and whether a daemon heard of it."""
    context = Context(args)

    async def work(store: SqlStore) -> Session:
        sessions = sessions_of(context, store)
        session = await sessions.find(args.session)
        await change(sessions, session)
        return session

    return context.with_store(work), context.poke()


def answer_arguments(parser: argparse.ArgumentParser) -> None:
    _which(parser)
    parser.add_argument("answer", metavar="ANSWER", nargs="+", help="your answer; yes or no if it asks for more budget")


def answer(args: argparse.Namespace) -> int:
    """Answer a session's question."""
    context = Context(args)

    async def work(store: SqlStore) -> Question:
        sessions = sessions_of(context, store)
        session = await sessions.find(args.session)
        question = await store.questions.of_session(session.agent, session.id)
        if question is None:
            raise NotFoundError(f"Session {session.id} has asked nothing.", next_step="Run 'nudge session list'.")
        return await sessions.answer(question.id, " ".join(args.answer))

    question = context.with_store(work)
    context.poke()
    note(f"Told {question.agent}.")
    return 0


def _which(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("session", metavar="SESSION", help="its id, the beginning of it, or an agent's name")
