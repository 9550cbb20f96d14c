"""Snapshots of a workspace on every store: nothing gets lost, damage is noticed, and two daemons do not collide."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from nudge.clock import SystemClock
from nudge.errors import NotFoundError
from nudge.instants import HOUR, Instant
from nudge.progress.store import Session
from nudge.testing import MemoryBlobs
from nudge.worker import manifest as manifests
from nudge.worker import scan as scans
from nudge.worker.blobs import Blobs, BlobsUnavailableError
from nudge.worker.manifest import Changes, DamagedSnapshotError, Manifest
from nudge.worker.snapshots import Snapshots
from nudge.worker.workspace import Workspace
from nudge.worker.workspaces import KeptWorkspaces
from tests.cli.cli import CliHere

pytestmark = pytest.mark.process

NOW = Instant(2_000_000_000_000_000)
SHORT = 1_000


@pytest.fixture
def workspace(tmp_path: Path) -> Iterator[Workspace]:
    top = tmp_path / "work"
    (top / "src/deep").mkdir(parents=True)
    (top / "empty").mkdir(mode=0o750)
    (top / "src/app.py").write_text("print(1)\n")
    (top / "src/deep/run.sh").write_text("echo\n")
    (top / "src/deep/run.sh").chmod(0o755)
    (top / "same1").write_text("twice")
    (top / "same2").write_text("twice")
    (top / "nothing").touch()
    (top / "link").symlink_to("src/app.py")
    (top / "dangling").symlink_to("/nowhere/at all")
    (top / "odd näme\n").write_text("x")
    (top / os.fsdecode(b"not-\xff-utf8")).write_text("y")
    with Workspace(top) as opened:
        yield opened


def state(workspace: Workspace) -> dict[str, object]:
    """Everything that a snapshot keeps, read by other means."""
    found: dict[str, object] = {}
    for path in sorted(workspace.path.rglob("*")):
        mode = path.lstat().st_mode
        content = path.readlink() if path.is_symlink() else path.read_bytes() if path.is_file() else None
        found[str(path)] = (0 if path.is_symlink() else mode, content)
    return found


def spoil(workspace: Workspace) -> None:
    """One of everything that can happen to files."""
    top = workspace.path
    (top / "src/app.py").write_text("changed")
    (top / "src/deep/run.sh").chmod(0o600)
    (top / "same1").unlink()
    (top / "link").unlink()
    (top / "link").symlink_to("same2")
    (top / "empty").rmdir()
    (top / "empty").write_text("a file now")
    (top / "nothing").unlink()
    (top / "nothing").mkdir()
    (top / "nothing/inside").write_text("x")
    (top / "new/deep").mkdir(parents=True)
    (top / "new/deep/er").write_text("x")
    (top / "dangling").unlink()


def test_a_workspace_comes_back_as_it_was(new_blobs: Callable[[], Blobs], workspace: Workspace) -> None:
    before = state(workspace)
    assert Snapshots(new_blobs(), "dev").create(workspace, NOW).manifest.number == 1
    spoil(workspace)
    snapshots = Snapshots(new_blobs(), "dev")
    found = snapshots.verify(workspace).changes
    assert set(found.added) == {"new", "new/deep", "new/deep/er", "nothing/inside"}
    assert set(found.removed) == {"same1", "dangling"}
    assert set(found.changed) == {"src/app.py", "src/deep/run.sh", "link", "empty", "nothing"}
    assert snapshots.restore(workspace).changes == found
    assert state(workspace) == before
    assert not snapshots.verify(workspace).changes


def test_only_what_changed_is_stored(new_blobs: Callable[[], Blobs], workspace: Workspace, tmp_path: Path) -> None:
    snapshots = Snapshots(new_blobs(), "dev", tmp_path / "cache")
    first = snapshots.create(workspace, NOW)
    assert first.stored_pieces == 5, "of seven files two are the same and one is empty"
    assert snapshots.create(workspace, NOW).stored_pieces == 0
    (workspace.path / "src/app.py").write_text("print(2)\n")
    assert snapshots.create(workspace, NOW).stored_pieces == 1
    (workspace.path / "src/app.py").write_text("print(1)\n")
    assert snapshots.numbers() == [3, 2, 1]
    assert snapshots.verify(workspace, 1).changes == Changes()
    assert snapshots.verify(workspace).changes == Changes(changed=("src/app.py",))


def test_a_large_file_is_stored_in_pieces(
    new_blobs: Callable[[], Blobs], workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (manifests, scans):
        monkeypatch.setattr(module, "CHUNK_BYTES", SHORT)
    monkeypatch.setattr("nudge.worker.snapshots.CHUNK_BYTES", SHORT)
    snapshots = Snapshots(new_blobs(), "dev")
    snapshots.create(workspace, NOW)
    large = workspace.path / "large"
    large.write_bytes(b"".join(bytes([n]) * SHORT for n in range(5)) + b"rest")
    before = state(workspace)
    assert snapshots.create(workspace, NOW).stored_pieces == 6
    with large.open("r+b") as file:
        file.seek(SHORT)
        file.write(b"!")
    assert snapshots.create(workspace, NOW).stored_pieces == 1
    snapshots.restore(workspace, 2)
    assert state(workspace) == before


@pytest.mark.parametrize(
    ("harm", "said"),
    [
        pytest.param("damage manifest", "list of files is damaged", id="its manifest is damaged"),
        pytest.param("halve manifest", "list of files is damaged", id="half of its manifest is there"),
        pytest.param("empty manifest", "list of files is damaged", id="its manifest is empty"),
        pytest.param("lose piece", "missing", id="a piece is missing"),
        pytest.param("damage piece", "damaged", id="a piece is damaged"),
    ],
)
def test_a_damaged_snapshot_is_noticed_and_the_one_before_is_used(harm: str, said: str, workspace: Workspace) -> None:
    blobs = MemoryBlobs()
    snapshots = Snapshots(blobs, "dev")
    snapshots.create(workspace, NOW)
    before = state(workspace)
    (workspace.path / "src/app.py").write_text("second")
    snapshots.create(workspace, NOW)
    verb, _, what = harm.partition(" ")
    manifest = "dev/manifests/00000002"
    (new,) = snapshots.manifest(2).chunks - snapshots.manifest(1).chunks
    key = manifest if what == "manifest" else f"dev/pieces/{new[:2]}/{new}"
    content = blobs.get(key)
    assert content is not None
    match verb:
        case "damage":
            blobs.damage(key)
        case "lose":
            blobs.lose(key)
        case "halve":
            blobs.put(key, content[: len(content) // 2])
        case "empty":
            blobs.put(key, b"")
    (workspace.path / "src/app.py").write_text("third")
    with pytest.raises(DamagedSnapshotError, match=said):
        snapshots.check(2)
    restored = snapshots.restore(workspace)
    assert (restored.manifest.number, [number for number, _ in restored.damaged]) == (1, [2])
    assert said in restored.damaged[0][1]
    assert state(workspace) == before


def test_a_restore_that_cannot_be_finished_touches_nothing(workspace: Workspace) -> None:
    blobs = MemoryBlobs()
    snapshots = Snapshots(blobs, "dev")
    snapshots.create(workspace, NOW)
    for key in blobs.list("dev/pieces"):
        blobs.damage(key)
    spoil(workspace)
    before = state(workspace)
    with pytest.raises(DamagedSnapshotError, match="No snapshot of dev is intact"):
        snapshots.restore(workspace)
    assert state(workspace) == before


def test_what_the_store_lost_is_stored_again_by_a_thorough_one(workspace: Workspace) -> None:
    blobs = MemoryBlobs()
    snapshots = Snapshots(blobs, "dev")
    snapshots.create(workspace, NOW)
    blobs.lose(next(iter(blobs.list("dev/pieces"))))
    snapshots.create(workspace, NOW)
    with pytest.raises(DamagedSnapshotError, match="missing"):
        snapshots.verify(workspace, 2)
    assert snapshots.create(workspace, NOW, thorough=True).stored_pieces == 1
    snapshots.check(3)


class Meddling(MemoryBlobs):
    """Another daemon makes a snapshot, and prunes, just before ours is written."""

    other: Callable[[], object] | None = None

    def put_new(self, key: str, content: bytes) -> bool:
        if self.other is not None:
            act, self.other = self.other, None
            act()
        return super().put_new(key, content)


def test_two_daemons_do_not_overwrite_each_other(workspace: Workspace, tmp_path: Path) -> None:
    blobs = Meddling()
    mine, theirs = Snapshots(blobs, "dev"), Snapshots(blobs, "dev")
    mine.create(workspace, NOW)
    (tmp_path / "else").mkdir()
    (tmp_path / "else/f").write_text("theirs")

    def meddle() -> None:
        with Workspace(tmp_path / "else") as elsewhere:
            theirs.create(elsewhere, NOW)
        theirs.prune(Instant(NOW + 2 * HOUR), keep=1)

    blobs.other = meddle
    made = mine.create(workspace, NOW)
    assert made.manifest.number == 3
    assert mine.manifest(2).items.keys() == {"f"}
    mine.check(2)
    mine.check(3)


def test_old_snapshots_are_pruned_and_the_kept_ones_stay_whole(workspace: Workspace) -> None:
    blobs = MemoryBlobs()
    snapshots = Snapshots(blobs, "dev")
    for number in range(1, 6):
        (workspace.path / "src/app.py").write_text(f"version {number}")
        snapshots.create(workspace, NOW)
    pieces = len(blobs.list("dev/pieces"))
    assert snapshots.prune(NOW, keep=2) == 3
    assert snapshots.numbers() == [5, 4]
    assert len(blobs.list("dev/pieces")) == pieces - 3
    snapshots.check(4)
    snapshots.check(5)
    assert snapshots.prune(NOW, keep=2) == 0


def test_pieces_that_were_just_stored_are_not_pruned(workspace: Workspace) -> None:
    blobs = MemoryBlobs(lambda: NOW)
    snapshots = Snapshots(blobs, "dev")
    snapshots.create(workspace, NOW)
    blobs.put("dev/pieces/aa/aa", b"of a snapshot that is being made")
    snapshots.create(workspace, NOW)
    snapshots.prune(NOW, keep=1)
    assert blobs.get("dev/pieces/aa/aa") is not None
    snapshots.create(workspace, NOW)
    snapshots.prune(Instant(NOW + 2 * HOUR), keep=1)
    assert blobs.get("dev/pieces/aa/aa") is None


def test_a_change_that_keeps_size_and_time_is_noticed(workspace: Workspace, tmp_path: Path) -> None:
    snapshots = Snapshots(MemoryBlobs(), "dev", tmp_path / "cache")
    file = workspace.path / "src/app.py"
    snapshots.create(workspace, NOW)
    times = file.stat()
    file.write_text("print(9)\n")
    os.utime(file, ns=(times.st_atime_ns, times.st_mtime_ns))
    assert snapshots.create(workspace, NOW).stored_pieces == 1
    assert snapshots.verify(workspace).changes == Changes()


def test_a_damaged_cache_only_costs_time(workspace: Workspace, tmp_path: Path) -> None:
    snapshots = Snapshots(MemoryBlobs(), "dev", tmp_path / "cache")
    snapshots.create(workspace, NOW)
    for content in ("", "{", "[1]", '{"src/app.py": 3}'):
        (tmp_path / "cache").write_text(content)
        assert snapshots.create(workspace, NOW).stored_pieces == 0
        assert not snapshots.verify(workspace).changes


def test_what_cannot_be_kept_is_named(workspace: Workspace) -> None:
    os.mkfifo(workspace.path / "pipe")
    assert Snapshots(MemoryBlobs(), "dev").create(workspace, NOW).left_out == ("pipe",)


def test_a_mode_that_runs_as_its_owner_does_not_come_back(workspace: Workspace) -> None:
    file = workspace.path / "src/app.py"
    file.chmod(0o4755)
    snapshots = Snapshots(MemoryBlobs(), "dev")
    snapshots.create(workspace, NOW)
    file.unlink()
    snapshots.restore(workspace)
    assert file.stat().st_mode & 0o7777 == 0o755


def test_a_manifest_that_somebody_changed_gives_no_such_mode_either(workspace: Workspace) -> None:
    blobs, piece = MemoryBlobs(), b"#!/bin/sh"
    forged = {
        "s": manifests.Item("f", 0o6755, len(piece), 0, (manifests.digest_of(piece),)),
        "d": manifests.Item("d", 0o2777),
    }
    snapshots = Snapshots(blobs, "worker")
    blobs.put(snapshots._piece_key(manifests.digest_of(piece)), piece)
    blobs.put(snapshots._manifest_key(1), Manifest(1, Instant(0), "forged", forged).encode())
    snapshots.restore(workspace)
    assert [(workspace.path / name).stat().st_mode & 0o7777 for name in forged] == [0o755, 0o777]


def test_without_a_snapshot_there_is_nothing_to_restore(workspace: Workspace) -> None:
    with pytest.raises(NotFoundError, match="dev has no snapshot"):
        Snapshots(MemoryBlobs(), "dev").restore(workspace)


def test_a_manifest_is_read_as_it_was_written() -> None:
    written = Manifest(
        3, NOW, "sleep", {"a\udcff": manifests.Item("f", 0o644, 3, 9, ("aa", "bb")), "b": manifests.Item("d", 0o700)}
    )
    assert Manifest.decode(written.encode()) == written


def test_the_command_line_keeps_them_on_s3(s3: tuple[str, dict[str, str]], tmp_path: Path) -> None:
    url, environment = s3
    here = CliHere(tmp_path / "home", environment)
    here("init")
    (here.home / "nudge.toml").write_text(f'[worker]\nsnapshots = "{url}/{tmp_path.name}"\n')
    work = here.home / "agents" / "dev" / "workspace"
    work.mkdir(parents=True)
    (work / "a").write_text("one")
    here("snapshot", "create")
    (work / "a").write_text("two")
    here("snapshot", "restore")
    assert (work / "a").read_text() == "one"
    assert not (here.home / "snapshots").exists()
    assert environment["AWS_SECRET_ACCESS_KEY"] not in here("config", "show").stdout


class Failing(MemoryBlobs):
    """Fails at one call, as a network or a crash does there."""

    left: int | None = None

    def _count(self) -> None:
        if self.left is not None:
            self.left -= 1
            if self.left < 0:
                raise BlobsUnavailableError

    def get(self, key: str) -> bytes | None:
        self._count()
        return super().get(key)

    def put(self, key: str, content: bytes) -> None:
        self._count()
        super().put(key, content)


def test_a_failure_at_any_call_leaves_the_snapshots_before_it_and_the_workspace(workspace: Workspace) -> None:
    blobs = Failing()
    snapshots = Snapshots(blobs, "dev")
    snapshots.create(workspace, NOW)
    before = state(workspace)
    for allowed in range(100):
        spoil(workspace)
        for number in range(3):
            (workspace.path / f"new{number}").write_text(f"{allowed} {number}")
        spoilt = state(workspace)
        blobs.left = allowed
        failed = 0
        try:
            snapshots.create(workspace, NOW)
        except BlobsUnavailableError:
            failed += 1
            blobs.left = allowed
            try:
                snapshots.restore(workspace)
            except BlobsUnavailableError:
                failed += 1
        blobs.left = None
        if not failed:
            assert snapshots.numbers() == [2, 1]
            snapshots.check(2)
            break
        assert snapshots.numbers() == [1]
        snapshots.check(1)
        assert state(workspace) == (spoilt if failed == 2 else before)
        snapshots.restore(workspace)
        assert state(workspace) == before
    else:
        pytest.fail("it never succeeded")


def test_steps_are_kept_here_and_some_of_them_far_away(new_blobs: Callable[[], Blobs], tmp_path: Path) -> None:
    folder, here, there = tmp_path / "workspace", MemoryBlobs(), new_blobs()
    kept = KeptWorkspaces(
        lambda agent: folder,
        lambda agent: Snapshots(here, agent),
        SystemClock(),
        far_of=lambda agent: Snapshots(there, agent),
        send_every=3,
    )

    async def main() -> None:
        async def step(number: int) -> str:
            folder.mkdir(exist_ok=True)
            (folder / "log.txt").write_text(f"{number}\n")
            return await kept.keep(Session("w", "s1"))

        names = [await step(number) for number in range(1, 5)]
        assert names == ["00000001", "00000002", "00000003", "00000004"]
        assert Snapshots(there, "w").numbers() == [1], "after the third step"
        await kept.send_away("w")
        await kept.send_away("w")
        assert Snapshots(there, "w").numbers() == [2, 1], "with what had changed, once"
        (folder / "log.txt").write_text("touched")
        assert await kept.put_back("w", names[2]) == ["log.txt"]
        assert (folder / "log.txt").read_text() == "3\n"
        for key in [*here.list("w")]:
            here.lose(key)
        assert await kept.put_back("w", names[3]) == ["log.txt"], "what was kept here is lost"
        assert (folder / "log.txt").read_text() == "4\n"

    asyncio.run(main())


def test_work_goes_on_while_the_far_place_cannot_be_reached(tmp_path: Path) -> None:
    class Away(MemoryBlobs):
        def put_new(self, key: str, content: bytes) -> bool:
            raise BlobsUnavailableError("S3 is away.")

    here = MemoryBlobs()
    far: MemoryBlobs = Away()
    kept = KeptWorkspaces(
        lambda agent: tmp_path,
        lambda agent: Snapshots(here, agent),
        SystemClock(),
        far_of=lambda agent: Snapshots(far, agent),
        send_every=1,
    )
    assert asyncio.run(kept.keep(Session("w", "s1"))) == "00000001"
    far = MemoryBlobs()
    asyncio.run(kept.send_away("w"))
    assert Snapshots(far, "w").numbers() == [1]
