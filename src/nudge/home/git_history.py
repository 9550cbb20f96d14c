"""The person's documents in git: committed hourly, pulled at the start, and pulled and pushed on command.

A pull is rehearsed beside the person's folder. Only when it works there, with their uncommitted changes on top, is it
done in the folder: on a conflict nothing in it is touched, not even for a moment.
"""

from __future__ import annotations

import asyncio
import logging
import shutil
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from nudge.errors import NudgeError, RetryableError
from nudge.home.folder import Home
from nudge.home.git_process import Git, GitError

log = logging.getLogger("nudge.git")

TRACKED = ("GOALS.md", "MEMORY.md")
MARK = "nudge: set aside while syncing"
_UNDER_WAY = ("MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "rebase-merge", "rebase-apply", "BISECT_LOG")
_RESOLVE = "Resolve it in the folder (git pull --rebase), then /sync again."


@dataclass(frozen=True, slots=True)
class _Rehearsed:
    """A pull that works: where it leads, and whether what was staged can stay staged."""

    head: str
    keeps_index: bool


class GitHistory:
    """A folder counts as the person's repository if it is the agent's or the home's own, or has the documents in it; a
    repository that a home merely happens to lie in is left alone."""

    def __init__(self, home: Home, *, timeout: float = 60.0) -> None:
        self._home = home
        self._timeout = timeout
        self._one_at_a_time = asyncio.Lock()

    async def commit(self, agent: str) -> str | None:
        async with self._one_at_a_time:
            git = await self._repository(agent)
            return None if git is None else await self._commit(git)

    async def pull_if_clean(self, agent: str) -> str | None:
        """At start-up, and only where nothing is uncommitted and there is somewhere to pull from."""
        async with self._one_at_a_time:
            git = await self._repository(agent)
            if git is None or not await _has_upstream(git) or await _is_dirty(git) or await _under_way(git):
                return None
            return await self._pull(git)

    async def pull(self, agent: str) -> str:
        async with self._one_at_a_time:
            return await self._pull(await self._require_upstream(agent))

    async def push(self, agent: str) -> str:
        async with self._one_at_a_time:
            git = await self._require_upstream(agent)
            await self._commit(git)
            try:
                await git.run("push", "--quiet")
            except GitError as error:
                raise NudgeError(f"Nothing was pushed. {error.message}", next_step="Try /sync first.") from None
            return "Pushed."

    async def _commit(self, git: Git) -> str | None:
        """Commit the two documents and nothing else: what the person has staged beside them stays staged."""
        names = [name for name in TRACKED if (git.folder / name).exists()]
        if not names or await _under_way(git):
            return None
        changed = [name for name in names if await git.run("status", "--porcelain", "--", name)]
        if not changed:
            return None
        await git.run("add", "--", *changed)
        await git.run("commit", "--quiet", "-m", "Keep the coach's documents", "--", *changed)
        return f"Committed {' and '.join(changed)}."

    async def _pull(self, git: Git) -> str:
        if await _under_way(git):
            raise NudgeError("A merge or rebase is under way in the folder.", next_step="Finish it, then /sync again.")
        before = await git.run("rev-parse", "HEAD")
        try:
            await git.run("fetch", "--quiet")
        except GitError as error:
            raise RetryableError(f"The fetch failed. {error.message}.", next_step="Try again later.") from None
        upstream = await git.run("rev-parse", "@{upstream}")
        if await git.ok("merge-base", "--is-ancestor", upstream, before):
            return "Already up to date."
        if new := (await _links(git, upstream)) - (await _links(git, before)):
            raise NudgeError(
                f"What was fetched has links in place of files ({', '.join(sorted(name for name, _ in new)[:3])}); "
                "nothing was changed.",
                next_step="A link can lead to any file on this machine. Check them, then pull by hand.",
            )
        dirty = await _is_dirty(git)
        rehearsed = await self._rehearse(git, upstream, dirty)
        try:
            await self._follow(git, rehearsed, before, dirty)
        except GitError as error:
            raise NudgeError(
                f"The pull was undone; nothing was changed. {error.message}.", next_step=_RESOLVE
            ) from None
        count = await git.run("rev-list", "--count", f"{before}..{upstream}")
        return f"Pulled {count} commit{'s' if count != '1' else ''}."

    async def _rehearse(self, git: Git, upstream: str, dirty: bool) -> _Rehearsed:
        """Rebase a copy, then put the uncommitted changes on top of it."""
        async with _copy_of(git) as copy:
            try:
                await copy.run("rebase", "--quiet", upstream)
            except GitError as error:
                raise await _conflict(copy, "Your commits", error) from None
            head = await copy.run("rev-parse", "HEAD")
            changes = await git.run("stash", "create") if dirty else ""
            if not changes or await copy.ok("stash", "apply", "--quiet", "--index", changes):
                return _Rehearsed(head, keeps_index=True)
            await copy.run("reset", "--quiet", "--hard", head)
            try:
                await copy.run("stash", "apply", "--quiet", changes)
            except GitError as error:
                raise await _conflict(copy, "Your uncommitted changes", error) from None
            return _Rehearsed(head, keeps_index=False)

    async def _follow(self, git: Git, rehearsed: _Rehearsed, before: str, dirty: bool) -> None:
        """Do in the folder what worked beside it. A folder that was copied or restored looks changed until git has
        compared it once."""
        await git.ok("update-index", "-q", "--refresh")
        if not dirty:
            await git.run("reset", "--quiet", "--keep", rehearsed.head)
            return
        await git.run("stash", "push", "--quiet", "-m", MARK)
        try:
            await git.run("reset", "--quiet", "--keep", rehearsed.head)
            await git.run("stash", "pop", "--quiet", *(["--index"] if rehearsed.keeps_index else []))
        except GitError:
            await git.run("reset", "--quiet", "--hard", before)
            await git.run("stash", "pop", "--quiet", "--index")
            raise

    async def _repository(self, agent: str) -> Git | None:
        folder = self._home.agent(agent)
        if not folder.is_dir():
            return None
        git = Git(folder, timeout=self._timeout)
        try:
            top = Path(await git.run("rev-parse", "--show-toplevel")).resolve()
        except GitError:
            return None
        own = top in (folder.resolve(), self._home.path.resolve())
        if not own and not await git.run("ls-files", "--", *TRACKED):
            return None
        if not await git.ok("config", "user.email"):
            git = git.signed_by("nudge", "nudge@localhost")
        await self._take_up(git)
        return git

    async def _take_up(self, git: Git) -> None:
        """A process that died in the middle of a sync left the person's changes set aside: put them back."""
        newest = await git.run("stash", "list", "--format=%gs", "-1")
        if newest.endswith(MARK) and not await _is_dirty(git):
            log.warning("restoring the changes that an interrupted sync had set aside")
            if not await git.ok("stash", "pop", "--quiet", "--index"):
                await git.run("stash", "pop", "--quiet")

    async def _require_upstream(self, agent: str) -> Git:
        git = await self._repository(agent)
        if git is None:
            raise NudgeError(
                "Your documents are not in a git repository.",
                next_step=f"Run 'git init' in {self._home.agent(agent)} and add a remote.",
            )
        if not await _has_upstream(git):
            raise NudgeError(
                "Your documents' repository has no remote to sync with.",
                next_step="Add a remote and push once: git push -u origin HEAD.",
            )
        return git


@asynccontextmanager
async def _copy_of(git: Git) -> AsyncIterator[Git]:
    """The last commit of the repository in a folder of its own."""
    folder = Path(tempfile.mkdtemp(prefix="nudge-sync-"))
    try:
        await git.run("worktree", "add", "--quiet", "--detach", str(folder / "copy"), "HEAD")
        yield git.at(folder / "copy")
    finally:
        await git.ok("worktree", "remove", "--force", str(folder / "copy"))
        shutil.rmtree(folder, ignore_errors=True)
        await git.ok("worktree", "prune")


async def _conflict(copy: Git, whose: str, error: GitError) -> NudgeError:
    files = (await copy.run("diff", "--name-only", "--diff-filter=U")).split("\n")
    where = " and ".join(name for name in files if name)
    if not where:
        return NudgeError(f"The pull failed; nothing was changed. {error.message}.", next_step=_RESOLVE)
    return NudgeError(
        f"{whose} conflict with what was fetched, in {where}; nothing was changed.",
        next_step=_RESOLVE if whose == "Your commits" else "Commit or undo them in the folder, then /sync again.",
    )


async def _links(git: Git, commit: str) -> set[tuple[str, str]]:
    """The symbolic links of a commit, each with what names its target. The coach reads and writes through a link, so
    one that leads to .env would carry the keys into a conversation."""
    listed = (await git.run("ls-tree", "-r", "-z", "--full-tree", commit)).split("\0")
    entries = [entry.partition("\t") for entry in listed if entry.startswith("120000 ")]
    return {(name, kind.split()[2]) for kind, _, name in entries}


async def _has_upstream(git: Git) -> bool:
    return await git.ok("rev-parse", "--verify", "--quiet", "@{upstream}")


async def _is_dirty(git: Git) -> bool:
    return bool(await git.run("status", "--porcelain", "--untracked-files=no"))


async def _under_way(git: Git) -> bool:
    """Whether the person is in the middle of a merge, a rebase or the like."""
    paths = await git.run("rev-parse", *(word for name in _UNDER_WAY for word in ("--git-path", name)))
    return any((git.folder / path).exists() for path in paths.splitlines())
