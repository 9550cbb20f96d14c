"""Talk to the coach in this terminal: the same coach, the same commands, with or without a key.

With a daemon running you talk to that one; otherwise it is started here, as 'nudge run --terminal' does.
Lines can be piped in: each is answered, then the command ends.

nudge chat
echo "/status" | nudge chat
"""

from __future__ import annotations

import argparse
import sys
import threading
from typing import Any

from nudge.channels.terminal import shown_message
from nudge.channels.terminal_prompt import Prompt, completions
from nudge.cli.context import Context
from nudge.cli.render import note, shown
from nudge.daemon.control_client import call
from nudge.daemon.lock import holder_of
from nudge.errors import DaemonUnreachableError, NudgeError
from nudge.palette import Tone, painted
from nudge.queue.channel import typed_buttons

_WAIT_SECONDS = 5.0
_QUIT = ("/quit", "/exit", "/q")


def arguments(parser: argparse.ArgumentParser) -> None:
    return None


def run(args: argparse.Namespace) -> int:
    context = Context(args, require_home=False)
    if holder_of(context.home) is None:
        from nudge.cli.commands import run as here

        return here.run(argparse.Namespace(home=args.home, terminal=True))
    return _Client(context).run()


class _Client:
    def __init__(self, context: Context) -> None:
        self._socket = context.home.socket
        self._colour = context.colour
        self._prompt = Prompt(sys.stdin, sys.stdout, colour=self._colour, history=context.home.chat_history)
        self._last = 0
        self._draft = ""
        self._lost: NudgeError | None = None

    def run(self) -> int:
        self._last = int(self._heard({})["last"])
        if self._prompt.interactive:
            note("You are talking to the running coach. /help lists commands; /quit or Ctrl-D leaves.")
            call(self._socket, "POST", "/greet", {"again": True})
            self._prompt.complete_with(self._completions)
        try:
            return self._talk() if self._prompt.interactive else self._pipe()
        finally:
            self._prompt.close()

    def _talk(self) -> int:
        threading.Thread(target=self._listen, name="listen", daemon=True).start()
        while (line := self._prompt.read()) is not None and line.strip().lower() not in _QUIT:
            if self._lost is not None:
                raise self._lost
            self._say(line)
        return 0

    def _completions(self, line: str) -> list[str]:
        """What Tab offers; nothing if the daemon does not answer."""
        try:
            known = call(self._socket, "POST", "/names", {}, timeout=2.0)
            return completions(line, known["commands"], known["names"])
        except (NudgeError, LookupError, TypeError):
            return []

    def _pipe(self) -> int:
        while (line := self._prompt.read()) is not None and line.strip().lower() not in _QUIT:
            self._say(line)
            busy = True
            while busy:
                busy = self._show(self._heard({"after": self._last, "wait": 0.3}))
        return 0

    def _listen(self) -> None:
        try:
            while True:
                heard = self._heard({"after": self._last, "wait": _WAIT_SECONDS, "draft": self._draft})
                self._show(heard)
                self._draft = str(heard.get("draft", "")) if not heard["messages"] else ""
                if self._draft:
                    self._prompt.preview(self._draft)
        except NudgeError as error:
            self._lost = error
            self._prompt.write("The daemon has stopped. Press Enter.\n")
            self._prompt.flush()

    def _say(self, line: str) -> None:
        if not line.strip():
            return
        answer = call(self._socket, "POST", "/chat", {"text": line})
        if "error" in answer:
            note(str(answer["error"]))

    def _heard(self, body: dict[str, Any]) -> Any:
        answer = call(self._socket, "POST", "/heard", body, timeout=_WAIT_SECONDS + 10)
        if not isinstance(answer, dict) or "last" not in answer:
            raise DaemonUnreachableError("This daemon cannot chat.", next_step="Restart it: 'nudge stop'.")
        return answer

    def _show(self, heard: Any) -> bool:
        """Print what came; whether more is on its way."""
        self._last = max(self._last, int(heard["last"]))
        for message in heard["messages"]:
            text, clock = str(message["text"]), str(message["at"])[11:16]
            if message["buttons"]:
                text += "\n" + typed_buttons(message["buttons"])
            lines = shown_message(clock, text, self._prompt.width)
            self._prompt.write(f"{painted(clock, Tone.INFO, self._colour)}{shown(lines[len(clock) :])}\n")
        self._prompt.flush()
        return bool(heard["busy"])
