"""A running ``fiedler explore``, for the tests of the server and of the page in a browser."""

import http.client
import json
import os
import re
import subprocess
import sys
from contextlib import contextmanager
from urllib.parse import urlsplit

import numpy as np

HOSTILE = "<img src=x onerror=alert(1)>"


def write_table(path, n=60, m=8, n_labels=9, seed=0):
    """Three groups; ids, hostile names and a few labels. Returns X and the groups."""
    rng = np.random.default_rng(seed)
    groups = np.arange(n) % 3
    X = rng.normal(size=(n, m))
    X[:, : m - 1] += 3 * rng.normal(size=(3, m - 1))[groups]
    names = [HOSTILE, "</script><script>alert(2)</script>", *(f"gene {j}" for j in range(2, m))]
    lines = [",".join(["id", *(f'"{name}"' for name in names), "kind"])]
    for i, row in enumerate(X):
        label = ["a", "b", HOSTILE][groups[i]] if i < n_labels else ""
        lines.append(",".join([f"s{i}", *map(repr, row.tolist()), label]))
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return X, groups


class Running:
    """The process, the address it printed, and a way to send it messages."""

    def __init__(self, process, address):
        self.process, self.address = process, address
        parts = urlsplit(address)
        self.host, self.port, self.path = parts.netloc, parts.port, parts.path

    def request(self, method="GET", path=None, body=None, **headers):
        """Status, headers and text of a raw request; ``Host=None`` leaves a header out."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        given = {"Host": self.host, "Origin": f"http://{self.host}", "Content-Type": "application/json"}
        given |= {name.replace("_", "-"): value for name, value in headers.items()}
        try:
            connection.putrequest(method, self.path if path is None else path, skip_host=True)
            for name, value in given.items():
                if value is not None:
                    connection.putheader(name, value)
            data = None if body is None else body if isinstance(body, bytes) else json.dumps(body).encode()
            if data is not None:
                connection.putheader("Content-Length", str(len(data)))
            connection.endheaders(data)
            reply = connection.getresponse()
            return reply.status, dict(reply.getheaders()), reply.read().decode()
        finally:
            connection.close()

    def send(self, kind, **fields):
        status, _, text = self.request("POST", f"{self.path}message", {"type": kind, **fields})
        assert status == 200, text
        return json.loads(text)


@contextmanager
def running(*arguments, cwd=None):
    """``fiedler explore`` in a process of its own, which is ended."""
    command = [sys.executable, "-m", "fiedler", "explore", *map(str, arguments), "--no-browser"]
    environment = os.environ | {"PYTHONUNBUFFERED": "1"}
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=cwd, env=environment
    )
    try:
        line = process.stdout.readline()
        found = re.search(r"http://\S+", line)
        assert found, (line, process.communicate(timeout=60))
        yield Running(process, found[0])
    finally:
        process.kill()
        process.communicate(timeout=60)
