"""The page on this machine: one session behind http://127.0.0.1:PORT/TOKEN/, for nobody else.

    GET  /TOKEN/             the page          GET  /TOKEN/page/NAME    its modules and styles
    POST /TOKEN/message      one message       GET  /TOKEN/events       a stream that is open while the page is open

Who gets in: only this machine can connect, only who knows the random token, and only pages of this server (the headers
Host and Origin are checked, so that another page in the same browser can neither read nor send). The page runs no
inline script and asks no other server. Messages have a largest size, and nothing can be uploaded.
"""

from __future__ import annotations

import asyncio
import json
import queue
import secrets
import socket
import threading
import time
from collections.abc import AsyncIterator, Callable
from concurrent.futures import Future
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import ClientDisconnect, Request
from starlette.responses import PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route

from ..errors import ParameterError
from .session import Session, reply_to

LARGEST_MESSAGE = 2**20  # bytes
_IDLE, _NEVER_OPENED, _TICK, _PING = 60.0, 900.0, 0.2, 10.0  # seconds
_PAGE = Path(__file__).parent / "page"
_KINDS = {".js": "text/javascript", ".css": "text/css", ".html": "text/html", ".svg": "image/svg+xml"}
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "Content-Security-Policy": _POLICY,
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}


class Host:
    """One session as a web application on a port, under an address with a random token.

    ``save`` is called with the session after every message, before the reply is sent. After ``idle`` seconds without an
    open page the server stops.
    """

    def __init__(self, session: Session, port: int, save: Callable[[Session], None] | None = None, idle: float = _IDLE):
        self.session, self.port, self.idle = session, port, idle
        self._save = save
        self.token = secrets.token_urlsafe(32)
        self.address = f"http://127.0.0.1:{port}/{self.token}/"
        self.stopping = False
        self._warm = False
        self._pages, self._ever, self._since = 0, False, time.monotonic()
        self._files = {path.name: path.read_bytes() for path in sorted(_PAGE.iterdir()) if path.suffix in _KINDS}
        # Messages are handled one after the other by a thread, so that the server can answer meanwhile. It is a daemon:
        # Ctrl-C ends the program without waiting for a computation.
        self._jobs: queue.SimpleQueue[tuple[Future, Callable[[], Any]]] = queue.SimpleQueue()
        threading.Thread(target=self._work, daemon=True, name="fiedler-explore").start()
        routes = [
            Route("/{token}/", self._file, methods=["GET"]),
            Route("/{token}/page/{name}", self._file, methods=["GET"]),
            Route("/{token}/message", self._message, methods=["POST"]),
            Route("/{token}/events", self._events, methods=["GET"]),
        ]
        self.app = Starlette(routes=routes)

    def _work(self) -> None:
        while True:
            future, work = self._jobs.get()
            try:
                future.set_result(work())
            except BaseException as error:
                future.set_exception(error)

    def _start(self, work: Callable[[], Any]) -> Future:
        """The future result of some work, which is done after what is waiting, also if nobody waits for it."""
        future: Future = Future()
        future.set_running_or_notify_cancel()  # a message is handled even if its page has gone
        self._jobs.put((future, work))
        return future

    @property
    def quiet_for(self) -> float:
        """Seconds since the last page was closed; 0 while one is open."""
        return 0.0 if self._pages else time.monotonic() - self._since

    @property
    def abandoned(self) -> bool:
        """Whether the page has been closed for a while, or was never opened for a long time."""
        return self.quiet_for > (self.idle if self._ever else max(self.idle, _NEVER_OPENED))

    async def _file(self, request: Request) -> Response:
        name = request.path_params.get("name", "index.html")
        if name not in self._files or request.path_params.get("name") == "index.html":
            return PlainTextResponse("There is no such file.", 404)
        return Response(self._files[name], media_type=_KINDS[Path(name).suffix])

    async def _message(self, request: Request) -> Response:
        if request.headers.get("content-type", "").partition(";")[0].strip() != "application/json":
            return PlainTextResponse("A message is JSON.", 415)
        body = bytearray()
        try:
            async for part in request.stream():
                body += part
                if len(body) > LARGEST_MESSAGE:
                    return PlainTextResponse(f"A message has at most {LARGEST_MESSAGE} bytes.", 413)
        except ClientDisconnect:
            return Response(status_code=400)
        try:
            message = json.loads(bytes(body).decode("utf-8"))
            json.dumps(message, ensure_ascii=False).encode("utf-8")  # half of a surrogate pair is no text
        except (ValueError, RecursionError):
            return PlainTextResponse("A message is JSON.", 400)
        text = await asyncio.wrap_future(self._start(lambda: self.handled(message)))
        if not self._warm:  # after the first reply, so that the page opens at once
            self._warm = True
            self._start(lambda: self.session.live.warm_up(self.session.settings))
        return Response(text, media_type="application/json")

    def handled(self, message: Any) -> str:
        """The reply as text; answers are on disk before it is sent."""
        return json.dumps(reply_to(message, self.session, self._save), allow_nan=False, ensure_ascii=False)

    async def _events(self, request: Request) -> Response:
        return StreamingResponse(self.stream(), media_type="text/event-stream")

    async def stream(self) -> AsyncIterator[str]:
        """The version of the session whenever it changes; the open connection says that a page is open."""
        self._pages, self._ever = self._pages + 1, True
        seen, told = -1, time.monotonic()
        try:
            while not self.stopping:
                if self.session.version != seen:
                    seen, told = self.session.version, time.monotonic()
                    yield f"data: {seen}\n\n"
                elif time.monotonic() - told > _PING:  # a closed page is noticed when one writes to it
                    told = time.monotonic()
                    yield ": still here\n\n"
                await asyncio.sleep(_TICK)
            yield "event: stop\ndata: 0\n\n"
        finally:
            self._pages -= 1
            self._since = time.monotonic()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """The application behind a guard, which also adds the headers to every reply."""
        if scope["type"] != "http":
            return  # no websockets, no lifespan
        refused = self._refusal(scope)

        async def with_headers(message: Any) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(HEADERS)
            await send(message)

        app = self.app if refused is None else PlainTextResponse(refused[1], refused[0])
        await app(scope, receive, with_headers)

    def _refusal(self, scope: Any) -> tuple[int, str] | None:
        """Why a request is not let in: it needs the token, the right Host, and no foreign Origin."""
        given, names = Headers(scope=scope).getlist, {f"{name}:{self.port}" for name in ("127.0.0.1", "localhost")}
        if len(given("host")) != 1 or given("host")[0] not in names:
            return 421, "This server answers only under its own address on this machine."
        origins = given("origin")
        if any(origin not in {f"http://{name}" for name in names} for origin in origins):
            return 403, "Other pages may not ask this server."
        if scope["method"] == "POST" and not origins:
            return 403, "A message needs the header Origin."
        visits = given("sec-fetch-mode") == ["navigate"]  # an address that was opened, with the token in it
        if not visits and any(site not in ("same-origin", "none") for site in given("sec-fetch-site")):
            return 403, "Other pages may not ask this server."
        token = scope["path"].partition("/")[2].partition("/")[0].encode("utf-8", "replace")
        if not secrets.compare_digest(token, self.token.encode()):
            return 403, "The address has no token, or a wrong one. Use the address that fiedler explore printed."
        return None


def open_port(port: int = 0) -> socket.socket:
    """A socket on 127.0.0.1."""
    bound = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        bound.bind(("127.0.0.1", port))
    except OSError as error:
        bound.close()
        message = f"port={port} cannot be used: {error.strerror}; choose another one, or 0 for any free port."
        raise ParameterError(message, parameter="port", value=port) from None
    return bound


def serve(
    session: Session,
    *,
    port: int = 0,
    save: Callable[[Session], None] | None = None,
    idle: float = _IDLE,
    opened: Callable[[str], Any] | None = None,
) -> None:
    """Serve a session until its page has been closed for a while, or until Ctrl-C."""
    import uvicorn

    with open_port(port) as bound:
        host = Host(session, bound.getsockname()[1], save, idle)
        silent: dict[str, Any] = {"log_level": "error", "access_log": False, "server_header": False}
        config = uvicorn.Config(host, lifespan="off", ws="none", timeout_graceful_shutdown=1, **silent)
        server = uvicorn.Server(config)

        async def run() -> None:
            serving = asyncio.ensure_future(server.serve(sockets=[bound]))
            while not server.started and not serving.done():
                await asyncio.sleep(0.01)
            if opened is not None and not serving.done():
                opened(host.address)
            while not serving.done():
                if host.abandoned:
                    server.should_exit = True
                host.stopping = server.should_exit
                await asyncio.wait([serving], timeout=_TICK)
            await serving

        asyncio.run(run())
