"""Whole numbers: counts, amounts and limits. A fraction rounds, NaN passes every comparison, and True is 1."""

from __future__ import annotations

from typing import TypeGuard


def is_whole(value: object) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool)
