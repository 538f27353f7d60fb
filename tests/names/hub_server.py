"""A server on this machine with the parts of the Hugging Face Hub that a download asks for."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

COMMIT = "0123456789abcdef0123456789abcdef01234567"


def git_digest(data: bytes) -> str:
    return hashlib.sha1(b"blob %d\0" % len(data) + data).hexdigest()


@contextmanager
def serving(files: Mapping[str, bytes], repository: str = "") -> Iterator[tuple[str, list[str]]]:
    """Serve files; gives the address, and the list of the paths that are asked for.

    With a repository, they are those of its main revision; without, they are at their own paths.
    """
    asked: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_HEAD(self) -> None:
            self.do_GET()

        def do_GET(self) -> None:
            path = self.path.partition("?")[0]
            asked.append(path)
            resolved = f"/{repository}/resolve/"
            siblings = [{"rfilename": name} for name in files]
            if not repository and path[1:] in files:
                self.answer(files[path[1:]])
            elif path.startswith(f"/api/models/{repository}/tree/"):
                self.answer_json(
                    [
                        {"type": "file", "path": name, "size": len(data), "oid": git_digest(data)}
                        for name, data in files.items()
                    ]
                )
            elif path.startswith(f"/api/models/{repository}"):
                self.answer_json({"id": repository, "sha": COMMIT, "siblings": siblings})
            elif path.startswith(resolved) and path[len(resolved) :].partition("/")[2] in files:
                data = files[path[len(resolved) :].partition("/")[2]]
                self.answer(data, {"ETag": f'"{git_digest(data)}"', "X-Repo-Commit": COMMIT})
            else:
                self.answer(b"{}", {"X-Error-Code": "RepoNotFound"}, 404)

        def answer_json(self, value: object) -> None:
            self.answer(json.dumps(value).encode(), {"Content-Type": "application/json"})

        def answer(
            self, data: bytes, headers: Mapping[str, str] | None = None, status: int = 200
        ) -> None:
            self.send_response(status)
            for name, value in {"Content-Length": str(len(data)), **(headers or {})}.items():
                self.send_header(name, value)
            self.end_headers()
            if self.command == "GET":
                self.wfile.write(data)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}", asked
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
