"""A small object store that speaks as much of S3 as reading needs: objects by range, their sizes, and listings."""

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, unquote, urlsplit
from xml.sax.saxutils import escape

NAMESPACE = "http://s3.amazonaws.com/doc/2006-03-01/"
CHANGED = "2026-11-02T10:00:00.000Z"
CHANGED_HTTP = "Mon, 02 Nov 2026 10:00:00 GMT"


class Handler(BaseHTTPRequestHandler):
    """Answers for the objects of its server: ``{"bucket/key": bytes}``."""

    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        """Keep quiet."""

    def do_HEAD(self):
        self.answer(body=False)

    def do_GET(self):
        self.answer(body=True)

    def answer(self, *, body):
        parts = urlsplit(self.path)
        path = unquote(parts.path).strip("/")
        objects = self.server.objects
        if path in objects:
            self.give(objects[path], body=body)
        elif "/" in path or not any(name.startswith(f"{path}/") for name in objects):
            self.reply(404, xml("Error", "<Code>NoSuchKey</Code><Message>no such key</Message>"), body=body)
        elif body:
            asked = {name: values[0] for name, values in parse_qs(parts.query).items()}
            self.reply(200, listing(objects, path, asked.get("prefix", ""), asked.get("delimiter", "")), body=body)
        else:
            self.reply(200, b"", body=body)

    def give(self, data, *, body):
        """An object, or the range of it that is asked for."""
        wanted = self.headers.get("Range")
        if not wanted:
            self.reply(200, data, body=body)
            return
        first, last = wanted.removeprefix("bytes=").split("-")
        start, end = int(first), min(int(last or len(data) - 1), len(data) - 1)
        about = {"Content-Range": f"bytes {start}-{end}/{len(data)}"}
        self.reply(206, data[start : end + 1], about, body=body)

    def reply(self, status, data, about=(), *, body):
        self.send_response(status)
        for name, value in {"Last-Modified": CHANGED_HTTP, "ETag": '"0"', **dict(about)}.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        if body:
            self.wfile.write(data)


def xml(name, inner):
    return f'<?xml version="1.0" encoding="UTF-8"?><{name} xmlns="{NAMESPACE}">{inner}</{name}>'.encode()


def listing(objects, bucket, prefix, delimiter):
    """The objects of a bucket below a prefix, and the folders where a delimiter asks for them."""
    folders, found = set(), []
    for name, data in sorted(objects.items()):
        owner, _, key = name.partition("/")
        if owner != bucket or not key.startswith(prefix):
            continue
        inside = key[len(prefix) :]
        if delimiter and delimiter in inside:
            folders.add(prefix + inside[: inside.index(delimiter) + 1])
            continue
        about = f"<LastModified>{CHANGED}</LastModified><ETag>&quot;0&quot;</ETag><StorageClass>STANDARD</StorageClass>"
        found.append(f"<Contents><Key>{escape(key)}</Key><Size>{len(data)}</Size>{about}</Contents>")
    folded = "".join(f"<CommonPrefixes><Prefix>{escape(each)}</Prefix></CommonPrefixes>" for each in sorted(folders))
    about = f"<Name>{bucket}</Name><Prefix>{escape(prefix)}</Prefix><KeyCount>{len(found) + len(folders)}</KeyCount>"
    return xml(
        "ListBucketResult", f"{about}<MaxKeys>1000</MaxKeys><IsTruncated>false</IsTruncated>{''.join(found)}{folded}"
    )


def serve(objects):
    """A running server of those objects, to be shut down by its owner, and its address."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.objects = objects
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server, f"http://127.0.0.1:{server.server_address[1]}"
