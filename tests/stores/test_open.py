"""Which database a URL means, and what is said of one that means none."""

from __future__ import annotations

import logging

import pytest

from nudge.errors import NotConfiguredError, StoreError
from nudge.stores.open import open_store, sqlite_path
from nudge.stores.postgres import PostgresDatabase
from tests.coach.outside import everything_said


@pytest.mark.parametrize(
    ("url", "path"),
    [
        ("sqlite:///srv/nudge.db", "/srv/nudge.db"),
        ("sqlite:////srv/nudge.db", "/srv/nudge.db"),
        ("sqlite:///a home/#1?/nudge.db", "/a home/#1?/nudge.db"),
        ("sqlite://:memory:", ":memory:"),
    ],
)
def test_a_sqlite_url_names_a_file(url: str, path: str) -> None:
    assert sqlite_path(url) == path


@pytest.mark.parametrize(
    "url",
    [
        pytest.param("sqlite://", id="no path: SQLite would make a database that is gone at the end"),
        pytest.param("sqlite:", id="no slashes"),
        pytest.param("sqlite:nudge.db", id="a path without slashes"),
        pytest.param("sqlite://nudge.db", id="a relative path, another one for every folder"),
        pytest.param("mysql://u:s3cretpw@h/d", id="another database"),
        pytest.param("postgresql://u:s3cretpw@[::1/d", id="an address with one bracket"),
        pytest.param("postgresql://u:s3cretpw@h/d?frobnicate=1", id="an unknown option"),
        pytest.param("postgresql://u:s3c@retpw@127.0.0.1:1/d", id="a password with an @ in it"),
        pytest.param("postgresql://u:s3c/retpw@127.0.0.1:1/d", id="a password with a / in it"),
    ],
)
async def test_a_url_that_means_nothing_is_refused_without_showing_it(
    url: str, caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(NotConfiguredError) as caught:
        await open_store(url)
    said = everything_said(caught.value) + caplog.text + "".join(capsys.readouterr())
    assert "retpw" not in said
    assert caught.value.next_step


async def test_a_server_whose_machine_died_is_noticed_in_a_minute_unless_the_url_says_otherwise(
    postgres_url: str,
) -> None:
    """The system alone would wait for a quarter of an hour, and all timers with it."""
    database = await PostgresDatabase.open(f"{postgres_url}&keepalives_idle=300", connections=1)
    async with database._pool.connection() as connection:
        used = connection.info.get_parameters()
    await database.close()
    assert (used["tcp_user_timeout"], used["keepalives_idle"]) == ("30000", "300")


@pytest.mark.parametrize(
    ("url", "cause"),
    [
        pytest.param("postgresql://u:s3cretpw@127.0.0.1:1/d", "Connection refused", id="nobody listens"),
        pytest.param("postgresql://u:s3cretpw@/d?host=/nowhere", "No such file or directory", id="no such socket"),
        pytest.param("{server}&dbname=d-not-there", '"d-not-there" does not exist', id="no such database"),
    ],
)
async def test_a_server_that_does_not_answer_is_one_sentence_with_its_cause(
    url: str, cause: str, postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    heard: list[logging.LogRecord] = []
    handler = logging.Handler()
    handler.emit = heard.append  # type: ignore[method-assign]
    monkeypatch.setattr(logging, "lastResort", handler)
    monkeypatch.setattr(logging.getLogger(), "handlers", [])
    with pytest.raises(StoreError, match="does not answer") as caught:
        await open_store(url.format(server=postgres_url))
    assert cause in caught.value.message
    assert "\n" not in caught.value.message
    assert "s3cretpw" not in everything_said(caught.value)
    assert heard == []  # where no logs are configured, Python would print them in the middle of a command's output
