"""Connect your Telegram chat: send the code that is shown to your bot, and the coach is yours.

The code works once, for ten minutes. The id of your chat goes into nudge.toml.

nudge pair
"""

from __future__ import annotations

import argparse
import asyncio
import sys
from typing import TYPE_CHECKING, Any

from nudge.cli.context import Context
from nudge.cli.render import json_text, note, out
from nudge.daemon.lock import holder_of
from nudge.errors import NotConfiguredError, NudgeError

if TYPE_CHECKING:
    from nudge.channels.telegram.channel import TelegramChannel
    from nudge.clock import Clock
    from nudge.home.config import Config
    from nudge.queue.pairing import Paired, Pairing

_LOOK_SECONDS = 0.5
_POLL_SECONDS = 20.0


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--json", action="store_true", help="print JSON: a line with the code, then one with the result"
    )


def run(args: argparse.Namespace) -> int:
    context = Context(args)
    if not context.config.environment.get("TELEGRAM_BOT_TOKEN", "").strip():
        raise NotConfiguredError(
            "There is no TELEGRAM_BOT_TOKEN.",
            next_step=f"Write /newbot to @BotFather on Telegram and put its token into {context.home.env_file} as "
            "TELEGRAM_BOT_TOKEN.",
        )
    known, runs = context.config.telegram.allow, holder_of(context.home) is not None
    if known and not runs:
        raise NotConfiguredError(
            f"This bot belongs to {known[0]} already, and nudge isn't running, so their messages would be lost here.",
            next_step="Start 'nudge run' first, then run 'nudge pair' in another terminal.",
        )
    from nudge.home.create import with_allowed

    if with_allowed(context.home, 1) is None:  # before anybody has sent the code, which works once
        raise NotConfiguredError(
            "nudge.toml is written in a way that 'nudge pair' cannot change.",
            next_step="Give it a line [telegram], and below it a line 'allow = []'.",
        )
    return asyncio.run(_pair(context, here=not known, as_json=args.json))


async def _pair(context: Context, *, here: bool, as_json: bool) -> int:
    """Open a code and wait for its person: at the bot `here`, or where the daemon listens."""
    from nudge.clock import SystemClock
    from nudge.instants import Instant, rfc3339
    from nudge.queue.pairing import LASTS, Pairing, shown
    from nudge.stores.open import open_store

    config, clock = context.config, SystemClock()
    store = await open_store(config.database_url)
    pairing = Pairing(store)
    channel = _channel(config, clock, pairing)
    try:
        bot = await channel.bot_name()
        code = await pairing.open(clock.now())
        told: dict[str, Any] = {
            "code": shown(code),
            "bot": bot,
            "link": f"https://t.me/{bot}?start={code}",
            "expires_at": rfc3339(Instant(clock.now() + LASTS), context.zone),
            "paired": None,
        }
        if as_json:
            out(json_text(told))
        else:
            note(f"Send this code to @{bot} on Telegram within 10 minutes, or open {told['link']}")
            out(shown(code))
        sys.stdout.flush()  # whoever reads through a pipe has to see it now
        newcomer = await _wait(pairing, clock, channel if here else None)
        if as_json:
            out(json_text({**told, "paired": int(newcomer.who)}))
        else:
            note("Paired. Start the coach with 'nudge run'; it writes to you then." if here else "Paired.")
    finally:
        await pairing.close()
        await channel.close()
        await store.close()
    return 0


def _channel(config: Config, clock: Clock, pairing: Pairing) -> TelegramChannel:
    from nudge.channels.telegram.channel import TelegramChannel
    from nudge.channels.telegram.client import PUBLIC_API
    from nudge.home.create import allow_person
    from nudge.queue.pairing import Pairs

    async def offer(words: str, who: str) -> bool:
        return await pairing.offer(words, who, clock.now())

    async def accepted(who: str) -> None:
        allow_person(config, who)

    return TelegramChannel(
        config.environment["TELEGRAM_BOT_TOKEN"].strip(),
        person=0,
        clock=clock,
        api_base=config.environment.get("TELEGRAM_API_BASE", "").strip() or PUBLIC_API,
        pairs=Pairs(offer, accepted),
    )


async def _wait(pairing: Pairing, clock: Clock, channel: TelegramChannel | None) -> Paired:
    """Until somebody sends the code."""
    cursor = ""
    while (newcomer := await pairing.paired()) is None:
        if not await pairing.is_open(clock.now()):
            raise NudgeError(
                "Nobody sent the code in time, or too many wrong ones came.", next_step="Run 'nudge pair' again."
            )
        if channel is not None:
            cursor = (await channel.updates(cursor, _POLL_SECONDS)).cursor
        else:
            await clock.sleep(_LOOK_SECONDS)
    if channel is not None:
        await channel.updates(cursor, 0)  # the code is confirmed, so that the daemon does not read it as a message
    return newcomer
