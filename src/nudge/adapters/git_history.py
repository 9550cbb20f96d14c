"""The person's documents in git: committed hourly, pulled and pushed on command only.

A pull that conflicts is undone completely: the tree is exactly as before, uncommitted changes included.
"""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

from nudge.adapters.home import Home
from nudge.errors import NudgeError

TRACKED = ("GOALS.md", "MEMORY.md")
_SECONDS = 60.0


class GitHistory:
    def __init__(self, home: Home) -> None:
        self._home = home

    async def commit(self, agent: str) -> str | None:
        if not await self._is_repository(agent):
            return None
        names = [name for name in TRACKED if (self._home.agent(agent) / name).exists()]
        if not names or not (await self._git(agent, "status", "--porcelain", "--", *names)).strip():
            return None
        await self._git(agent, "add", "--", *names)
        await self._git(agent, "commit", "--quiet", "-m", "Keep the coach's documents", "--", *names)
        return f"Committed {' and '.join(names)}."

    async def pull_if_clean(self, agent: str) -> str | None:
        """At start-up, and only where nothing is uncommitted and there is somewhere to pull from."""
        if not await self._is_repository(agent) or not await self._upstream(agent):
            return None
        if (await self._git(agent, "status", "--porcelain", "--untracked-files=no")).strip():
            return None
        return await self._rebase(agent)

    async def pull(self, agent: str) -> str:
        await self._require_upstream(agent)
        if not (await self._git(agent, "status", "--porcelain", "--untracked-files=no")).strip():
            return await self._rebase(agent)
        head = (await self._git(agent, "rev-parse", "HEAD")).strip()
        await self._git(agent, "stash", "push", "--quiet")
        try:
            said = await self._rebase(agent)
        except NudgeError:
            await self._git(agent, "stash", "pop", "--quiet", "--index")
            raise
        try:
            await self._git(agent, "stash", "pop", "--quiet")
        except NudgeError:
            # Your changes and theirs touch the same lines: go back to where we were, then put yours back.
            await self._git(agent, "reset", "--quiet", "--hard", head)
            await self._git(agent, "stash", "pop", "--quiet", "--index")
            raise NudgeError(
                "Your uncommitted changes conflict with what was pulled; nothing was changed.",
                next_step="Commit or undo them in the folder, then /sync again.",
            ) from None
        return said

    async def push(self, agent: str) -> str:
        await self._require_upstream(agent)
        await self.commit(agent)
        await self._git(agent, "push", "--quiet")
        return "Pushed."

    async def _rebase(self, agent: str) -> str:
        before = (await self._git(agent, "rev-parse", "HEAD")).strip()
        try:
            await self._git(agent, "pull", "--rebase", "--quiet")
        except NudgeError as error:
            with_rebase = await self._git(agent, "rev-parse", "--git-path", "rebase-merge")
            if (self._home.agent(agent) / with_rebase.strip()).exists():
                await self._git(agent, "rebase", "--abort")
            raise NudgeError(
                f"The pull was undone; nothing was changed. {error.message}",
                next_step="Resolve it in the folder with git, then /sync again.",
            ) from None
        after = (await self._git(agent, "rev-parse", "HEAD")).strip()
        if before == after:
            return "Already up to date."
        count = (await self._git(agent, "rev-list", "--count", f"{before}..{after}")).strip()
        return f"Pulled {count} commit{'s' if count != '1' else ''}."

    async def _is_repository(self, agent: str) -> bool:
        if not self._home.agent(agent).is_dir():
            return False
        try:
            return (await self._git(agent, "rev-parse", "--is-inside-work-tree")).strip() == "true"
        except NudgeError:
            return False

    async def _upstream(self, agent: str) -> bool:
        try:
            await self._git(agent, "rev-parse", "--abbrev-ref", "@{upstream}")
        except NudgeError:
            return False
        return True

    async def _require_upstream(self, agent: str) -> None:
        if not await self._is_repository(agent):
            raise NudgeError(
                "Your documents are not in a git repository.",
                next_step=f"Run 'git init' in {self._home.agent(agent)} and add a remote.",
            )
        if not await self._upstream(agent):
            raise NudgeError(
                "The repository of your documents has nowhere to sync with.",
                next_step="Add a remote and push once: git push -u origin HEAD.",
            )

    async def _git(self, agent: str, *words: str) -> str:
        """Run git without any question to a person: where it would ask, it fails."""
        environment = {**os.environ, "GIT_TERMINAL_PROMPT": "0", "GIT_EDITOR": "true", "LC_ALL": "C"}
        for name in ("ANTHROPIC_API_KEY", "TELEGRAM_BOT_TOKEN", "NUDGE_SMTP_URL", "NUDGE_DATABASE_URL"):
            environment.pop(name, None)
        folder: Path = self._home.agent(agent)
        try:
            process = await asyncio.create_subprocess_exec(
                "git",
                "-C",
                str(folder),
                *words,
                env=environment,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
            )
        except FileNotFoundError:
            raise NudgeError("git is not installed.", next_step="Install git, or do without sync.") from None
        try:
            async with asyncio.timeout(_SECONDS):
                out, err = await process.communicate()
        except TimeoutError:
            process.kill()
            await process.wait()
            raise NudgeError(f"git {words[0]} took longer than {_SECONDS:.0f} s.") from None
        if process.returncode:
            lines = err.decode(errors="replace").strip().splitlines()
            raise NudgeError(f"git {words[0]}: {lines[-1] if lines else 'failed'}")
        return out.decode(errors="replace")
