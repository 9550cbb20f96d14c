"""Blobs on obstore: a folder, S3 and what speaks like it, Google's and Microsoft's stores, by URL."""

from __future__ import annotations

import builtins
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nudge.errors import NotConfiguredError, needs_extra
from nudge.instants import as_instant
from nudge.worker.blobs import BlobInfo, BlobsUnavailableError

if TYPE_CHECKING:
    from obstore.store import ObjectStore

_AT_ONCE = 1_000
_RETRIES: Any = {"max_retries": 3, "retry_timeout": timedelta(seconds=20)}
S3_SETTINGS = ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_ENDPOINT_URL", "AWS_REGION")


class ObstoreBlobs:
    """`where` is what people read in errors."""

    def __init__(self, store: ObjectStore, where: str) -> None:
        self._store = store
        self._where = where

    def get(self, key: str) -> bytes | None:
        import obstore

        with self._explained():
            try:
                return bytes(obstore.get(self._store, key).bytes())
            except FileNotFoundError:
                return None

    def put(self, key: str, content: bytes) -> None:
        import obstore

        with self._explained():
            obstore.put(self._store, key, content, use_multipart=False)

    def put_new(self, key: str, content: bytes) -> bool:
        import obstore
        from obstore.exceptions import AlreadyExistsError, PreconditionError

        with self._explained():
            try:
                obstore.put(self._store, key, content, mode="create", use_multipart=False)
            except (AlreadyExistsError, PreconditionError):
                return False
            return True

    def list(self, prefix: str) -> Mapping[str, BlobInfo]:
        import obstore

        found: dict[str, BlobInfo] = {}
        with self._explained():
            for page in obstore.list(self._store, prefix, chunk_size=_AT_ONCE):
                for one in page:
                    found[one["path"]] = BlobInfo(one["size"], as_instant(one["last_modified"]))
        return found

    def delete(self, keys: Iterable[str]) -> None:
        import obstore

        waiting = builtins.list(keys)
        with self._explained():
            for start in range(0, len(waiting), _AT_ONCE):
                try:
                    obstore.delete(self._store, waiting[start : start + _AT_ONCE])
                except FileNotFoundError:  # somebody was faster; the rest of these one by one
                    for key in waiting[start : start + _AT_ONCE]:
                        try:
                            obstore.delete(self._store, key)
                        except FileNotFoundError:
                            continue

    @contextmanager
    def _explained(self) -> Iterator[None]:
        from obstore.exceptions import BaseError, PermissionDeniedError, UnauthenticatedError

        try:
            yield
        except (PermissionDeniedError, UnauthenticatedError) as error:
            raise NotConfiguredError(
                f"{self._where} denied access: {_first_line(error)}", next_step="Check the AWS_ keys in .env."
            ) from None
        except (BaseError, OSError) as error:
            raise BlobsUnavailableError(
                f"{self._where} does not answer: {_first_line(error)}", next_step="Check the address and the network."
            ) from None


def open_blobs(url: str, environment: Mapping[str, str]) -> ObstoreBlobs:
    """A folder by its path, or a store by its URL (s3://bucket/folder). Keys and endpoint of S3 come from AWS_*."""
    try:
        from obstore.exceptions import BaseError
        from obstore.store import LocalStore, from_url
    except ImportError:
        raise needs_extra("Snapshots need obstore, which is not installed.", "snapshots") from None
    if "://" not in url:
        folder = Path(url).expanduser()
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        return ObstoreBlobs(LocalStore(folder), str(folder))
    settings: Any = {}
    if url.startswith("s3://"):
        settings = {name.lower(): environment[name] for name in S3_SETTINGS if environment.get(name)}
    options: Any = {"allow_http": True, "timeout": "30s", "connect_timeout": "5s"}
    try:
        return ObstoreBlobs(from_url(url, config=settings or None, client_options=options, retry_config=_RETRIES), url)
    except (BaseError, ValueError) as error:
        raise NotConfiguredError(
            f"{url} cannot be used for snapshots: {_first_line(error)}", next_step="Check 'snapshots' in nudge.toml."
        ) from None


def _first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0][:300]
