"""YAML files that people write: read and checked, with the line and the field of a mistake."""

from __future__ import annotations

import re
from typing import Any, Final, TypeVar

from pydantic import BaseModel, ValidationError

from nudge.errors import ConfigError

M = TypeVar("M", bound=BaseModel)

_DEEPEST: Final = 100
_BRACKET: Final = re.compile(r"[][{}]")
_WORDS: Final = {
    "missing": "it is missing",
    "extra_forbidden": "there is no such field",
    "model_type": "it should have fields of its own below it",
    "tuple_type": "it should be a list",
    "string_type": "it should be text, perhaps in quotes",
    "int_type": "it should be a whole number",
    "bool_type": "it should be true or false",
}


def read_mapping(text: str, where: str, *, what: str, starts: str) -> Any:
    """The mapping in a text, with the positions of its lines. `what` names it, `starts` shows how to begin."""
    from ruamel.yaml import YAML
    from ruamel.yaml.error import MarkedYAMLError, YAMLError

    _refuse_deep(text, where)
    try:
        document: Any = YAML(typ="rt").load(text)
    except MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else "?"
        raise ConfigError(f"{where}, line {line}: {error.problem}.", next_step="Fix the YAML there.") from None
    except RecursionError:
        raise ConfigError(f"{where} is nested too deeply.", next_step="Check the file.") from None
    except (YAMLError, ValueError) as error:  # a date that is none is a ValueError
        raise ConfigError(f"Cannot read {where}: {error}.", next_step="Check the file.") from None
    if not isinstance(document, dict):
        raise ConfigError(f"{where}: {what} must be a mapping.", next_step=f"Start it with '{starts}'.")
    return document


def _refuse_deep(text: str, where: str) -> None:
    """Refuse brackets in brackets without end before the parser, to which they are slow, sees them."""
    depth = 0
    for bracket in _BRACKET.findall(text):
        depth = depth + 1 if bracket in "[{" else max(depth - 1, 0)
        if depth > _DEEPEST:
            raise ConfigError(f"{where} is nested too deeply.", next_step="Check the file.")


def _in_words(error: ValidationError) -> str:
    """The first mistake, for somebody who wrote YAML and not Python."""
    first = error.errors()[0]
    return _WORDS.get(first["type"], first["msg"].removeprefix("Value error, "))


def checked(model: type[M], document: Any, where: str) -> M:
    """The document as the model has it. An error names file, line and field."""
    try:
        return model.model_validate(document)
    except ValidationError as error:
        first = error.errors()[0]
        line = line_of(document, first["loc"])
        field = ".".join(str(part) for part in first["loc"])
        raise ConfigError(f"{where}, line {line}: {field}: {_in_words(error)}.", next_step="Fix that field.") from None


def line_of(document: Any, location: tuple[int | str, ...]) -> int:
    """The line of the field, or of the mapping that lacks it."""
    position: Any = document
    line: int = position.lc.line
    for part in location:
        try:
            line = position.lc.key(part)[0] if isinstance(part, str) else position.lc.item(part)[0]
            position = position[part]
        except (KeyError, IndexError, AttributeError, TypeError):
            break
    return line + 1
