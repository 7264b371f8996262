"""A local server with a record like Zenodo's, which can misbehave."""

import hashlib
import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass
class Record:
    """A record on a server: its files, how it behaves, and the requests it has seen."""

    files: dict[str, bytes]
    url: str = ""
    cut_after: list[int] = field(default_factory=list)
    answers: list[int] = field(default_factory=list)
    checksums: dict[str, str] = field(default_factory=dict)
    listing: bytes | None = None
    requests: list[str] = field(default_factory=list)

    def listed(self) -> bytes:
        if self.listing is not None:
            return self.listing
        entries = [
            {
                "key": name,
                "size": len(content),
                "checksum": "md5:" + self.checksums.get(name, hashlib.md5(content).hexdigest()),
                "links": {"self": f"{self.url}/files/{name}/content"},
            }
            for name, content in self.files.items()
        ]
        return json.dumps({"id": 8421611, "files": entries}).encode()


def handler(record: Record) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            if self.path == "/record":
                self.answer(200, record.listed())
                return
            name = self.path.split("/")[2]
            record.requests.append(name)
            if record.answers and (code := record.answers.pop(0)) != 200:
                self.answer(code, b"")
                return
            self.answer(200, record.files[name])

        def answer(self, code: int, body: bytes) -> None:
            self.send_response(code)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            cut = record.cut_after.pop(0) if record.cut_after and self.path != "/record" else None
            self.wfile.write(body[:cut])

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            pass

    return Handler


@contextmanager
def serving() -> Iterator[Callable[..., Record]]:
    """A function that starts a server with these files and returns its record."""
    servers: list[ThreadingHTTPServer] = []

    def start(files: dict[str, bytes], **behaviour: object) -> Record:
        record = Record(files, **behaviour)  # type: ignore[arg-type]
        server = ThreadingHTTPServer(("127.0.0.1", 0), handler(record))
        record.url = f"http://127.0.0.1:{server.server_address[1]}"
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        servers.append(server)
        return record

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()
        server.server_close()
