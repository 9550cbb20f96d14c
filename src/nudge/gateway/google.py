"""What a call in Google's protocol asks for. The model and the way of the answer are in its path, the limit is inside
`generationConfig`, and every name may be written in two ways (`maxOutputTokens`, `max_output_tokens`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from nudge.gateway.calls import (
    BYTES_PER_DOCUMENT_TOKEN,
    IMAGE_TOKENS,
    LEAST_ANSWER,
    MESSAGE_TOKENS,
    MOST_ANSWER,
    MOST_HISTORY,
    MOST_INPUT,
    SEARCH_TOKENS,
    SEARCHES,
    TOOLS_TOKENS,
    BadCallError,
    Body,
    ModelCall,
    Protocol,
    Value,
    fields_in,
    limit_of,
    tokens_in,
    whole_from,
)
from nudge.numbers import is_whole
from nudge.spending.prices import Caching

_PATH = re.compile(r"v1[a-z0-9]*/(?:models|tunedModels)/(?P<model>[^/:]+):(?P<method>[A-Za-z]+)")
_CALLS = {"generateContent": False, "streamGenerateContent": True}
_FREE = ("countTokens",)
_READ = ("contents", "systemInstruction", "tools", "toolConfig")
_LIMIT = '"maxOutputTokens": {}'
_SEARCHES = ("googleSearch", "googleSearchRetrieval", "enterpriseWebSearch")
_SERVER_TOOLS = (*_SEARCHES, "codeExecution", "urlContext", "googleMaps", "fileSearch")


def google_call(path: str) -> tuple[str, bool] | None:
    """The model that a path asks, and whether it wants a stream; None for a path that is no call.

    >>> google_call("v1beta/models/gemini-2.5-flash:streamGenerateContent")
    ('gemini-2.5-flash', True)
    """
    found = _PATH.fullmatch(path)
    if found is None or found["method"] not in _CALLS:
        return None
    return found["model"], _CALLS[found["method"]]


def is_free(path: str) -> bool:
    found = _PATH.fullmatch(path)
    return found is not None and found["method"] in _FREE


def read_google(body: Body, model: str, *, stream: bool) -> ModelCall:
    """The call that a body makes. Raises BadCallError where it cannot be read for certain.

    >>> from nudge.gateway.calls import read_body
    >>> call = read_google(read_body(b'{"contents": [], "generationConfig": {"topK": 3}}'), "m", stream=True)
    >>> call.limited(900)
    b'{"contents": [], "generationConfig": {"maxOutputTokens": 900, "topK": 3}}'
    """
    said = {name: one.value for name, one in _camel(body.fields).items()}
    if not isinstance(said.get("contents"), list):
        raise BadCallError("contents: Field required")
    config, at = _config(body)
    asked = config.get("maxOutputTokens")
    limits = () if asked is None or asked.value is None else (limit_of("maxOutputTokens", asked),)
    choices = whole_from(config.get("candidateCount"), "candidateCount", 1, 128)
    each = limits[0].value if limits else MOST_ANSWER
    searches, uses = _server_tools(said.get("tools"))
    bound = MESSAGE_TOKENS + (TOOLS_TOKENS if said.get("tools") else 0) + SEARCH_TOKENS * uses
    bound += MOST_HISTORY if said.get("cachedContent") else 0
    bound += sum(tokens_in(said[name], _binary) for name in _READ if name in said)
    bound += sum(tokens_in(one.value, _binary) for name, one in config.items() if "chema" in name)
    return ModelCall(
        protocol=Protocol.GOOGLE,
        model=model,
        stream=stream,
        max_tokens=each * choices,
        least_tokens=min(each, LEAST_ANSWER + _thinking_budget(config, each)) * choices,
        input_bound=min(bound, MOST_INPUT),
        caching=Caching.NONE,
        searches=searches,
        choices=choices,
        hidden=True,
        opens=not any(isinstance(turn, Mapping) and turn.get("role") == "model" for turn in said["contents"]),
        text=body.text,
        limits=limits,
        opening=at,
        added=_LIMIT if "generationConfig" in said else f'"generationConfig": {{{{{_LIMIT}}}}}',
    )


def _config(body: Body) -> tuple[dict[str, Value], int]:
    """The fields of `generationConfig`, and where a field can be added to it, or to the body if it is not there."""
    found = _camel(body.fields).get("generationConfig")
    if found is None:
        return {}, body.text.index("{") + 1
    if not isinstance(found.value, Mapping):
        raise BadCallError("generationConfig: Input should be an object")
    return _camel(fields_in(body.text, found.start, found.end)), found.start + 1


def _camel(given: Mapping[str, Value]) -> dict[str, Value]:
    """The fields by their usual names. One that stands there in both ways is refused: nobody knows which counts."""
    found: dict[str, Value] = {}
    for name, value in given.items():
        usual = _usual(name)
        if usual in found:
            raise BadCallError(f"{usual}: The field is there twice")
        found[usual] = value
    return found


def _usual(name: str) -> str:
    return re.sub(r"_([a-z0-9])", lambda match: match[1].upper(), name)


def _thinking_budget(config: Mapping[str, Value], each: int) -> int:
    """What has to be left for thinking, which is a part of the answer's limit."""
    thinking = config["thinkingConfig"].value if "thinkingConfig" in config else None
    if not isinstance(thinking, Mapping):
        return 0
    budget = thinking.get("thinkingBudget", thinking.get("thinking_budget"))
    return min(budget, each) if is_whole(budget) and budget > 0 else 0


def _server_tools(tools: Any) -> tuple[int, int]:
    """How many web searches the service may do, and how many uses of its tools in all."""
    given = [tool for tool in tools if isinstance(tool, Mapping)] if isinstance(tools, list) else []
    offered = [_usual(name) for tool in given for name in tool]
    searches, uses = (sum(name in known for name in offered) for known in (_SEARCHES, _SERVER_TOOLS))
    return SEARCHES * searches, SEARCHES * uses


def _binary(part: Mapping[str, Any]) -> int | None:
    """The tokens of an image, a sound or a document; None for anything else. What the body only points at may be a film
    that fills the whole context."""
    if "fileData" in part or "file_data" in part:
        return MOST_INPUT
    inline = part.get("inlineData") or part.get("inline_data")
    if not isinstance(inline, Mapping):
        return None
    kind, data = str(inline.get("mimeType") or inline.get("mime_type")), inline.get("data")
    if kind.startswith("image/"):
        return IMAGE_TOKENS
    return IMAGE_TOKENS + (len(data) // BYTES_PER_DOCUMENT_TOKEN if isinstance(data, str) else 0)
