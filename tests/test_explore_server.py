"""The local server of the page: who gets in, what is kept, and when it ends."""

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
import time
from urllib.parse import urlsplit

import pytest
from click.testing import CliRunner

pytest.importorskip("starlette", reason="needs the extra 'explore'")
pytest.importorskip("uvicorn", reason="needs the extra 'explore'")

from exploring import running, write_table

from fiedler.cli import main
from fiedler.explore import Session
from fiedler.explore.server import LARGEST_MESSAGE, Host, open_port
from fiedler.explore.session import SessionFile, default_file


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    path = tmp_path_factory.mktemp("explore") / "data.csv"
    write_table(path)
    return path


@pytest.fixture(scope="module")
def server(data):
    with running(data, "--target", "kind", "--id", "id", "--top", 3) as found:
        yield found


def kept(data):
    return json.loads(default_file(data).read_text(encoding="utf-8"))


# -------------------------------------------------------------------- who gets in


def test_the_page_and_its_files_are_served(server):
    status, headers, text = server.request()
    assert status == 200
    assert headers["content-type"].startswith("text/html")
    assert "<script>" not in text
    for name, kind in (("app.js", "text/javascript"), ("style.css", "text/css"), ("mark.svg", "image/svg+xml")):
        status, headers, text = server.request(path=f"{server.path}page/{name}")
        assert status == 200
        assert headers["content-type"].startswith(kind)
        assert headers["x-content-type-options"] == "nosniff"
        assert "http://" not in text.replace("http://www.w3.org/2000/svg", "")
        assert "https://" not in text


def test_the_policy_forbids_inline_scripts_and_other_servers(server):
    _, headers, _ = server.request()
    policy = dict(part.strip().split(" ", 1) for part in headers["content-security-policy"].split(";"))
    assert policy["default-src"] == "'none'"
    assert policy["script-src"] == "'self'"
    assert policy["connect-src"] == "'self'"
    assert "unsafe" not in headers["content-security-policy"]
    assert "access-control-allow-origin" not in headers
    assert headers["referrer-policy"] == "no-referrer"


@pytest.mark.parametrize("path", ["/", "/x/", "/x/message", "//", "/%00/", "/%C3%A9/"])
def test_nothing_without_the_token(server, path):
    assert server.request(path=path)[0] == 403
    assert server.request("POST", path, {"type": "state"})[0] == 403


def test_a_token_that_is_nearly_right_is_wrong(server):
    token = server.path.strip("/")
    assert len(token) >= 40
    for wrong in (token[:-1], token + "x", token.swapcase()):
        assert server.request(path=f"/{wrong}/")[0] == 403


@pytest.mark.parametrize("host", ["evil.example", "evil.example:80", "127.0.0.1", "127.0.0.1:1", None])
def test_the_host_must_be_this_machine(server, host):
    status, _, _ = server.request(Host=host)
    assert status in (400, 421)
    assert server.request(Host=f"localhost:{server.port}", Origin=None)[0] == 200


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "https://127.0.0.1", "http://127.0.0.1:1"])
def test_other_pages_may_not_send(server, origin):
    before = server.send("state")["version"]
    message = {"type": "pair", "rows": [30, 31], "link": "must"}
    assert server.request("POST", f"{server.path}message", message, Origin=origin)[0] == 403
    assert server.request(Origin=origin)[0] == 403
    assert server.send("state")["version"] == before


def test_messages_need_an_origin_and_json(server):
    message = {"type": "state"}
    where = f"{server.path}message"
    assert server.request("POST", where, message, Origin=None)[0] == 403
    assert server.request("POST", where, message, Sec_Fetch_Site="cross-site")[0] == 403
    assert server.request("POST", where, message, Content_Type="text/plain")[0] == 415
    assert server.request("POST", where, b"{")[0] == 400
    assert server.request("POST", where, b"\xff")[0] == 400
    assert server.request("POST", where, b"[" * 100_000)[0] == 400
    assert server.request("GET", where)[0] == 405
    assert server.request("PUT", where, message)[0] == 405
    assert server.send("state")["type"] == "state"


def test_a_message_has_a_largest_size(server):
    body = json.dumps({"type": "state", "id": "x" * LARGEST_MESSAGE}).encode()
    assert server.request("POST", f"{server.path}message", body)[0] == 413
    assert server.send("state")["type"] == "state"


@pytest.mark.parametrize("name", ["../server.py", "..%2fserver.py", "index.html", "nothing.js", "%2e%2e/session.py"])
def test_only_the_files_of_the_page_are_served(server, name):
    assert server.request(path=f"{server.path}page/{name}")[0] == 404


def test_only_this_machine_can_connect(server):
    for address in {info[4][0] for info in socket.getaddrinfo(socket.gethostname(), None, socket.AF_INET)}:
        if address.startswith("127."):
            continue
        with pytest.raises(OSError, match=r"\w"):
            socket.create_connection((address, server.port), timeout=5)


def test_wrong_messages_get_an_answer(server):
    assert server.send("nonsense")["type"] == "error"
    assert server.send("pair", rows=[0, 10**9], link="must")["type"] == "error"


# -------------------------------------------------------------------- nothing is lost


def test_an_answer_is_on_disk_before_the_reply(tmp_path):
    path = tmp_path / "data.csv"
    write_table(path)
    with running(path, "--target", "kind", "--id", "id") as server:
        server.send("pair", rows=[20, 23], link="must")
        server.process.kill()  # no time to do anything
        server.process.wait(60)
        assert kept(path)["answers"] == [{"kind": "pair", "subjects": [20, 23], "value": "must"}]
    with running(path, "--target", "kind", "--id", "id") as server:
        state = server.send("label", rows=[40], label="b")
        assert len(state["answers"]) == 2
        server.send("set", n_features=4)
        server.send("snapshot", slot="A")
        server.process.kill()
        server.process.wait(60)
    assert kept(path)["settings"]["n_features"] == 4
    assert kept(path)["snapshots"]["A"]["selected"]
    assert [name for name in os.listdir(tmp_path) if "part" in name] == []


def test_a_session_file_of_ones_own(tmp_path, data, monkeypatch):
    own = tmp_path / "tuesday.json"

    def serve(session, *, save, **options):
        session.handle({"type": "pin", "feature": 2})
        save(session)

    monkeypatch.setattr("fiedler.explore.server.serve", serve)
    words = ["explore", data, "--target", "kind", "--id", "id", "--session", own, "--no-browser"]
    assert CliRunner().invoke(main, list(map(str, words))).exit_code == 0
    session = json.loads(own.read_text())
    assert session["answers"][0]["value"] == "pinned"


def test_a_damaged_session_file_is_refused_and_kept(tmp_path):
    path = tmp_path / "data.csv"
    write_table(path)
    for text in ("{", "[]", '{"format": 1, "table": "other"}', "[" * 100_000):
        default_file(path).write_text(text)
        result = CliRunner().invoke(main, ["explore", str(path), "--id", "id", "--drop", "kind", "--no-browser"])
        assert result.exit_code == 1
        assert "cannot be used" in result.stderr
        assert "--session" in result.stderr
        assert default_file(path).read_text() == text


def test_a_failing_disk_is_told(tmp_path):
    session = Session([[0.0, 1.0], [1.0, 0.0], [2.0, 5.0]])
    file = SessionFile(tmp_path / "s.json")

    def full(session):
        raise OSError("No space left on device")

    host = Host(session, 1, full)
    reply = json.loads(host.handled({"type": "pin", "feature": 0}))
    assert reply["type"] == "error"
    assert "No space left" in reply["message"]
    file.save(session)
    assert json.loads(file.path.read_text())["answers"][0]["value"] == "pinned"
    before = file.path.stat().st_mtime_ns
    file.save(session)  # nothing has changed
    assert file.path.stat().st_mtime_ns == before


def test_two_pages_on_one_file_lose_no_answer_in_silence(tmp_path):
    sessions = [Session([[0.0, 1.0], [1.0, 0.0], [2.0, 5.0]]) for _ in range(2)]
    files = [SessionFile(tmp_path / "s.json") for _ in range(2)]
    for session, feature in zip(sessions, (0, 1), strict=True):
        session.handle({"type": "pin", "feature": feature})
    files[0].save(sessions[0])
    with pytest.raises(ValueError, match="changed by another page"):
        files[1].save(sessions[1])
    assert json.loads(files[0].path.read_text())["answers"] == sessions[0].saved()["answers"]
    sessions[0].handle({"type": "free", "feature": 0})
    files[0].save(sessions[0])


def test_infinity_in_a_session_file_is_an_error_of_the_file(tmp_path):
    session = Session([[0.0, 1.0], [1.0, 0.0], [2.0, 5.0]])
    file = SessionFile(tmp_path / "s.json")
    saved = session.saved() | {"snapshots": {"A": {"selected": [0], "n_labels": float("inf")}}}
    file.path.write_text(json.dumps(saved))
    with pytest.raises(ValueError, match="cannot be used"):
        SessionFile(file.path).load(session)


def test_half_a_surrogate_pair_is_no_text(server):
    body = b'{"type": "label", "rows": [0], "label": "\\ud800"}'
    assert server.request("POST", f"{server.path}message", body)[0] == 400
    assert server.request()[0] == 200


def test_a_request_target_without_a_slash_is_refused(server):
    status, headers, _ = server.request("OPTIONS", "*")
    assert status == 403
    assert headers["x-frame-options"] == "DENY"


# -------------------------------------------------------------------- the end


@pytest.mark.skipif(sys.platform == "win32", reason="needs SIGINT")
def test_ctrl_c_ends_it_at_once_even_with_an_open_page(tmp_path):
    path = tmp_path / "data.csv"
    write_table(path)
    with (
        running(path, "--id", "id", "--drop", "kind") as server,
        socket.create_connection(("127.0.0.1", server.port), timeout=60) as page,
    ):
        page.sendall(f"GET {server.path}events HTTP/1.1\r\nHost: {server.host}\r\n\r\n".encode())
        assert b"200 OK" in page.recv(4096)
        server.send("ban", feature=1)
        server.process.send_signal(signal.SIGINT)
        assert server.process.wait(30) == 0
        said = server.process.stderr.read()
        assert f"1 answers are kept in {path}.fiedler.json; to go on from there: fiedler explore {path} --id id" in said


def test_it_stops_after_the_page_was_closed():
    session = Session([[0.0, 1.0], [1.0, 0.0], [2.0, 5.0]])
    host = Host(session, 1, idle=0.05)

    async def visit():
        stream = host.stream()
        assert not host.abandoned  # nobody came yet: one waits longer
        assert (await anext(stream)).startswith("data: ")
        assert host.quiet_for == 0.0
        assert not host.abandoned
        await stream.aclose()

    asyncio.run(visit())
    limit = time.monotonic() + 30
    while not host.abandoned:
        assert time.monotonic() < limit
        time.sleep(0.01)


def test_the_process_ends_by_itself(tmp_path):
    """A page comes and goes; nobody ends the server."""
    code = "from fiedler.explore import Session\nfrom fiedler.explore.server import serve\n"
    code += "serve(Session([[0.0, 1.0], [1.0, 0.0], [2.0, 5.0]]), idle=0.3, opened=lambda a: print(a, flush=True))"
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    try:
        address = urlsplit(process.stdout.readline().strip())
        with socket.create_connection(("127.0.0.1", address.port), timeout=60) as page:
            page.sendall(f"GET {address.path}events HTTP/1.1\r\nHost: {address.netloc}\r\n\r\n".encode())
            assert b"200 OK" in page.recv(4096)
            assert process.poll() is None
        assert process.wait(60) == 0
    finally:
        process.kill()
        process.communicate(timeout=60)


def test_an_open_page_is_told_about_changes():
    session = Session([[0.0, 1.0], [1.0, 0.0], [2.0, 5.0]])
    host = Host(session, 1)

    async def visit():
        stream = host.stream()
        first = await anext(stream)
        session.handle({"type": "pin", "feature": 0})
        second = await anext(stream)
        host.stopping = True
        last = await anext(stream)
        await stream.aclose()
        return first, second, last

    first, second, last = asyncio.run(visit())
    assert first != second
    assert last.startswith("event: stop")


# -------------------------------------------------------------------- the command line


def test_a_port_that_is_taken():
    with open_port() as taken:
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(ValueError, match=f"port={port} cannot be used"):
            open_port(port)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--image", "3by3"], "not the height and width"),
        (["--image", "3x3"], "--image=3x3 has 9 pixels"),
        (["--target", "kind", "--labels", "x"], "choose one"),
        (["--port", "70000"], "port"),
        (["--method", "nonsense"], "nonsense"),
    ],
)
def test_wrong_options(data, arguments, message):
    usual = ["--id", "id"] + ([] if "--target" in arguments else ["--drop", "kind"])
    result = CliRunner().invoke(main, ["explore", str(data), "--no-browser", *usual, *arguments])
    assert result.exit_code in (1, 2)
    assert message in result.stderr


def test_the_session_file_is_not_the_data(data):
    result = CliRunner().invoke(main, ["explore", str(data), "--session", str(data)])
    assert result.exit_code == 2
    assert "never replace" in result.stderr


def test_the_extra_is_named(data, monkeypatch):
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    result = CliRunner().invoke(main, ["explore", str(data)])
    assert result.exit_code == 1
    assert "fiedler[explore]" in result.stderr


def test_a_browser_is_opened_by_a_file_that_only_the_user_can_read(data, monkeypatch, tmp_path):
    import threading
    import webbrowser

    from fiedler.cli.run import redirect_file
    from fiedler.explore import server

    path = redirect_file("http://127.0.0.1:1/secret/")
    assert path.stat().st_mode & 0o777 == 0o600
    assert "url=http://127.0.0.1:1/secret/" in path.read_text()
    path.unlink()
    opened, seen = threading.Event(), []
    monkeypatch.setattr(webbrowser, "open", lambda address: (seen.append(address), opened.set()))

    def serve(session, *, opened, **options):
        opened("http://127.0.0.1:1/secret/")
        raise KeyboardInterrupt

    monkeypatch.setattr(server, "serve", serve)
    session = tmp_path / "s.json"
    result = CliRunner().invoke(main, ["explore", str(data), "--id", "id", "--drop", "kind", "--session", str(session)])
    assert result.exit_code == 0, result.stderr
    assert opened.wait(30)
    assert seen[0].startswith("file://")
    assert "secret" not in seen[0]
