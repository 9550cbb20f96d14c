"""Which person is simulated: one of those that are shipped, one of the home's, or a file that was named."""

from __future__ import annotations

from importlib import resources
from pathlib import Path
from typing import Any

from nudge.adapters.home import Home
from nudge.core.simulation.person import Profile
from nudge.errors import ConfigError, NotFoundError, UsageError

DEFAULT = "night-owl"


def load_person(name: str, home: Home | None = None) -> Profile:
    """By name (`persons/NAME.yaml` of the home first, then the shipped ones) or by the path of a YAML file."""
    path = Path(name)
    if path.suffix in (".yaml", ".yml"):
        if not path.is_file():
            raise NotFoundError(f"There is no file {name}.", next_step=f"Shipped persons: {', '.join(shipped())}.")
        return _read(path.read_text(encoding="utf-8"), name)
    own = None if home is None else home.path / "persons" / f"{name}.yaml"
    if own is not None and own.is_file():
        return _read(own.read_text(encoding="utf-8"), str(own))
    if name not in shipped():
        raise NotFoundError(
            f"There is no person called {name!r}.",
            next_step=f"Shipped: {', '.join(shipped())}. Your own is a file: --person me.yaml.",
        )
    text = (resources.files("nudge.data") / "persons" / f"{name}.yaml").read_text(encoding="utf-8")
    return _read(text, f"{name}.yaml")


def shipped() -> list[str]:
    files = (resources.files("nudge.data") / "persons").iterdir()
    return sorted(file.name.removesuffix(".yaml") for file in files if file.name.endswith(".yaml"))


def _read(text: str, where: str) -> Profile:
    from ruamel.yaml import YAML
    from ruamel.yaml.error import YAMLError

    try:
        data: Any = YAML(typ="safe", pure=True).load(text)
    except YAMLError as error:
        raise ConfigError(f"{where} is not YAML: {error}.", next_step="Mend it.") from None
    if not isinstance(data, dict):
        raise ConfigError(f"{where} says nothing about a person.", next_step="Look at a shipped one for the fields.")
    try:
        return Profile.parse({"name": Path(where).stem, **data})
    except UsageError as error:
        raise ConfigError(f"{where}: {error.message}", next_step=error.next_step) from error
