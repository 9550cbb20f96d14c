"""What is in force: nudge.toml with every default filled in. Secrets are only said to be set or not."""

from __future__ import annotations

import argparse

from nudge.cli.context import Context
from nudge.cli.render import out, out_json


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="as JSON")


def run(args: argparse.Namespace) -> int:
    from nudge.home.config import load_config
    from nudge.home.settings import SECRET_NAMES

    context = Context(args)
    shown = load_config(context.settings).model_dump(mode="json")
    shown["timezone"] = context.settings.timezone
    secrets = {name: "set" if context.settings.environment.get(name) else "not set" for name in SECRET_NAMES}
    if args.json:
        out_json({"config": shown, "secrets": secrets})
        return 0
    sections = {name: value for name, value in shown.items() if isinstance(value, dict)}
    for name, value in shown.items():
        if name not in sections:
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
