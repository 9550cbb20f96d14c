"""Show what is in force: nudge.toml with every default filled in. Of a secret it only says whether it is set."""

from __future__ import annotations

import argparse
from typing import Any

from nudge.cli.context import Context
from nudge.cli.render import out, out_json


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="as JSON")


def run(args: argparse.Namespace) -> int:
    from nudge.home.config import FIELDS, SECRET_NAMES, SECTIONS, kinds_of

    config = Context(args).config
    fields = {name: kind.write(getattr(config, name)) for name, kind in FIELDS.items()}
    sections: dict[str, dict[str, Any]] = {
        section: {name: kind.write(getattr(getattr(config, section), name)) for name, kind in kinds_of(section).items()}
        for section in SECTIONS
    }
    secrets = {name: "set" if name in config.environment else "not set" for name in SECRET_NAMES}
    if args.json:
        out_json({"config": {**fields, **sections}, "secrets": secrets})
        return 0
    for name, value in fields.items():
        out(f"{name} = {_toml(value)}")
    for section, values in sections.items():
        out(f"\n[{section}]")
        for name, value in values.items():
            out(f"{name} = {_toml(value)}")
    out("\n# Secrets, from .env and the environment:")
    for name, state in secrets.items():
        out(f"# {name}: {state}")
    return 0


def _toml(value: object) -> str:
    import json

    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(key)} = {_toml(inner)}" for key, inner in value.items()) + "}"
    return json.dumps(value, ensure_ascii=False)
