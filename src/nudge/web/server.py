"""`nudge web`: the pages on a loopback port, in a process of its own, until Ctrl-C."""

from __future__ import annotations

import asyncio
import signal
import webbrowser
from collections.abc import Callable, Mapping
from pathlib import Path
from urllib.parse import urlsplit

from nudge.daemon.listening import bound, is_loopback, listening
from nudge.errors import UsageError
from nudge.home.folder import Home
from nudge.web.access import Visitors
from nudge.web.app import web_app
from nudge.web.markup import Html
from nudge.web.pages.simulate import simulate

PORT = 8718
MOST_CONNECTIONS = 300


def own_hosts(host: str, port: int, names: tuple[str, ...] = ()) -> frozenset[str]:
    """The names under which a browser may ask for the page.

    >>> sorted(own_hosts("127.0.0.1", 8718))
    ['127.0.0.1:8718', '[::1]:8718', 'localhost:8718']
    """
    known = {"127.0.0.1", "localhost", "[::1]", *names}
    if not is_loopback(host) and host not in ("0.0.0.0", "::"):  # noqa: S104  (compared, not bound)
        known.add(f"[{host}]" if ":" in host else host)
    shown = {f"{name.lower()}:{port}" for name in known}
    return frozenset(shown | ({name.lower() for name in known} if port == 80 else set()))


async def serve_web(
    home: Home,
    say: Callable[[str], None],
    *,
    host: str = "127.0.0.1",
    port: int = PORT,
    names: tuple[str, ...] = (),
    open_browser: bool = False,
    control: Path | None = None,
) -> int:
    """Answer until a signal. `say` gets the link to come in with, and another one after each that was used. `control`
    is the socket to ask, if it is not the daemon's."""
    if not is_loopback(host) and not names:
        raise UsageError(
            f"{host} can be reached from other machines.",
            next_step="Give the host name that browsers use with --name, and put TLS in front of it.",
        )
    listener = bound(host, port, what="The web page", next_step="Choose another port with --port.")
    address = urlsplit(_address(names, listener.getsockname()[1]) if names else "")
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for which in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(which, stop.set)
    visitors = Visitors(lambda token: say(f"{origin}/enter?token={token}"))
    hosts = own_hosts(host, listener.getsockname()[1], names)
    app = web_app(control or home.socket, visitors, hosts, lambda query: simulated(home, query))
    async with listening(app, listener, last_seconds=1, most=MOST_CONNECTIONS) as bound_at:
        origin = address.geturl() or bound_at
        link = f"{origin}/enter?token={visitors.new_link()}"
        if open_browser:
            await asyncio.to_thread(webbrowser.open, link)
        await stop.wait()
    return 0


def _address(names: tuple[str, ...], port: int) -> str:
    return f"http://{names[0]}:{port}"


async def simulated(home: Home, query: Mapping[str, str]) -> Html:
    """A simulated week, in a thread of its own."""
    return await asyncio.to_thread(simulate, home, query)
