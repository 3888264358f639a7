"""Attached files: which are fetched, from where, and what an archive may do (nothing)."""

from __future__ import annotations

import base64
import bz2
import gzip
import io
import json
import lzma
import tarfile
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from corpus.records import Comment, Issue
from corpus.store import Corpus
from miner.attachments import AttachedFile, Downloader, Limits, Link, files_of, links_of, texts_of
from miner.extract import extract_issue
from miner.mining import MineOptions, replay_tracker
from tests.miner.github_server import FakeGitHub, FakeTracker, Fault, serving
from tests.miner.mining_help import GITHUB, TestClock, contents, mine
from tests.sizes import size

SCRIPT = "(declare-const z Int)\n(assert (> z 100))\n(check-sat)\n"
FILES = "https://github.com/ada/solver/files/12/"
SITES = GITHUB.file_sites(GITHUB.api.url)
LIMITS = Limits(bytes=100_000, unpacked=2 << 20, members=20, ratio=50)


@pytest.fixture
def hub() -> Iterator[FakeGitHub]:
    with serving(FakeTracker(issues=3, comments=0)) as running:
        yield running


def downloader(hub: FakeGitHub, limits: Limits = LIMITS) -> Downloader:
    return Downloader(
        limits, {"github.com": hub.url, "objects.githubusercontent.com": hub.url}, TestClock(), timeout=5
    )


def zipped(files: dict[str, bytes], kind: int = zipfile.ZIP_DEFLATED) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", kind) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return buffer.getvalue()


def tarred(files: dict[str, bytes], mode: str = "w:gz") -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode=mode) as archive:  # type: ignore[call-overload]
        for name, data in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
        link = tarfile.TarInfo("link.smt2")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        archive.addfile(link)
    return buffer.getvalue()


def read(name: str, data: bytes, limits: Limits = LIMITS) -> list[tuple[str, str]]:
    body = json.dumps({"base64": base64.b64encode(data).decode()})
    return [(file.name, file.text) for file in files_of(Link(FILES + name, "body"), body, limits)]


def test_links_are_those_of_githubs_hosts_with_a_known_ending() -> None:
    text = f"""[a]({FILES}a.smt2) {FILES}b.zip. {FILES}a.smt2
    https://github.com/user-attachments/files/7/c.tar.gz https://user-images.githubusercontent.com/1/d.txt
    https://github.com/a/b/files/1/picture.png https://evil.example/files/1/e.smt2
    https://github.com.evil.example/a/b/files/1/e.smt2 http://github.com/a/b/files/1/e.smt2
    https://github.com/a/b/blob/master/e.smt2 https://github.com/a/b/files/1/../../../e.smt2
    """
    issue = Issue("a/b", 1, "", text, comments=(Comment(9, f"{FILES}f.gz"),))
    found = [(link.address.rpartition("/")[2], link.where) for link in links_of(issue, GITHUB)]
    assert found == [
        ("a.smt2", "body"),
        ("b.zip", "body"),
        ("c.tar.gz", "body"),
        ("d.txt", "body"),
        ("f.gz", "comment:9"),
    ]
    assert len(links_of(issue, GITHUB, Limits(files=2))) == 2


def test_a_file_is_fetched_through_redirections_of_github(hub: FakeGitHub) -> None:
    hub.files["/ada/solver/files/12/a.smt2"] = (
        302,
        {"Location": "https://objects.githubusercontent.com/x/a.smt2?sig=1"},
    )
    hub.files["/x/a.smt2"] = SCRIPT.encode()
    answer = downloader(hub).fetch(FILES + "a.smt2", SITES)
    assert answer is not None
    assert files_of(Link(FILES + "a.smt2", "body"), answer.body) == [AttachedFile("a.smt2", SCRIPT, "body")]
    assert not any("authorization" in headers for headers in hub.headers)


@pytest.mark.parametrize(
    "place",
    [
        "https://evil.example/a.smt2",
        "http://github.com/a.smt2",
        "file:///etc/passwd",
        "https://github.com:8080/a.smt2",
        "https://169.254.169.254/latest",
        "//evil.example/x",
        "https://github.com@evil.example/x",
    ],
)
def test_a_redirection_away_from_github_is_not_followed(hub: FakeGitHub, place: str) -> None:
    hub.files["/ada/solver/files/12/a.smt2"] = (302, {"Location": place})
    answer = downloader(hub).fetch(FILES + "a.smt2", SITES)
    assert answer is not None
    assert (answer.status, len(hub.log)) == (0, 1)
    assert "away from the tracker's host" in answer.body


def test_redirections_without_end_and_large_files_are_not_taken(hub: FakeGitHub) -> None:
    hub.files["/ada/solver/files/12/a.smt2"] = (302, {"Location": FILES + "a.smt2"})
    hub.files["/ada/solver/files/12/b.smt2"] = b"x" * 100_001
    for name, why in (("a.smt2", "redirections"), ("b.smt2", "more than 100000")):
        answer = downloader(hub).fetch(FILES + name, SITES)
        assert answer is not None
        assert why in answer.body
        assert files_of(Link(FILES + name, "body"), answer.body) == []


def test_faults_are_waited_out_and_a_missing_file_is_recorded(hub: FakeGitHub) -> None:
    hub.files["/ada/solver/files/12/a.smt2"] = SCRIPT.encode()
    hub.faults = [Fault(503), Fault("cut"), Fault("close")]
    answer = downloader(hub).fetch(FILES + "a.smt2", SITES)
    assert answer is not None
    assert answer.status == 200
    missing = downloader(hub).fetch(FILES + "none.smt2", SITES)
    assert missing is not None
    assert missing.status == 404
    for faults in ([Fault(503)] * 9, [Fault(403)], [Fault(401)]):
        hub.faults = faults
        assert downloader(hub).fetch(FILES + "a.smt2", SITES) is None  # to be tried by the next run


def test_files_of_a_server_that_is_down_are_tried_once_each(hub: FakeGitHub) -> None:
    hub.files["/ada/solver/files/12/a.smt2"] = SCRIPT.encode()
    down = downloader(hub)
    tries = []
    for faults in (4, 1, 0, 4):
        hub.faults, asked = [Fault(503)] * faults, len(hub.log)
        assert (down.fetch(FILES + "a.smt2", SITES) is None) == (faults > 0)
        tries.append(len(hub.log) - asked)
    assert (tries, down.fetched) == ([4, 1, 1, 4], 4)


@pytest.mark.parametrize(
    ("name", "data", "names"),
    [
        ("a.smt2", SCRIPT.encode(), ["a.smt2"]),
        ("a.smt2.gz", gzip.compress(SCRIPT.encode()), ["a.smt2.gz/a.smt2"]),
        ("a.smt2.bz2", bz2.compress(SCRIPT.encode()), ["a.smt2.bz2/a.smt2"]),
        ("a.smt2.xz", lzma.compress(SCRIPT.encode()), ["a.smt2.xz/a.smt2"]),
        ("a.zip", zipped({"x/a.smt2": SCRIPT.encode(), "b.png": b"1"}), ["a.zip/a.smt2"]),
        ("a.tar.gz", tarred({"x/a.smt2": SCRIPT.encode()}), ["a.tar.gz/a.tar/a.smt2"]),
        ("a.tgz", tarred({"a.smt2": SCRIPT.encode()}), ["a.tgz/a.tar/a.smt2"]),
        ("a.tar.xz", tarred({"a.smt2": SCRIPT.encode()}, "w:xz"), ["a.tar.xz/a.tar/a.smt2"]),
        ("a.tar", tarred({"a.smt2": SCRIPT.encode()}, "w"), ["a.tar/a.smt2"]),
        ("a.zip", zipped({"b.zip": zipped({"c.smt2": SCRIPT.encode()})}), ["a.zip/b.zip/c.smt2"]),
    ],
    # Not the data: compressed files hold the time, and workers must agree on the names of tests.
    ids=lambda value: "data" if isinstance(value, bytes) else str(value),
)
def test_archives_are_taken_apart(name: str, data: bytes, names: list[str]) -> None:
    assert read(name, data) == [(inner, SCRIPT) for inner in names]


def test_an_error_of_our_own_does_not_look_like_a_damaged_archive(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("miner.attachments._plain", lambda name: name if name == "a.zip" else name[99])
    with pytest.raises(IndexError):
        read("a.zip", zipped({"a.smt2": SCRIPT.encode()}))


def test_a_damaged_member_of_an_archive_is_skipped() -> None:
    data = zipped({f"{name}.smt2": name.encode() for name in "abc"}, zipfile.ZIP_STORED)
    data = data.replace(b"b.smt2b", b"b.smt2x")  # not what the checksum says
    assert read("a.zip", data) == [("a.zip/a.smt2", "a"), ("a.zip/c.smt2", "c")]


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress])
def test_all_streams_of_a_file_are_read(pack: Callable[[bytes], bytes]) -> None:
    half = len(SCRIPT) // 2
    streams = [pack(SCRIPT[:half].encode()), pack(SCRIPT[half:].encode())]
    name = {"gzip": "a.smt2.gz", "bz2": "a.smt2.bz2", "lzma": "a.smt2.xz"}[pack.__module__]
    for between, after in ((b"", b""), (b"\0" * 4, b"junk")):
        assert read(name, streams[0] + between + streams[1] + after) == [(f"{name}/a.smt2", SCRIPT)]
    assert read(name, streams[0] * (LIMITS.members + 1)) == []
    assert read(name, b"".join(pack(b"0" * (1 << 20)) for _ in range(3))) == []


def test_names_of_members_are_labels_and_no_paths(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    evil = {
        "../../evil.smt2": b"1",
        "/etc/evil.smt2": b"2",
        "C:\\evil.smt2": b"3",
        "..\\..\\e.smt2": b"4",
        "a/.h.smt2": b"5",
        "n\nl.smt2": b"6",
    }
    for data in (zipped(evil), tarred(evil)):
        names = [name.rpartition("/")[2] for name, _ in read("a.zip", data)]
        assert names == ["evil.smt2", "evil.smt2", "evil.smt2", "e.smt2", "h.smt2", "n_l.smt2"]
    assert list(tmp_path.iterdir()) == []


def test_bombs_are_left() -> None:
    zeros = b"0" * (8 << 20)
    assert read("a.zip", zipped({"a.smt2": zeros})) == []
    assert read("a.smt2.gz", gzip.compress(zeros)) == []
    assert read("a.smt2.bz2", bz2.compress(zeros)) == []
    assert read("a.smt2.xz", lzma.compress(zeros)) == []
    assert read("a.tar.gz", tarred({"a.smt2": zeros})) == []
    many = zipped({f"{n}.smt2": b"1" for n in range(100)})
    assert len(read("a.zip", many)) == 20
    deep = SCRIPT.encode()
    for _ in range(6):
        deep = zipped({"a.zip" if deep[:2] == b"PK" else "a.smt2": deep})
    assert read("a.zip", deep) == []
    nested = zipped({f"{n}.zip": zipped({"a.smt2": b"0" * (1 << 20)}) for n in range(20)})
    assert sum(len(text) for _, text in read("a.zip", nested)) <= LIMITS.unpacked


def test_what_is_no_text_or_broken_is_left() -> None:
    assert read("a.smt2", b"\0\1\2") == []
    assert read("a.smt2", "é".encode("latin-1")) == [("a.smt2", "é")]
    assert read("a.smt2", "é".encode("utf-16")) == [("a.smt2", "é")]
    log = "é" * 4096 + "\0"
    assert read("a.log", log.encode()) == [("a.log", log)]
    assert read("a.zip", zipped({"a.smt2": SCRIPT.encode()})[:-30]) == []
    for kind in (zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA):
        assert read("a.zip", zipped({"a.smt2": SCRIPT.encode()}, kind)) == []
    [(name, text)] = read("a.smt2.gz", gzip.compress(SCRIPT.encode())[:20])
    assert name == "a.smt2.gz/a.smt2"
    assert SCRIPT.startswith(text)
    for body in ("{", "[]", '{"base64": 1}', '{"not_taken": "x"}', '{"base64": "*"}'):
        assert files_of(Link(FILES + "a.smt2", "body"), body) == []


_SEEDS = [
    zipped({"a.smt2": SCRIPT.encode(), "b.zip": zipped({"c.txt": b"sat"})}),
    tarred({"a.smt2": SCRIPT.encode()}, "w"),
    tarred({"a.smt2": SCRIPT.encode()}),
    gzip.compress(SCRIPT.encode()),
    lzma.compress(SCRIPT.encode()),
    bz2.compress(SCRIPT.encode()),
]


@settings(max_examples=size(60, 200))
@given(st.sampled_from(_SEEDS), st.lists(st.tuples(st.integers(0, 12_000), st.integers(0, 255)), max_size=6))
def test_a_damaged_archive_raises_nothing(seed: bytes, harm: list[tuple[int, int]]) -> None:
    data = bytearray(seed)
    for place, value in harm:
        data[place % len(data)] = value
    read("a.zip", bytes(data))


def test_names_of_one_issue_are_distinguished() -> None:
    body = json.dumps({"base64": base64.b64encode(b"x").decode()})
    links = [Link(f"https://github.com/a/b/files/{n}/a.txt", "body") for n in (1, 2)]
    assert [f.name for f in texts_of(links, {link.address: body for link in links})] == ["a.txt", "a.txt~2"]


def test_attachments_are_mined_and_replayed(tmp_path: Path) -> None:
    tracker = FakeTracker(issues=3, comments=0)
    other = SCRIPT.replace("100", "200")
    body = f"```\n{SCRIPT}```\nand {FILES}b.zip {FILES}none.txt"
    number = tracker.add_issue("2029-01-01T00:00:00Z", title="soundness bug", body=body, state="closed")
    with serving(tracker) as hub:
        hub.files["/ada/solver/files/12/b.zip"] = zipped(
            {"a.smt2": SCRIPT.encode(), "b.smt2": other.encode()}
        )
        files = MineOptions(attachments=True)
        mine(tmp_path / "c", hub.url)
        assert not any("files" in path for path in hub.log)
        report = mine(tmp_path / "c", hub.url, options=files, downloader=downloader(hub))
        assert (report.attachments, report.new_formulas) == (1, 2)
        asked = len(hub.log)
        again = mine(tmp_path / "c", hub.url, options=files, downloader=downloader(hub))
        assert (len(hub.log) - asked, again.issues_read) == (3, 0)
        mine(tmp_path / "d", hub.url, options=files, downloader=downloader(hub))
    with Corpus.open(tmp_path / "c") as corpus:
        # One of them is the issue's own formula again.
        found = corpus.rows(
            f"select source, superseded_by is null from formula where source like '%#{number}/%' order by 1"
        )
        assert found == [
            (f"ada/solver#{number}/attachment:b.zip/a.smt2/0", False),
            (f"ada/solver#{number}/attachment:b.zip/b.smt2/0", True),
            (f"ada/solver#{number}/body/0", True),
        ]
        assert corpus.scalar("select count(*) from block where kind = 'attachment'") == 2
        assert corpus.verify() == []
        statuses = dict(corpus.rows("select request, status from raw_record where request like 'https://%'"))
        assert statuses == {FILES + "b.zip": 200, FILES + "none.txt": 404}
    for name in ("c", "d"):
        before = contents(tmp_path / name)
        with Corpus.open(tmp_path / name, write=True) as corpus:
            replay_tracker(corpus, "ada/solver")
        assert contents(tmp_path / name) == before


def test_attached_scripts_get_the_runs_and_answers_of_the_issue() -> None:
    script = "(declare-const a Int)\n(assert (> a 0))\n(check-sat)\n"
    body = (
        "z3 returns `unsat` on [9.smt2](https://github.com/a/b/files/1/9.smt2.zip), expected `sat`.\n"
        "```\n$ z3 smt.x=1 9.smt2\nunsat\n```"
    )
    issue = Issue("Z3Prover/z3", 1, "Soundness bug", body)
    (formula,) = extract_issue(issue, {"9.smt2": script}).formulas
    assert (formula.where, formula.text) == ("attachment:9.smt2", script)
    assert formula.expected is not None
    assert formula.expected.answer == "sat"
    assert formula.failing is not None
    assert formula.failing.invocation is not None
    assert formula.failing.invocation.options == ("smt.x=1",)
    assert formula.failing.answers == ("unsat",)


def test_gists_are_fetched_as_text() -> None:
    gist = "0123456789abcdef0123456789abcdef"
    body = f"see https://gist.github.com/ada/{gist} and https://gist.github.com/ada/{gist}/raw/1/f.smt2"
    addresses = [link.address for link in links_of(Issue("a/b", 1, "", body), GITHUB)]
    base = f"https://gist.githubusercontent.com/ada/{gist}/raw"
    assert addresses == [base, f"{base}/1/f.smt2"]
    answer = json.dumps({"base64": base64.b64encode(b"(check-sat)").decode()})
    assert [f.name for f in files_of(Link(base, "body"), answer)] == ["gist-0123456789ab.txt"]
