"""Show the web page: what happens now, reminders, attention, money, sessions, and the coach.

nudge web                 print a link to open in the browser of this machine; Ctrl-C ends it
nudge web --open          open it in the browser, too

The page only works on this machine. The link works once; after that, another one is printed.
To reach it from a phone, put TLS in front of it and say under which name: nudge web --host 0.0.0.0 --name nudge.lan
"""

from __future__ import annotations

import argparse

from nudge.cli.render import note, number_from, out

_PORT = 8718


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--open", action="store_true", dest="open_browser", help="open the page in the browser")
    parser.add_argument("--port", type=number_from(0), default=_PORT, metavar="N", help=f"the port (default: {_PORT})")
    parser.add_argument(
        "--host",
        default="127.0.0.1",
        metavar="ADDRESS",
        help="where to listen (default: 127.0.0.1, this machine alone)",
    )
    parser.add_argument(
        "--name", action="append", default=[], metavar="NAME", help="a host name that browsers may use for the page"
    )


def run(args: argparse.Namespace) -> int:
    import asyncio
    import sys

    from nudge.cli.context import Context
    from nudge.daemon.control_client import call
    from nudge.web.server import serve_web

    context = Context(args)
    call(context.home.socket, "GET", "/status")  # says what to do if no daemon runs

    note("Open this link in your browser; it works once, then another one is shown. Ctrl-C ends the page.")

    def say(link: str) -> None:
        out(link)
        sys.stdout.flush()

    names = tuple(args.name)
    return asyncio.run(
        serve_web(context.home, say, host=args.host, port=args.port, names=names, open_browser=args.open_browser)
    )
