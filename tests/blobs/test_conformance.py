"""What every store of blobs must do: in memory, in a folder, on a real S3 server."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from nudge.blobs.obstore import open_blobs
from nudge.errors import NotConfiguredError
from nudge.worker.blobs import Blobs, BlobsUnavailableError

pytestmark = pytest.mark.process


def test_what_was_put_is_there(new_blobs: Callable[[], Blobs]) -> None:
    blobs = new_blobs()
    blobs.put("a/x/1", b"one")
    blobs.put("a/x/1", b"other")
    blobs.put("ab/2", b"")
    assert new_blobs().get("a/x/1") == b"other"
    assert blobs.get("ab/2") == b""
    assert blobs.get("nope") is None
    assert {key: info.size for key, info in blobs.list("a").items()} == {"a/x/1": 5}
    assert dict(blobs.list("nowhere")) == {}


def test_of_many_who_put_a_new_one_exactly_one_succeeds(new_blobs: Callable[[], Blobs]) -> None:
    def put(number: int) -> bool:
        return new_blobs().put_new("a/7", str(number).encode())

    with ThreadPoolExecutor(16) as pool:
        wins = [number for number, won in enumerate(pool.map(put, range(16))) if won]
    assert len(wins) == 1
    assert new_blobs().get("a/7") == str(wins[0]).encode()


def test_what_is_removed_is_gone_and_what_is_not_there_is_no_mistake(new_blobs: Callable[[], Blobs]) -> None:
    blobs = new_blobs()
    for key in ("a/1", "a/2", "a/3"):
        blobs.put(key, b"x")
    blobs.delete(["a/1", "a/nope", "a/2"])
    assert list(blobs.list("a")) == ["a/3"]


def test_a_server_that_is_away_is_told_as_such() -> None:
    away = {"AWS_ENDPOINT_URL": "http://127.0.0.1:9", "AWS_ACCESS_KEY_ID": "k", "AWS_SECRET_ACCESS_KEY": "hidden-key"}
    blobs = open_blobs("s3://bkt/x", {**away, "AWS_PROFILE": "of another program"})
    with pytest.raises(BlobsUnavailableError) as told:
        blobs.get("a")
    assert "hidden-key" not in str(told.value)


def test_wrong_keys_are_told_as_such(s3: tuple[str, dict[str, str]]) -> None:
    url, environment = s3
    with pytest.raises(NotConfiguredError, match="denied access"):
        open_blobs(url, {**environment, "AWS_SECRET_ACCESS_KEY": "wrong"}).put("a", b"x")


def test_a_url_of_no_known_kind_is_refused() -> None:
    with pytest.raises(NotConfiguredError, match="cannot be used for snapshots"):
        open_blobs("ftp://example.org/x", {})


def test_a_folder_is_private(tmp_path: Path) -> None:
    open_blobs(str(tmp_path / "new"), {})
    assert (tmp_path / "new").stat().st_mode & 0o777 == 0o700
