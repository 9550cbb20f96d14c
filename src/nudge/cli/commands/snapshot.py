"""Commands about snapshots of an agent's workspace: list, create, verify, restore, diff."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from nudge.cli.context import Context
from nudge.cli.render import clock_time, note, number_from, out, out_json, table
from nudge.errors import NotFoundError, UsageError
from nudge.instants import rfc3339
from nudge.palette import Tone, painted
from nudge.queue.agents import DEFAULT

if TYPE_CHECKING:
    from nudge.worker.manifest import Changes, Manifest
    from nudge.worker.snapshots import Snapshots
    from nudge.worker.workspace import Workspace

_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,62}")


def _shared(parser: argparse.ArgumentParser, *, json: bool = True) -> None:
    parser.add_argument("--agent", metavar="NAME", help="the agent (default: the only one besides the coach)")
    if json:
        parser.add_argument("--json", action="store_true", help="print JSON")


def _number(parser: argparse.ArgumentParser, name: str, text: str) -> None:
    parser.add_argument(name, nargs="?", type=number_from(1), metavar=name.upper(), help=text)


def _snapshots(args: argparse.Namespace, context: Context) -> tuple[str, Snapshots]:
    from nudge.daemon.world import snapshots_of

    agent = _agent(args, context)
    return agent, snapshots_of(context.config, agent)


def _agent(args: argparse.Namespace, context: Context) -> str:
    names = sorted(path.parent.name for path in context.home.path.glob("agents/*/workspace"))
    if args.agent:
        if not _NAME.fullmatch(args.agent) or args.agent not in names:
            known = f"Those with one: {', '.join(names)}." if names else "No agent has one yet."
            raise NotFoundError(f"{args.agent} has no workspace.", next_step=known)
        return str(args.agent)
    if not names:
        raise NotFoundError("No agent has a workspace yet.", next_step="Add one: nudge agent add NAME --role ROLE")
    workers = [name for name in names if name != DEFAULT] or names
    if len(workers) > 1:
        raise UsageError(f"Several agents have a workspace: {', '.join(workers)}.", next_step="Say which: --agent NAME")
    return workers[0]


@contextmanager
def _workspace(context: Context, agent: str) -> Iterator[Workspace]:
    from nudge.worker.workspace import Workspace

    with Workspace(context.home.workspace(agent)) as workspace:
        yield workspace


def list_arguments(parser: argparse.ArgumentParser) -> None:
    _shared(parser)


def list_(args: argparse.Namespace) -> int:
    """List the snapshots of an agent, the newest first."""
    from nudge.worker.manifest import DamagedSnapshotError

    context = Context(args)
    agent, snapshots = _snapshots(args, context)
    found: list[tuple[int, Manifest | None, str]] = []
    for number in snapshots.numbers():
        try:
            found.append((number, snapshots.manifest(number), ""))
        except DamagedSnapshotError as error:
            found.append((number, None, error.message))
    if args.json:
        out_json([_json(number, manifest, problem, context) for number, manifest, problem in found])
        return 0
    if not found:
        note(f"{agent} has no snapshot yet. 'nudge snapshot create' makes one.")
        return 0
    table(["NUMBER", "WHEN", "FILES", "SIZE", "WHY"], [_row(*one, context) for one in found])
    return 0


def _row(number: int, manifest: Manifest | None, problem: str, context: Context) -> list[str]:
    if manifest is None:
        return [str(number), "-", "-", "-", f"damaged: {problem}"]
    when = clock_time(manifest.created_at, context.zone, context.now)
    return [str(number), when, f"{manifest.files:,}", _size(manifest.size), manifest.reason]


def _json(number: int, manifest: Manifest | None, problem: str, context: Context) -> dict[str, Any]:
    return {
        "number": number,
        "created_at": rfc3339(manifest.created_at, context.zone) if manifest else None,
        "reason": manifest.reason if manifest else "",
        "files": manifest.files if manifest else 0,
        "bytes": manifest.size if manifest else 0,
        "problem": problem,
    }


def create_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--thorough", action="store_true", help="read every file, and store again what is missing")
    _shared(parser)


def create(args: argparse.Namespace) -> int:
    """Make a snapshot of an agent's workspace now. Only what has changed is stored."""
    context = Context(args)
    agent, snapshots = _snapshots(args, context)
    with _workspace(context, agent) as workspace:
        made = snapshots.create(workspace, context.now, thorough=args.thorough)
    snapshots.prune(context.now, context.config.worker.keep_snapshots)
    manifest = made.manifest
    if args.json:
        stored = {"stored_pieces": made.stored_pieces, "stored_bytes": made.stored_bytes}
        out_json({**_json(manifest.number, manifest, "", context), **stored, "left_out": list(made.left_out)})
        return 0
    note(
        f"Made snapshot {manifest.number} of {agent}: {_many(manifest.files, 'file')}, {_size(manifest.size)}; "
        f"{_size(made.stored_bytes)} of it new."
    )
    for path in made.left_out:
        note(f"Left out: {path} is not a file, folder or link.")
    return 0


def verify_arguments(parser: argparse.ArgumentParser) -> None:
    _number(parser, "number", "the snapshot; default: the newest intact one")
    parser.add_argument("--stored", action="store_true", help="read the stored snapshot back as well")
    _shared(parser)


def verify(args: argparse.Namespace) -> int:
    """Compare every byte of the workspace with a snapshot. Exits with 1 if they differ, or if a snapshot is damaged."""
    context = Context(args)
    agent, snapshots = _snapshots(args, context)
    with _workspace(context, agent) as workspace:
        found = snapshots.verify(workspace, args.number)
    if args.stored:
        snapshots.check(found.manifest.number)
    if args.json:
        damaged = [{"number": number, "problem": problem} for number, problem in found.damaged]
        out_json(
            {"number": found.manifest.number, "same": not found.changes, **_lists(found.changes), "damaged": damaged}
        )
    else:
        for number, problem in found.damaged:
            note(f"Snapshot {number} is damaged: {problem}")
        _print(found.changes, context)
        note(
            f"The workspace of {agent} differs from snapshot {found.manifest.number} in {_places(found.changes)}."
            if found.changes
            else f"The workspace of {agent} is exactly snapshot {found.manifest.number}."
        )
    return 1 if found.changes or found.damaged else 0


def restore_arguments(parser: argparse.ArgumentParser) -> None:
    _number(parser, "number", "the snapshot; default: the newest intact one")
    _shared(parser)


def restore(args: argparse.Namespace) -> int:
    """Restore a snapshot. The current files are first kept as a new snapshot."""
    context = Context(args)
    agent, snapshots = _snapshots(args, context)
    kept = None
    with _workspace(context, agent) as workspace:
        found = snapshots.verify(workspace, args.number)
        number = found.manifest.number
        if found.changes:
            kept = snapshots.create(workspace, context.now, f"before restoring {number}").manifest.number
            snapshots.restore(workspace, number)
    if args.json:
        out_json({"number": number, "kept_as": kept, **_lists(found.changes)})
        return 0
    for damaged, problem in found.damaged:
        note(f"Snapshot {damaged} is damaged: {problem}")
    if kept is None:
        note(f"Nothing to do: the workspace of {agent} is exactly snapshot {number}.")
    else:
        note(f"Restored snapshot {number} of {agent}: {_places(found.changes)} put right.")
        note(f"What was there is kept: 'nudge snapshot restore {kept}' brings it back.")
    return 0


def diff_arguments(parser: argparse.ArgumentParser) -> None:
    _number(parser, "number", "the snapshot (default: the newest)")
    _number(parser, "other", "another snapshot (default: the workspace as it is now)")
    _shared(parser)


def diff(args: argparse.Namespace) -> int:
    """Show what changed from one snapshot to another, or to the current workspace: + new, - gone, ~ changed."""
    from nudge.worker.manifest import changes_between
    from nudge.worker.scan import scan

    context = Context(args)
    agent, snapshots = _snapshots(args, context)
    number = args.number or next(iter(snapshots.numbers()), None)
    if number is None:
        raise NotFoundError(f"{agent} has no snapshot.", next_step="Run 'nudge snapshot create'.")
    before = snapshots.manifest(number).items
    if args.other:
        after = snapshots.manifest(args.other).items
    else:
        with _workspace(context, agent) as workspace:
            after = scan(workspace).items
    changes = changes_between(before, after)
    if args.json:
        out_json({"number": number, "other": args.other, **_lists(changes)})
    else:
        _print(changes, context)
        if not changes:
            note("No difference.")
    return 0


def _lists(changes: Changes) -> dict[str, list[str]]:
    return {"added": list(changes.added), "removed": list(changes.removed), "changed": list(changes.changed)}


def _print(changes: Changes, context: Context) -> None:
    lines = [(path, "+", Tone.GOOD) for path in changes.added]
    lines += [(path, "-", Tone.BAD) for path in changes.removed]
    lines += [(path, "~", Tone.WARN) for path in changes.changed]
    for path, mark, colour in sorted(lines):
        out(f"{painted(mark, colour, context.colour)} {path}")


def _places(changes: Changes) -> str:
    return _many(len(changes), "place")


def _many(count: int, word: str) -> str:
    return f"1 {word}" if count == 1 else f"{count:,} {word}s"


def _size(count: int) -> str:
    """
    >>> _size(900), _size(12_300_000)
    ('900 B', '12.3 MB')
    """
    for unit, size in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if count >= size:
            return f"{count / size:.1f} {unit}"
    return f"{count} B"
