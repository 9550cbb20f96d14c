"""The documents in git: real repositories, a bare remote, and a tree that is exactly as before after a conflict."""

from __future__ import annotations

import asyncio
import os
import select
import shutil
import stat
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from nudge.errors import NudgeError, RetryableError
from nudge.home.folder import Home
from nudge.home.git_history import MARK, GitHistory
from nudge.home.git_process import Git, GitError

GOALS = "# Goals\n\n## Today\n1. Write\n\n## Week\n1. Plan\n\n## Quarter\n1. Rest\n"


@dataclass
class Repositories:
    """The person's folder, a bare remote, and another clone of it."""

    home: Home
    mine: Path
    theirs: Path
    remote: Path

    def git(self, folder: Path, *words: str) -> str:
        done = subprocess.run(["git", "-C", str(folder), *words], capture_output=True, text=True, check=True)
        return done.stdout

    def they_push(self, name: str, text: str) -> None:
        (self.theirs / name).write_text(text)
        self.git(self.theirs, "add", name)
        self.git(self.theirs, "commit", "--quiet", "-m", f"their {name}")
        self.git(self.theirs, "push", "--quiet")

    def snapshot(self) -> dict[str, object]:
        """Everything that can be seen of my folder: bytes and modes of all files, what is staged, the branch."""
        files = {
            str(path.relative_to(self.mine)): (path.read_bytes(), stat.S_IMODE(path.stat().st_mode))
            for path in sorted(self.mine.rglob("*"))
            if path.is_file() and ".git" not in path.relative_to(self.mine).parts
        }
        look = {
            words: self.git(self.mine, *words.split())
            for words in (
                "status --porcelain --branch",
                "diff --binary",
                "diff --cached --binary",
                "rev-parse HEAD",
                "rev-parse --abbrev-ref HEAD",
                "stash list",
                "worktree list",
                "ls-files --stage",
            )
        }
        look["status --porcelain --branch"] = look["status --porcelain --branch"].partition("\n")[2]  # ahead, behind
        return {"files": files, **look}


ALONE = {"GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": "/dev/null"}
"""No configuration of this machine, and so no identity."""


@pytest.fixture(autouse=True)
def alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith("GIT_")]:
        monkeypatch.delenv(name)
    for name, value in {**ALONE, "HOME": str(tmp_path / "nobody"), "GIT_CEILING_DIRECTORIES": str(tmp_path)}.items():
        monkeypatch.setenv(name, value)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The three repositories, once; each test gets a copy."""
    folder = tmp_path_factory.mktemp("made")
    script = """
        git init --quiet --bare -b main remote.git
        git init --quiet -b main mine && cd mine
        printf %s "$GOALS" > GOALS.md; echo '# Memory' > MEMORY.md; echo one > notes.md
        git add . && git -c user.name=me -c user.email=me@x commit --quiet -m first
        git remote add origin ../remote.git && git push --quiet -u origin main
        git clone --quiet ../remote.git ../theirs && cd ../theirs
        git config user.name them && git config user.email them@x && git remote set-url origin ../remote.git
    """
    environment = {**os.environ, **ALONE, "GOALS": GOALS}
    subprocess.run(["sh", "-ec", script], cwd=folder, env=environment, check=True)
    return folder


@pytest.fixture
def repos(tmp_path: Path, made: Path) -> Repositories:
    home = Home(tmp_path / "home")
    copies = Repositories(home, home.agent("coach"), tmp_path / "theirs", tmp_path / "remote.git")
    for source, target in (("mine", copies.mine), ("theirs", copies.theirs), ("remote.git", copies.remote)):
        shutil.copytree(made / source, target)
    copies.git(copies.mine, "remote", "set-url", "origin", str(copies.remote))
    return copies


@pytest.fixture
def history(repos: Repositories) -> GitHistory:
    return GitHistory(repos.home)


# Committing


async def test_only_the_two_documents_are_committed_and_what_is_staged_beside_them_stays_staged(
    repos: Repositories, history: GitHistory
) -> None:
    (repos.mine / "GOALS.md").write_text(GOALS + "new\n")
    (repos.mine / "notes.md").write_text("two\n")
    repos.git(repos.mine, "add", "notes.md")
    (repos.mine / "notes.md").write_text("three\n")
    (repos.mine / "stray.txt").write_text("not mine to keep\n")
    assert await history.commit("coach") == "Committed GOALS.md."
    assert repos.git(repos.mine, "show", "--name-only", "--format=%an: %s").split("\n") == [
        "nudge: Keep the coach's documents",
        "",
        "GOALS.md",
        "",
    ]
    assert repos.git(repos.mine, "status", "--porcelain") == "MM notes.md\n?? stray.txt\n"
    assert repos.git(repos.mine, "show", ":notes.md") == "two\n"


async def test_nothing_new_is_no_commit(repos: Repositories, history: GitHistory) -> None:
    before = repos.git(repos.mine, "rev-parse", "HEAD")
    assert await history.commit("coach") is None
    assert repos.git(repos.mine, "rev-parse", "HEAD") == before


async def test_the_persons_own_name_is_used_where_they_have_one(repos: Repositories, history: GitHistory) -> None:
    repos.git(repos.mine, "config", "user.name", "Ada")
    repos.git(repos.mine, "config", "user.email", "ada@x")
    (repos.mine / "MEMORY.md").write_text("# Memory\n- new\n")
    assert await history.commit("coach") == "Committed MEMORY.md."
    assert repos.git(repos.mine, "log", "-1", "--format=%an <%ae>") == "Ada <ada@x>\n"


async def test_a_new_repository_gets_its_first_commit(tmp_path: Path, repos: Repositories) -> None:
    home = Home(tmp_path / "fresh")
    folder = home.agent("coach")
    folder.mkdir(parents=True)
    repos.git(folder, "init", "--quiet")
    (folder / "GOALS.md").write_text(GOALS)
    assert await GitHistory(home).commit("coach") == "Committed GOALS.md."


async def test_a_home_that_is_a_repository_as_a_whole_works_too(tmp_path: Path, repos: Repositories) -> None:
    home = Home(tmp_path / "whole")
    folder = home.agent("coach")
    folder.mkdir(parents=True)
    repos.git(home.path, "init", "--quiet")
    (folder / "GOALS.md").write_text(GOALS)
    assert await GitHistory(home).commit("coach") == "Committed GOALS.md."
    assert repos.git(home.path, "show", "--name-only", "--format=").strip() == "agents/coach/GOALS.md"


async def test_a_repository_that_the_home_merely_lies_in_is_left_alone(tmp_path: Path, repos: Repositories) -> None:
    project = tmp_path / "project"
    home = Home(project / ".nudge")
    folder = home.agent("coach")
    folder.mkdir(parents=True)
    repos.git(project, "init", "--quiet")
    (folder / "GOALS.md").write_text(GOALS)
    history = GitHistory(home)
    assert await history.commit("coach") is None
    assert await history.pull_if_clean("coach") is None
    assert repos.git(project, "status", "--porcelain") == "?? .nudge/\n"


async def test_no_commit_is_put_into_the_middle_of_the_persons_rebase(repos: Repositories, history: GitHistory) -> None:
    (repos.mine / ".git" / "rebase-merge").mkdir()
    (repos.mine / "GOALS.md").write_text(GOALS + "new\n")
    assert await history.commit("coach") is None
    with pytest.raises(NudgeError, match="under way"):
        await history.pull("coach")


# No repository


@pytest.mark.parametrize("folder_is_there", [True, False])
async def test_without_a_repository_it_is_quiet_until_somebody_asks(tmp_path: Path, folder_is_there: bool) -> None:
    home = Home(tmp_path / "plain")
    if folder_is_there:
        home.agent("coach").mkdir(parents=True)
        (home.agent("coach") / "GOALS.md").write_text(GOALS)
    history = GitHistory(home)
    assert await history.commit("coach") is None
    assert await history.pull_if_clean("coach") is None
    for asked in (history.pull, history.push):
        with pytest.raises(NudgeError, match=r"not in a git repository.*git init"):
            await asked("coach")


async def test_without_a_remote_it_says_what_is_missing(repos: Repositories, history: GitHistory) -> None:
    repos.git(repos.mine, "remote", "remove", "origin")
    assert await history.pull_if_clean("coach") is None
    for asked in (history.pull, history.push):
        with pytest.raises(NudgeError, match=r"no remote to sync with.*git push -u origin HEAD"):
            await asked("coach")


async def test_without_git_it_says_so(
    repos: Repositories, history: GitHistory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    assert await history.commit("coach") is None
    with pytest.raises(GitError, match="git is not installed"):
        await Git(repos.mine).run("status")


# Pulling


async def test_a_clean_tree_is_pulled(repos: Repositories, history: GitHistory) -> None:
    assert await history.pull("coach") == "Already up to date."
    repos.they_push("GOALS.md", GOALS.replace("Write", "Write more"))
    repos.they_push("notes.md", "two\n")
    assert await history.pull_if_clean("coach") == "Pulled 2 commits."
    assert "Write more" in (repos.mine / "GOALS.md").read_text()
    assert repos.git(repos.mine, "status", "--porcelain", "--branch") == "## main...origin/main\n"


async def test_my_commits_come_after_theirs(repos: Repositories, history: GitHistory) -> None:
    (repos.mine / "GOALS.md").write_text(GOALS.replace("Rest", "Rest well"))
    await history.commit("coach")
    repos.they_push("GOALS.md", GOALS.replace("Write", "Write more"))
    assert await history.pull("coach") == "Pulled 1 commit."
    text = (repos.mine / "GOALS.md").read_text()
    assert ("Write more" in text, "Rest well" in text) == (True, True)
    log = repos.git(repos.mine, "log", "--format=%s").split("\n")[:3]
    assert log == ["Keep the coach's documents", "their GOALS.md", "first"]


async def test_at_the_start_uncommitted_changes_mean_no_pull(repos: Repositories, history: GitHistory) -> None:
    repos.they_push("notes.md", "two\n")
    (repos.mine / "GOALS.md").write_text("mine\n")
    before = repos.snapshot()
    assert await history.pull_if_clean("coach") is None
    assert repos.snapshot() == before


async def test_at_the_start_files_that_git_does_not_know_do_not_matter(
    repos: Repositories, history: GitHistory
) -> None:
    repos.they_push("notes.md", "two\n")
    (repos.mine / "stray.txt").write_text("mine\n")
    assert await history.pull_if_clean("coach") == "Pulled 1 commit."
    assert (repos.mine / "stray.txt").read_text() == "mine\n"


def make_a_mess(repos: Repositories) -> None:
    """Something of everything: staged, unstaged, both in one file, new, deleted, another mode, unknown to git."""
    mine = repos.mine
    (mine / "GOALS.md").write_text(GOALS.replace("Rest", "Rest well"))
    repos.git(mine, "add", "GOALS.md")
    (mine / "GOALS.md").write_text(GOALS.replace("Rest", "Rest very well"))
    (mine / "fresh.md").write_bytes(b"\xff\x00 new\r\n")
    repos.git(mine, "add", "fresh.md")
    (mine / "MEMORY.md").unlink()
    (mine / "script.sh").write_text("#!/bin/sh\n")
    repos.git(mine, "add", "script.sh")
    (mine / "script.sh").chmod(0o755)
    (mine / "stray.txt").write_text("unknown\n")
    (mine / "folder").mkdir()
    (mine / "folder" / "deep.txt").write_text("unknown too\n")


async def test_uncommitted_changes_are_kept_on_top_of_what_was_pulled(repos: Repositories, history: GitHistory) -> None:
    make_a_mess(repos)
    repos.they_push("GOALS.md", GOALS.replace("Write", "Write more"))
    repos.they_push("theirs.md", "theirs\n")
    status = repos.git(repos.mine, "status", "--porcelain")
    assert await history.pull("coach") == "Pulled 2 commits."
    text = (repos.mine / "GOALS.md").read_text()
    assert ("Write more" in text, "Rest very well" in text) == (True, True)
    staged = repos.git(repos.mine, "show", ":GOALS.md")
    assert ("Write more" in staged, "Rest well" in staged) == (True, True)
    assert (repos.mine / "fresh.md").read_bytes() == b"\xff\x00 new\r\n"
    assert (repos.mine / "theirs.md").read_text() == "theirs\n"
    assert repos.git(repos.mine, "status", "--porcelain") == status
    assert repos.git(repos.mine, "stash", "list") == ""


CONFLICTS = {
    "an uncommitted change of the same line": ("GOALS.md", GOALS.replace("Rest", "No rest"), "uncommitted changes"),
    "a file they changed that I deleted": ("MEMORY.md", "# Memory\n- theirs\n", "uncommitted changes"),
    "a new file of the same name": ("fresh.md", "theirs\n", ""),
    "a file that git does not know here": ("stray.txt", "theirs\n", "undone"),
    "a folder where they have a file": ("folder", "theirs\n", "undone"),
}


@pytest.mark.parametrize(("name", "text", "words"), CONFLICTS.values(), ids=CONFLICTS)
async def test_after_a_conflict_the_tree_is_exactly_as_before(
    repos: Repositories, history: GitHistory, name: str, text: str, words: str
) -> None:
    make_a_mess(repos)
    repos.they_push(name, text)
    before = repos.snapshot()
    with pytest.raises(NudgeError, match="nothing was changed") as caught:
        await history.pull("coach")
    assert words in caught.value.message
    assert caught.value.next_step
    assert not isinstance(caught.value, RetryableError)
    assert repos.snapshot() == before


@pytest.mark.parametrize("clean", [True, False])
async def test_commits_that_conflict_leave_everything_as_it_was(
    repos: Repositories, history: GitHistory, clean: bool
) -> None:
    (repos.mine / "GOALS.md").write_text(GOALS.replace("Write", "Write less"))
    await history.commit("coach")
    if not clean:
        make_a_mess(repos)
    repos.they_push("GOALS.md", GOALS.replace("Write", "Write more"))
    before = repos.snapshot()
    with pytest.raises(NudgeError, match=r"Your commits conflict with what was fetched, in GOALS\.md"):
        await (history.pull_if_clean if clean else history.pull)("coach")
    assert repos.snapshot() == before
    assert not (repos.mine / ".git" / "rebase-merge").exists()


async def test_files_that_do_not_change_are_not_even_touched(repos: Repositories, history: GitHistory) -> None:
    (repos.mine / "GOALS.md").write_text(GOALS.replace("Rest", "Rest well"))
    repos.they_push("GOALS.md", GOALS.replace("Rest", "No rest"))
    before = {path.name: path.stat().st_mtime_ns for path in repos.mine.glob("*.md")}
    with pytest.raises(NudgeError):
        await history.pull("coach")
    assert {path.name: path.stat().st_mtime_ns for path in repos.mine.glob("*.md")} == before


async def test_what_worked_beside_the_folder_and_fails_inside_it_is_undone(
    repos: Repositories, history: GitHistory, monkeypatch: pytest.MonkeyPatch
) -> None:
    run, failed = Git.run, []

    async def full_disk(git: Git, *words: str) -> str:
        if words[:2] == ("stash", "pop") and not failed:
            failed.append(words)
            raise GitError("git stash: No space left on device")
        return await run(git, *words)

    make_a_mess(repos)
    repos.they_push("GOALS.md", GOALS.replace("Write", "Write more"))
    before = repos.snapshot()
    monkeypatch.setattr(Git, "run", full_disk)
    with pytest.raises(NudgeError, match=r"nothing was changed.*No space left"):
        await history.pull("coach")
    assert failed
    assert repos.snapshot() == before


async def test_what_an_interrupted_sync_set_aside_comes_back(repos: Repositories, history: GitHistory) -> None:
    (repos.mine / "GOALS.md").write_text(GOALS.replace("Rest", "Rest well"))
    repos.git(repos.mine, "-c", "user.name=x", "-c", "user.email=x@x", "stash", "push", "--quiet", "-m", MARK)
    assert "Rest well" not in (repos.mine / "GOALS.md").read_text()
    assert await history.commit("coach") == "Committed GOALS.md."
    assert "Rest well" in (repos.mine / "GOALS.md").read_text()
    assert repos.git(repos.mine, "stash", "list") == ""


async def test_the_persons_own_stash_is_theirs(repos: Repositories, history: GitHistory) -> None:
    (repos.mine / "GOALS.md").write_text("for later\n")
    repos.git(repos.mine, "-c", "user.name=x", "-c", "user.email=x@x", "stash", "push", "--quiet", "-m", "for later")
    repos.they_push("notes.md", "two\n")
    (repos.mine / "MEMORY.md").write_text("# Memory\n- now\n")
    assert await history.pull("coach") == "Pulled 1 commit."
    assert repos.git(repos.mine, "stash", "list", "--format=%gs") == "On main: for later\n"
    assert (repos.mine / "MEMORY.md").read_text() == "# Memory\n- now\n"


# Pushing


async def test_pushing_commits_first(repos: Repositories, history: GitHistory) -> None:
    (repos.mine / "GOALS.md").write_text(GOALS.replace("Rest", "Rest well"))
    assert await history.push("coach") == "Pushed."
    repos.git(repos.theirs, "pull", "--quiet")
    assert "Rest well" in (repos.theirs / "GOALS.md").read_text()


async def test_a_push_that_is_refused_says_what_to_do(repos: Repositories, history: GitHistory) -> None:
    repos.they_push("notes.md", "two\n")
    (repos.mine / "GOALS.md").write_text(GOALS.replace("Rest", "Rest well"))
    with pytest.raises(NudgeError, match=r"Nothing was pushed.*/sync first"):
        await history.push("coach")
    await history.pull("coach")
    assert await history.push("coach") == "Pushed."


# Remotes that ask, hang or do not exist


async def test_a_remote_that_is_gone_may_come_back(repos: Repositories, history: GitHistory) -> None:
    repos.remote.rename(repos.remote.with_name("moved.git"))
    before = repos.snapshot()
    with pytest.raises(RetryableError, match="The fetch failed"):
        await history.pull("coach")
    assert repos.snapshot() == before


async def test_a_remote_that_asks_for_a_password_fails_at_once_and_shows_none(
    repos: Repositories, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    asked = tmp_path / "asked"
    helper = tmp_path / "git-remote-askme"
    helper.write_text(
        "#!/bin/sh\n"
        f'printf "%s %s %s\\n" "$GIT_TERMINAL_PROMPT" "$ANTHROPIC_API_KEY" "$(tty)" > {asked}\n'
        "echo 'fatal: could not read Password for https://me:hunter2secret@x.example' >&2\n"
        "exit 128\n"
    )
    helper.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-very-secret")
    repos.git(repos.mine, "remote", "set-url", "origin", "askme://x.example/repo")
    with pytest.raises(RetryableError) as caught:
        await GitHistory(repos.home).pull("coach")
    assert "hunter2secret" not in str(caught.value)
    assert asked.read_text() == "0  not a tty\n"


@pytest.fixture
def hanging(repos: Repositories, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A remote whose helper never ends. It writes its process id into the pipe that is returned."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    helper = tmp_path / "git-remote-hang"
    helper.write_text(f"#!/bin/sh\necho $$ > {pipe}\nexec cat /dev/zero > /dev/null\n")
    helper.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    repos.git(repos.mine, "remote", "set-url", "origin", "hang://x.example/repo")
    return pipe


async def test_a_remote_that_hangs_is_given_up(repos: Repositories, hanging: Path) -> None:
    with pytest.raises(GitError, match=r"git fetch took longer than 0\.2 s"):
        await Git(repos.mine, timeout=0.2).run("fetch")


async def test_what_is_given_up_ends_with_all_it_started(repos: Repositories, hanging: Path) -> None:
    fetching = asyncio.create_task(Git(repos.mine).run("fetch"))
    helper = os.pidfd_open(int(await asyncio.to_thread(hanging.read_text)))
    try:
        assert select.select([helper], [], [], 0)[0] == []
        fetching.cancel()
        with pytest.raises(asyncio.CancelledError):
            await fetching
        assert select.select([helper], [], [], 10)[0] == [helper]  # it has ended
    finally:
        os.close(helper)


async def test_a_repository_of_somebody_else_in_the_environment_is_not_used(
    repos: Repositories, history: GitHistory, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    repos.git(other, "init", "--quiet")
    monkeypatch.setenv("GIT_DIR", str(other / ".git"))
    monkeypatch.setenv("GIT_INDEX_FILE", str(other / ".git" / "index"))
    (repos.mine / "GOALS.md").write_text(GOALS + "new\n")
    assert await history.commit("coach") == "Committed GOALS.md."
