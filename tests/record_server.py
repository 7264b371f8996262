"""A local server with a record like Zenodo's, which can misbehave."""

import hashlib
import json
import re
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
    ranges: bool = True
    etag: str | None = '"v1"'
    cut_after: list[int] = field(default_factory=list)
    answers: list[int] = field(default_factory=list)
    checksums: dict[str, str] = field(default_factory=dict)
    listing: bytes | None = None
    wrong_range: bool = False
    requests: list[tuple[str, str | None, str | None]] = field(default_factory=list)

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
            asked, condition = self.headers.get("Range"), self.headers.get("If-Range")
            record.requests.append((name, asked, condition))
            if record.answers and (code := record.answers.pop(0)) != 200:
                self.answer(code, b"")
                return
            content = record.files[name]
            valid = condition is None or condition == record.etag
            if asked and record.ranges and valid:
                start = int(re.fullmatch(r"bytes=(\d+)-", asked).group(1))  # type: ignore[union-attr]
                shown = start + 1 if record.wrong_range else start
                span = {"Content-Range": f"bytes {shown}-{len(content) - 1}/{len(content)}"}
                self.answer(206, content[start:], span)
            else:
                self.answer(200, content)

        def answer(self, code: int, body: bytes, headers: dict[str, str] | None = None) -> None:
            self.send_response(code)
            self.send_header("Content-Length", str(len(body)))
            if record.etag:
                self.send_header("ETag", record.etag)
            for name, value in (headers or {}).items():
                self.send_header(name, value)
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
