"""The pictures that README and docs show: they are there, they are small, and somebody who does not see them is told
what is on them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
SHOWN = re.compile(r'!\[(?P<alt>[^\]]*)\]\((?P<file>[^)]+)\)|<img src="(?P<src>[^"]+)" alt="(?P<words>[^"]*)"')
OTHERS = re.compile(r'srcset="([^"]+)"')
LARGEST, ALL = 150_000, 1_500_000


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_picture_is_there_and_has_words(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    for found in SHOWN.finditer(text):
        assert (page.parent / (found["file"] or found["src"])).is_file(), found[0]
        assert len(found["alt"] or found["words"] or "") > 20, found[0]
    for name in OTHERS.findall(text):
        assert (page.parent / name).is_file(), name


def test_pictures_are_small_and_each_is_shown() -> None:
    files = sorted((ROOT / "docs" / "pictures").iterdir())
    assert {one.name: one.stat().st_size for one in files if one.stat().st_size > LARGEST} == {}
    assert sum(one.stat().st_size for one in files) < ALL
    text = "".join(page.read_text(encoding="utf-8") for page in PAGES)
    assert [one.name for one in files if f"pictures/{one.name}" not in text] == []


def test_the_readme_shows_them() -> None:
    assert len(SHOWN.findall((ROOT / "README.md").read_text(encoding="utf-8"))) >= 3
