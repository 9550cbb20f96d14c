"""Edits to a person's document that touch only the lines concerned.

The text belongs to the person. An edit replaces, adds or removes whole lines and leaves every other byte as it was,
line ends included. After an edit the result is parsed again. If it broke something (an open code fence swallowed a
heading, a paragraph became a heading), another place or form is tried.
"""

from __future__ import annotations

from collections.abc import Iterable

from nudge.coach.documents import Document, Item, Kind, Section, find_blocks, one_line
from nudge.errors import UsageError

_KEPT = (Kind.HTML, Kind.DEFINITION)
"""What a section keeps when its text is replaced: comments, and definitions that links elsewhere may need."""


def append_to_section(text: str, name: str, entry: str) -> str:
    """Return the text with a list item added at the end of the section's list, in the list's own style. A missing
    section is added at the end of the document.

    >>> append_to_section("## Today\\n* Write\\n\\n## Notes\\n", "Today", "Rest")
    '## Today\\n* Write\\n* Rest\\n\\n## Notes\\n'
    """
    document = Document.parse(_with_section(text, name))
    items = document.items(name)
    marker = items[-1].indent + _next_marker(items[-1].marker) if items else "-"
    return _write_items(document, name, items[-1].end if items else None, [_as_item(marker, one_line(entry))])


def remove_line(text: str, name: str, entry: str) -> str:
    """Return the text without the list item that says `entry` (case and spaces do not count), including its further
    lines. If there is no such item, the text stays as it is."""
    document = Document.parse(text)
    wanted = " ".join(entry.split()).casefold()
    for item in document.items(name):
        if item.text.casefold() == wanted:
            return _cut(document, item.start, item.end)
    return text


def remove_items(text: str, items: Iterable[Item]) -> str:
    """Return the text without these list items, which must come from this exact text."""
    victims = sorted(items, key=lambda item: item.start)
    document = Document.parse(text)
    if len(victims) == 1:
        return _cut(document, victims[0].start, victims[0].end)
    gone = {number for item in victims for number in range(item.start, item.end)}
    changed = "".join(line for number, line in enumerate(document.lines) if number not in gone)
    left = [(block.kind, block.title) for block in document.blocks if block.start not in gone]
    if [(block.kind, block.title) for block in find_blocks(changed)] == left:
        return changed
    # Some neighbour would become something else. Removing halves, the later one first, finds it in few parses.
    half = len(victims) // 2
    return remove_items(remove_items(text, victims[half:]), victims[:half])


def replace_item(text: str, item: Item, entry: str) -> str:
    """Return the text with one list item rewritten; it keeps its indent and marker."""
    line = _as_item(item.indent + item.marker, one_line(entry))
    return _splice(Document.parse(text), item.start, item.end, [line])


def replace_section_lines(text: str, name: str, entries: Iterable[str], *, numbered: bool = False) -> str:
    """Return the text with these list items in place of the section's own; everything else in the section stays.

    >>> replace_section_lines("## Today\\n<!-- three -->\\n1. Old\\n", "Today", ["New"], numbered=True)
    '## Today\\n<!-- three -->\\n1. New\\n'
    """
    lines = [_as_item(f"{n}." if numbered else "-", one_line(entry)) for n, entry in enumerate(entries, start=1)]
    document = Document.parse(_with_section(text, name))
    old = document.items(name)
    if not lines:
        return remove_items(document.text, old)
    if not old:
        return _write_items(document, name, None, lines)
    document = Document.parse(remove_items(document.text, old[1:]))
    first = document.items(name)[0]
    return _write_items(document, name, first.start, lines, first.end)


def replace_prose(text: str, name: str, paragraph: str) -> str:
    """Return the text with one paragraph in place of what the section says. Comments, link definitions and subsections
    stay."""
    line = one_line(paragraph)
    if not line:
        raise UsageError("An empty text cannot be written into a document.")
    if not _is_one(Kind.PARAGRAPH, line):
        line = f"\\{line}"
    document = Document.parse(_with_section(text, name))
    said = [block for block in document.own_blocks(_require(document, name)) if block.kind not in _KEPT]
    if len(said) == 1:  # in place, so that a text rewritten every day does not collect blank lines
        start, end = said[0].start, said[0].end
        changed = Document.parse(_splice(document, start, end, [line]))
        if (Kind.PARAGRAPH, start) in ((b.kind, b.start) for b in changed.blocks) and _intact(
            document, changed, start, end
        ):
            return changed.text
    for block in reversed(said):
        document = Document.parse(_cut(document, block.start, block.end))
    for place, lines in _free_places(document, _require(document, name), [line]):
        changed = Document.parse(_splice(document, place, place, lines))
        start = place + lines.index(line)
        written = any(block.kind is Kind.PARAGRAPH and block.start == start for block in changed.blocks)
        if written and _intact(document, changed, place, place):
            return changed.text
    raise _no_place(name)


def _write_items(document: Document, name: str, place: int | None, lines: list[str], end: int | None = None) -> str:
    """Write list items at `place` (replacing up to `end`), or wherever the section has room. An item swallows what is
    indented under it. If that would happen to the next line, the item is indented further."""
    section = _require(document, name)
    for form in (lines, [f"   {line.lstrip()}" for line in lines]):
        fixed = [] if place is None else [(place, form), (place, [*form, ""])]
        places = fixed or _free_places(document, section, form)
        for start, padded in places:
            stop = start if end is None else end
            changed = Document.parse(_splice(document, start, stop, padded))
            written = {block.start for block in changed.blocks if block.kind is Kind.ITEM}
            first = start + padded.index(form[0])
            if written >= set(range(first, first + len(form))) and _intact(document, changed, start, stop):
                return changed.text
    raise _no_place(name)


def _intact(before: Document, after: Document, start: int, end: int) -> bool:
    """Whether every block outside the replaced lines is still what it was, and where it was."""
    shift = len(after.lines) - len(before.lines)
    old = [(b.kind, b.start + (shift if b.start >= end else 0)) for b in before.blocks if not start <= b.start < end]
    new = [(b.kind, b.start) for b in after.blocks if not start <= b.start < end + shift]
    return old == new


def _as_item(marker: str, entry: str) -> str:
    """The entry as a list item, escaped if its first characters would make the line something else."""
    if not entry:
        raise UsageError("An empty line cannot be added to a document.")
    line = f"{marker} {entry}"
    return line if _is_one(Kind.ITEM, line) else f"{marker} \\{entry}"


def _is_one(kind: Kind, line: str) -> bool:
    """Whether the line is one such block and does not swallow what follows it, as something nested too deeply would."""
    return [block.kind for block in find_blocks(f"{line}\n\n#")] == [kind, Kind.HEADING]


def _next_marker(marker: str) -> str:
    return f"{min(int(marker[:-1]) + 1, 999_999_999)}{marker[-1]}" if marker[-1] in ".)" else marker


def _require(document: Document, name: str) -> Section:
    section = document.section(name)
    assert section is not None
    return section


def _no_place(name: str) -> UsageError:
    return UsageError(
        f"Nothing can be written into the section {name!r} without changing its other lines.",
        next_step="Edit the file by hand. Usually a code fence or a comment is never closed.",
    )


def _free_places(document: Document, section: Section, lines: list[str]) -> list[tuple[int, list[str]]]:
    """Where new lines can go in a section without a list: after its last block, or directly under its heading, where
    nothing can swallow them. Blank lines separate them from their neighbours."""
    blocks = document.own_blocks(section)
    after = document.lines[section.body : section.body + 1]
    under = (section.body, [*lines, ""] if after and after[0].strip() else list(lines))
    return [(blocks[-1].end, ["", *lines]), under] if blocks else [under]


def _cut(document: Document, start: int, end: int) -> str:
    """Remove lines. If that would turn a neighbour into something else, a blank line or an empty comment takes their
    place."""
    for left in ([], [""], ["<!-- -->", ""]):
        changed = _splice(document, start, end, left)
        if _intact(document, Document.parse(changed), start, end):
            break
    return changed


def _splice(document: Document, start: int, end: int, lines: list[str]) -> str:
    before = document.slice(0, start)
    after = document.slice(end, len(document.lines))
    if not before and after.startswith("\ufeff"):
        before, after = "\ufeff", after[1:]
    newline = document.newline
    new = "".join(line + newline for line in lines)
    if new and before.strip("\ufeff") and not before.endswith(("\n", "\r")):
        new = newline + new
    if not after and document.text and not document.text.endswith(("\n", "\r")):
        new = new.removesuffix(newline)
    return before + new + after


def _with_section(text: str, name: str) -> str:
    """The text with that section at its end, or before the last section if something that is never closed would
    swallow it at the end."""
    document = Document.parse(text)
    if document.section(name):
        return text
    places = [len(document.lines)]
    if document.blocks:
        places.append((document.sections or document.blocks)[-1].start)
    for place in places:
        above = [""] if place and document.lines[place - 1].strip() else []
        below = [""] if place < len(document.lines) else []
        changed = Document.parse(_splice(document, place, place, [*above, f"## {one_line(name)}", *below]))
        if changed.section(name) and _intact(document, changed, place, place):
            return changed.text
    raise _no_place(name)
