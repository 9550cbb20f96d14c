"""Conditions as shell commands, each in a process group of its own that is gone when the answer is there.

A command that ends by itself may leave a service behind that detached on purpose. One that runs out of time may not:
everything that came from it ends with it.
"""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from secrets import token_hex

from nudge.durations import format_duration
from nudge.home.config import without_secrets
from nudge.home.private_files import make_folder
from nudge.instants import SECOND
from nudge.output_pipe import OutputPipe
from nudge.process_tree import kill_group, kill_tree
from nudge.redaction import redact
from nudge.reminders.conditions import Question, Verdict

OUTPUT_BYTES = 2048
_READ_BYTES = 4 * OUTPUT_BYTES
_SHELL = "/bin/sh"
_MARK = "NUDGE_CONDITION_RUN"
_NOT_FOUND, _NOT_EXECUTABLE = 127, 126


class CommandConditions:
    """`workspace_of` is the folder an agent's commands run in. nudge's own secrets are not in their environment, nor in
    what is told of their output: that goes into messages and into the store."""

    def __init__(
        self,
        workspace_of: Callable[[str], Path],
        environment: Mapping[str, str] | None = None,
        secrets: Iterable[str] = (),
    ) -> None:
        self._secrets = tuple(secret for secret in secrets if secret)
        self._workspace_of = workspace_of
        self._environment = without_secrets(os.environ if environment is None else environment, self._secrets)

    async def ask(self, question: Question) -> Verdict:
        workspace = self._workspace_of(question.agent)
        run = token_hex(8)
        environment = {
            **self._environment,
            _MARK: run,
            "NUDGE_AGENT": question.agent,
            "NUDGE_REMINDER_ID": question.reminder_id,
            "NUDGE_FIRE_COUNT": str(question.fire_count),
        }
        output = OutputPipe(_READ_BYTES)  # more than is shown: a secret may lie across the cut
        try:
            make_folder(workspace)
            process = await asyncio.create_subprocess_exec(
                _SHELL,
                "-c",
                question.command,
                cwd=workspace,
                env=environment,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=output.writer,
                stderr=output.writer,
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            output.close()
            return Verdict(False, f"the command could not be started: {error}")
        output.listen()
        timed_out = ended = False
        try:
            async with asyncio.timeout(question.timeout_us / SECOND):
                await process.wait()
            ended = True
        except TimeoutError:
            timed_out = True
        finally:
            if ended:
                kill_group(process.pid)
            else:
                kill_tree(process.pid, f"{_MARK}={run}")
            try:
                await process.wait()
            finally:
                output.close()
        told = _cut(redact(output.text, self._secrets))
        if timed_out:
            limit = format_duration(question.timeout_us)
            return Verdict(False, f"the command did not end within {limit}", told)
        return _verdict(process.returncode, told)


def _verdict(code: int | None, output: str) -> Verdict:
    if code == 0:
        return Verdict(True, "", output, 0)
    if code == _NOT_FOUND:
        reason = "the command was not found (exit 127)"
    elif code == _NOT_EXECUTABLE:
        reason = "the command cannot be executed (exit 126)"
    elif code is not None and code < 0:
        name = signal.Signals(-code).name if -code in set(signal.Signals) else f"signal {-code}"
        reason = f"the command was ended by {name}"
    else:
        reason = f"exit {code}"
    return Verdict(False, reason, output, code)


def _cut(text: str) -> str:
    """The first 2 KB, at a whole character. Cut last: half a secret has no shape any more."""
    return text.encode("utf-8", "replace")[:OUTPUT_BYTES].decode("utf-8", "ignore")
