"""One more host is one more file."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

import miner.hosts
from base.errors import Exit
from corpus.store import Corpus
from exhume.cli import run

TOY = '''
"""A tracker whose API is a list of bugs."""

import re

from corpus.records import Comment, Issue
from miner.hosts.host import Host, Listing, moment, text_in
from miner.hosts.http import Api


class Toy(Host):
    name = "toy"
    site = "toy.example"
    api = Api("Toy", "https://toy.example/api", "https://HOST/api", "TOY_TOKEN")
    lists = (Listing("/bugs", (("sort", "updated"),)),)
    reference = re.compile(r"bug (?P<kind>no\\\\.)(?P<number>[0-9]+)")
    kinds = {"no.": ("issue", "#")}

    def path(self, name):
        return f"/{name}"

    def tracker_of(self, item):
        return text_in(item, "product") if "bug" in item else None

    def read(self, item, tracker):
        if "bug" in item:
            yield item["bug"], Issue(
                tracker, item["bug"], text_in(item, "summary"), text_in(item, "text"),
                state="closed", updated_at=moment(item, "updated_at"),
            )
            for number, text in enumerate(item.get("answers", ()), 1):
                yield item["bug"], Comment(number, text)


HOST = Toy()
'''.replace("\\\\", "\\")

BUGS = [
    {
        "bug": number,
        "product": "ada/toy",
        "summary": "wrong answer",
        "text": f"See bug no.{number + 1}.\n```\n(declare-const x Int)(assert (> x {number}))\n```",
        "answers": [f"```\n(assert (< 1 {number}))\n(check-sat)\n```"],
        "updated_at": f"2024-01-0{number}T00:00:00Z",
    }
    for number in range(1, 6)
]


class _Server(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        body = json.dumps(BUGS if "/bugs" in self.path else {"name": "toy"}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        pass


def test_a_host_is_one_file_in_a_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "hosts").mkdir()
    (tmp_path / "hosts" / "toy.py").write_text(TOY)
    monkeypatch.setattr(miner.hosts, "__path__", [*miner.hosts.__path__, str(tmp_path / "hosts")])
    assert list(miner.hosts.known_hosts()) == ["github", "gitlab", "toy"]
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Server)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        url = f"http://127.0.0.1:{server.server_address[1]}/api"
        words = ["mine", "ada/toy", "--host", "toy", "--corpus", str(tmp_path / "live"), "--api-url", url]
        assert run(words) == Exit.DONE
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
    (tmp_path / "dump.json").write_text(json.dumps(BUGS))
    assert run(["mine", "--corpus", str(tmp_path / "c"), "--from", str(tmp_path / "dump.json")]) == Exit.DONE
    assert run(["mine", "--replay", "--corpus", str(tmp_path / "live")]) == Exit.DONE
    assert capsys.readouterr().out.count("ada/toy: 5 new issues, 10 new formulas") == 2
    for name in ("live", "c"):
        with Corpus.open(tmp_path / name) as corpus:
            assert corpus.rows("select name, kind from tracker") == [("ada/toy", "toy")]
            assert corpus.scalar("select count(*) from formula") == 10
            links = corpus.rows("select distinct kind, target from issue_link order by target")
            assert links == [("issue", f"ada/toy#{number}") for number in range(2, 7)]
            assert corpus.verify() == []
    monkeypatch.undo()
    words = ["mine", "--replay", "ada/toy", "--corpus", str(tmp_path / "live")]
    assert run(words) == Exit.USAGE  # a host that is not here any more
    assert "ada/toy" in capsys.readouterr().err
