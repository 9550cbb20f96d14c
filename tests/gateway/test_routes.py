from __future__ import annotations

from collections.abc import Mapping

import pytest

from nudge.errors import NudgeError
from nudge.gateway.routes import Kind, read_route, run_of


@pytest.mark.parametrize(
    ("method", "path", "kind"),
    [
        pytest.param("POST", "/agents/b/v1/messages", Kind.CALL, id="messages"),
        pytest.param("POST", "/agents/b/v1/chat/completions", Kind.CALL, id="chat"),
        pytest.param("POST", "/agents/b/v1/responses", Kind.CALL, id="responses"),
        pytest.param("POST", "/v1/messages", Kind.CALL, id="the agent is in the token"),
        pytest.param("POST", "/agents/b/v1/messages/count_tokens", Kind.FREE, id="counting"),
        pytest.param("GET", "/agents/b/v1/models", Kind.FREE, id="models"),
        pytest.param("HEAD", "/agents/b/api/hello", Kind.FREE, id="hello"),
        pytest.param("POST", "/agents/b/v1/responses/resp_1/cancel", Kind.FREE, id="ending a response"),
        pytest.param("GET", "/agents/b/v1/responses/resp_1", Kind.FREE, id="looking at a response"),
        pytest.param("DELETE", "/agents/b/v1/files/file_1", Kind.FREE, id="removing a file"),
        pytest.param("POST", "/agents/b/v1/messages/batches", Kind.UNCOUNTED, id="batches"),
        pytest.param("POST", "/agents/b/v1/batches", Kind.UNCOUNTED, id="batches of OpenAI"),
        pytest.param("POST", "/agents/b/v1/files", Kind.UNCOUNTED, id="files"),
        pytest.param("POST", "/agents/b/v1/responses/compact", Kind.UNCOUNTED, id="compacting"),
        pytest.param("POST", "/agents/b/v1/embeddings", Kind.UNCOUNTED, id="embeddings"),
        pytest.param("POST", "/agents/b/v1/complete", Kind.UNCOUNTED, id="the old completions"),
        pytest.param("PUT", "/agents/b/v1/messages", Kind.UNCOUNTED, id="another method"),
        pytest.param("BREW", "/agents/b/v1/messages", Kind.UNCOUNTED, id="a method that nobody knows"),
    ],
)
def test_what_cannot_be_counted_does_not_pass(method: str, path: str, kind: Kind) -> None:
    assert read_route(method, path.encode(), b"", {}).kind is kind


@pytest.mark.parametrize(
    "path",
    [
        "/agents/b/v1/../v1/messages",
        "/agents/b/v1/messages/../../admin",
        "/agents/b//v1/messages",
        "/agents/b/v1/messages/",
        "/agents/b/v1/%6dessages",
        "/agents/b/v1/messages%2f..%2fbatches",
        "/agents/b/v1\\messages",
        "/agents/b/v1/messages;x=1",
        "/agents/b/v1/mess\xe4ges",
        "//evil.example/v1/messages",
        "http://evil.example/v1/messages",
        "/agents/b/@evil.example/v1/messages",
        "/agents/../v1/messages",
        "/agents/B/v1/messages",
        "/agents/" + "b" * 64 + "/v1/messages",
        "/agents//v1/messages",
        "/agents/b",
        "/",
        "",
        "*",
        "/metrics",
        "/agents/b/runs/v1/messages",
        "/agents/b/v1/" + "x" * 1_000,
    ],
)
def test_paths_that_mean_nothing_or_two_things_are_refused(path: str) -> None:
    with pytest.raises(NudgeError):
        read_route("POST", path.encode("latin-1"), b"", {})


@pytest.mark.parametrize(
    ("path", "headers", "run"),
    [
        pytest.param("/agents/b/v1/messages", {}, "", id="nobody names one"),
        pytest.param("/agents/b/v1/messages", {"x-claude-code-session-id": "s"}, "s", id="Claude Code's session"),
        pytest.param(
            "/agents/b/v1/messages",
            {"x-claude-code-session-id": "s", "x-claude-code-agent-id": "a", "x-claude-code-parent-agent-id": "p"},
            "s/a",
            id="its subagent",
        ),
        pytest.param("/agents/b/v1/responses", {"session-id": "s", "thread-id": "s"}, "s", id="Codex's session"),
        pytest.param(
            "/agents/b/v1/responses", {"session-id": "s", "thread-id": "t"}, "s/t", id="its subagent's thread"
        ),
        pytest.param("/agents/b/v1/messages", {"x-session-id": "s"}, "s", id="opencode's session"),
        pytest.param(
            "/agents/b/v1/messages", {"x-session-id": "t", "x-parent-session-id": "s"}, "s/t", id="its subagent's"
        ),
        pytest.param("/agents/b/runs/exec-1/v1/messages", {}, "exec-1", id="of nudge exec"),
        pytest.param(
            "/agents/b/runs/exec-1/v1/messages", {"x-claude-code-session-id": "s"}, "exec-1/s", id="a session inside it"
        ),
        pytest.param("/agents/b/v1/messages", {"x-nudge-run": "mine"}, "mine", id="our own header"),
        pytest.param(
            "/agents/b/v1/messages", {"x-nudge-run": "a/b\\c"}, "h-0d5d2b6c9b6a4a0e", id="a strange name by its hash"
        ),
    ],
)
def test_the_run_is_what_the_client_calls_it(path: str, headers: Mapping[str, str], run: str) -> None:
    found = run_of(read_route("POST", path.encode(), b"", headers), headers)
    assert found == run or (run.startswith("h-") and found.startswith("h-") and len(found) == len(run))
