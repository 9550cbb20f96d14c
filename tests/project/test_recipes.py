"""CONTRIBUTING's recipes name files that exist, and the words we do not use stay unused."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
RECIPES = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
NAMED = sorted(set(re.findall(r"`((?:src|tests|docs|scripts)/[\w./-]+)`", RECIPES)))

UNUSED = {
    r"\bmend(s|ed|ing)?\b": "fix",
    r"\banew\b": "again",
    r"\bwhom\b": "who",
    r"\bthat which\b": "what",
    r"\bof which\b": "a sentence of its own",
    r"\b(is|are) to be\b": "must be",
    r"\bone time more\b": "once more",
    r"\blet some rest\b": "pause",
    r"\bwho there is\b": "list",
    r"\bserved (its|their) purpose\b": "done",
    r"\bthe channel is asked again\b": "retrying",
    r"\bspeaks? against\b": "holds it back",
    r"\bat the present rate\b": "at this rate",
    r"\bto be of use\b": "useful",
    r"\b(does|do) not pay for\b": "does not cover",
    r"\bstands? there twice\b": "is there twice",
    r"\bhow (it|they|the \w+) stands?\b": "its state",
    r"\bbegins again\b": "resets",
    r"\bdearest\b": "highest",
    r"\bfor ever\b": "forever",
    r"\balike\b": "in the same way",
    r"\bin whatever way\b": "leave it out",
    r"\bhad better\b": "should",
    r"\bmakes no sense\b": "cannot be read",
    r"\b(thereby|such that)\b": "two sentences",
    r"help=\"whose ": "the agent",
    r"help=\"as JSON": "print JSON",
}
"""Words that read as translated, and what to write instead."""

TEXTS = [
    path
    for pattern in ("src/nudge/**/*.py", "src/nudge/**/*.md", "src/nudge/**/*.toml", "src/nudge/**/*.yaml", "docs/*.md")
    for path in sorted(ROOT.glob(pattern))
] + [ROOT / name for name in ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md")]


def test_there_are_ten_recipes() -> None:
    chapter = RECIPES.split("## Ten changes")[1].split("\n## ")[0]
    assert chapter.count("\n### ") == 10


@pytest.mark.parametrize("name", NAMED)
def test_a_file_that_a_recipe_names_exists(name: str) -> None:
    assert (ROOT / name).exists()


@pytest.mark.parametrize("pattern", UNUSED, ids=lambda pattern: UNUSED[pattern])
def test_a_word_that_we_do_not_use_is_not_used(pattern: str) -> None:
    word = re.compile(pattern, re.IGNORECASE)
    found = [
        f"{path.relative_to(ROOT)}:{number}: {line.strip()[:100]}"
        for path in TEXTS
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if word.search(line)
    ]
    assert not found, f"write {UNUSED[pattern]!r} instead:\n" + "\n".join(found)
