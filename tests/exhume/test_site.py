"""bugs site: pages that no record breaks out of, an index that finds words, a server of files."""

from __future__ import annotations

import http.client
import os
import re
import shutil
import subprocess
import tarfile
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from base.locks import lock_folder
from base.steps import nothing
from difftest.bugs.records import Bug
from difftest.errors import BadOutput, DifftestError
from exhume.pages.site import building, engine
from exhume.pages.site.building import write_site
from exhume.pages.site.highlighting import highlight
from exhume.pages.site.indexing import MOST_WORDS, rows_of, script, words_of
from exhume.pages.site.serving import make_server
from solvers.errors import EnvironmentProblem
from tests.difftest.bugs.planted import RAN, planted_benchmark, planted_bug
from tests.exhume.test_report import HOSTILE, Page
from tests.stored import Command

SCRIPTS = {"data/rows.js", "search.js", "sql.js"}


def hostile_bug() -> Bug:
    """A bug all of whose texts attack the page; its formula has a line of a megabyte."""
    seen = planted_bug().strip
    fields: dict[str, Any] = dict.fromkeys(
        ("issue", "reported", "fixed_by", "issue_class", "expected", "logic", "licence"), HOSTILE
    )
    fields |= dict.fromkeys(("sources", "tools", "theories", "operators", "evidence", "options"), (HOSTILE,))
    return planted_bug(
        **fields,
        **{"id": "z3-hostile", "bug_key": HOSTILE, "url": "javascript:document.title='PWNED'"},
        **{"finding_class": "soundness", "direction": HOSTILE, "wrong": HOSTILE, "right": HOSTILE},
        text=f"{HOSTILE}\n; {HOSTILE * 7000}\n(check-sat)\n",
        strip=tuple(
            type(one)(
                release=one.release, outcome=one.outcome, answers=(HOSTILE,), detail=HOSTILE, location=HOSTILE
            )
            for one in seen
        ),
    )


def write(folder: Path, *bugs: Bug, **given: Any) -> Path:
    """The site of these bugs."""
    benchmark = planted_benchmark(folder / "bugs", *bugs)
    settings = {"option": " --bugs bugs", "corpus": None, "engine": (), "tick": nothing}
    write_site(benchmark, folder / "site", **{**settings, **given})
    return folder / "site"


def is_safe(page: Page) -> bool:
    """Whether it runs nothing but our scripts, and loads nothing from elsewhere."""
    loads = [value or "" for name, value in page.attributes if name in ("src", "action", "data", "srcset")]
    links = [value or "" for name, value in page.attributes if name == "href"]
    return (
        not page.tags & {"iframe", "img", "object", "embed", "base"}
        and not [name for name, _ in page.attributes if name.startswith("on")]
        and set(loads) <= SCRIPTS
        and all(re.match(r"(?:\.\./)?[\w./#=+-]*\Z|https?://", link) for link in links)
    )


def test_the_site_is_whole_and_its_links_lead_to_files(tmp_path: Path) -> None:
    site = write(tmp_path, *(planted_bug(number) for number in range(5)))
    names = {str(file.relative_to(site)) for file in site.rglob("*") if file.is_file()}
    assert {"index.html", "bugs.html", "sql.html", "style.css", "search.js", "sql.js"} < names
    assert {"data/rows.js", "data/words.js", "export/bug.parquet", "export/bugs.sqlite"} < names
    for file in site.rglob("*.html"):
        page = Page(file.read_text("utf-8"))
        assert is_safe(page), file
        for name, link in page.attributes:
            if name in ("href", "src") and link and not link.startswith(("http", "#")):
                assert (file.parent / link.partition("#")[0]).is_file(), (file, link)


def test_the_page_of_a_bug_has_what_it_takes(tmp_path: Path) -> None:
    bug = planted_bug(
        wrong="sat",
        right="unsat",
        days_to_fix=3,
        tools=("yinyang",),
        url="https://example.org/1",
        issue="z3#1",
    )
    site = write(tmp_path, bug, planted_bug(2))
    page = Page((site / "bugs" / f"{bug.id}.html").read_text("utf-8"))
    for words in (
        "z3 4.8.6: crash at smt/a.cpp:12 on QF_LIA", "(assert (> x 1))", "wrong answer", "right answer",
        f"exhume bugs checkout {bug.id} {bug.id} --bugs bugs", "z3 model_validate=true formula.smt2",
        "✗ shows the bug", "✓ does not show it", "4.8.5 to 4.8.6", *RAN, "yinyang", "Bugs like it",
    ):  # fmt: skip
        assert words in page.text, words
    assert ("href", "https://example.org/1") in page.attributes
    assert "Learned from it" not in page.text


def test_hostile_records_stay_text(tmp_path: Path) -> None:
    site = write(tmp_path, hostile_bug(), planted_bug())
    for file in site.rglob("*.html"):
        text = file.read_text("utf-8")
        assert is_safe(Page(text)) and not re.search(r"[\x00\x1b]", text), file
    text = (site / "bugs" / "z3-hostile.html").read_text("utf-8")
    assert Page(text).text.count("document.title='PWNED'") > 14_000
    for file in (site / "data").glob("*.js"):
        assert re.fullmatch(rb"window\.\w+ = \{[ -~]*\};\n", file.read_bytes())


@pytest.mark.thorough
def test_the_same_benchmark_gives_the_same_site(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        write(tmp_path / name, *(planted_bug(number) for number in range(4)))
    one, two = (
        {file.relative_to(tmp_path / name): file.read_bytes() for file in (tmp_path / name).rglob("*.*")}
        for name in ("one", "two")
    )
    assert one == two


def test_only_an_earlier_site_is_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(building, "overview_plots", lambda bugs: [])
    monkeypatch.setattr(building, "export", lambda benchmark, folder: {})
    site = write(tmp_path, planted_bug())
    (site / "old.html").write_text("old")
    monkeypatch.setattr(
        building, "unpack_engine", lambda *_: (_ for _ in ()).throw(OSError(28, "No space left"))
    )
    with pytest.raises(BadOutput, match="No space left"):
        write(tmp_path, planted_bug(), engine=[Path("x")])
    assert (site / "old.html").exists()  # what was there stays whole
    write(tmp_path, planted_bug())
    assert not (site / "old.html").exists()
    assert sorted(file.name for file in tmp_path.iterdir()) == ["bugs", "site"]
    (site / "data" / "site.json").unlink()
    with pytest.raises(BadOutput, match="is not a site"):
        write(tmp_path, planted_bug())


def test_two_commands_do_not_write_one_site(tmp_path: Path) -> None:
    (tmp_path / ".site.part").mkdir()
    lock = lock_folder(tmp_path / ".site.part")
    with pytest.raises(BadOutput, match="another command writes this site"):
        write(tmp_path, planted_bug())
    os.close(lock)
    (tmp_path / ".site.part" / "left.html").write_text("what a killed command left")
    assert not (write(tmp_path, planted_bug()) / "left.html").exists()


# Search


def found(bugs: list[Bug], word: str) -> list[int]:
    """The rows of a word in the index."""
    document = words_of(bugs)
    lines = dict(zip(document["words"].split("\n"), document["places"].split("\n"), strict=True))
    rows, row = [], 0
    for step in lines[word].split():
        row += int(step, 36)
        rows.append(row)
    return rows


def test_the_index_finds_words_of_formulas_and_records() -> None:
    bugs = [
        planted_bug(n, text=f"(assert (bvudiv x{n} |a b|))", tools=("yinyang",) * (n % 50 == 7))
        for n in range(120)
    ]
    assert found(bugs, "x119") == [119]
    assert found(bugs, "bvudiv") == list(range(120))
    assert found(bugs, "yinyang") == [7, 57, 107]
    assert found(bugs, bugs[40].id) == [40]


def test_the_words_of_one_bug_are_limited() -> None:
    bug = planted_bug(text=" ".join(f"v{number}" for number in range(50_000)) + " " + "w" * 10_000)
    assert len(words_of([bug])["words"].split("\n")) == MOST_WORDS


def test_rows_name_the_values_of_facets() -> None:
    bugs = [planted_bug(1, first_good="4.8.10", days_to_fix=400), planted_bug(2, days_to_fix=None)]
    document = rows_of(bugs)
    facets = {facet["key"]: facet["names"] for facet in document["facets"]}
    assert facets["fixed"] == ["z3 4.8.7", "z3 4.8.10"] and facets["days"] == ["later"]
    values = [row[-1][[*facets].index("days")] for row in document["rows"]]
    assert values == [[0], []]


def test_a_bug_without_a_date_is_of_an_unknown_year() -> None:
    facets = rows_of([planted_bug(reported=None)])["facets"]
    (years,) = [facet["names"] for facet in facets if facet["key"] == "year"]
    assert years == ["unknown"]


def test_scripts_are_ascii() -> None:
    assert (
        script("a", {"x": "</script>\u2028é\ud800"})
        == b'window.a = {"x":"</script>\\u2028\\u00e9\\ud800"};\n'
    )


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("(assert (> x 10)) ; <b>", '(<span class="h-r">assert</span> (&gt; x <span class="h-n">10</span>)) '
         '<span class="h-c">; &lt;b&gt;</span>'),
        ('(set-info :status "&")', '(<span class="h-r">set-info</span> <span class="h-k">:status</span> '
         '<span class="h-s">&#34;&amp;&#34;</span>)'),
        ("(a let #b01 |<i>|\x00", '(a let <span class="h-n">#b01</span> |&lt;i&gt;|\ufffd'),
    ],
)  # fmt: skip
def test_tokens_are_coloured_and_escaped(text: str, shown: str) -> None:
    assert highlight(text) == shown


def test_a_long_text_is_shown_to_its_end() -> None:
    text = "(assert true) " * 80_000
    assert re.sub(r"<[^>]*>", "", highlight(text)) == text


# The server


@pytest.fixture
def served(tmp_path: Path) -> Iterator[tuple[Path, int]]:
    """A folder and the port that it is served on."""
    folder = tmp_path / "site"
    (folder / "data").mkdir(parents=True)
    (folder / "index.html").write_text("<p>")
    (folder / "a.wasm").write_bytes(b"\0asm")
    (tmp_path / "secret.html").write_text("secret")
    (folder / "link.html").symlink_to(tmp_path / "secret.html")
    server = make_server(folder)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield folder, server.server_port
    server.shutdown()
    thread.join()
    server.server_close()


def ask(port: int, path: str, method: str = "GET", host: str = "127.0.0.1") -> http.client.HTTPResponse:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    connection.putrequest(method, path, skip_host=True)
    connection.putheader("Host", host)
    connection.putheader("Connection", "close")
    connection.endheaders()
    return connection.getresponse()


@pytest.mark.parametrize(
    ("path", "status"),
    [
        *(
            ("/", 200),
            ("/index.html", 200),
            ("/a.wasm", 200),
            ("/data/", 404),
            ("/data", 404),
            ("/none", 404),
        ),
        *(
            ("/../secret.html", 404),
            ("/%2e%2e/secret.html", 404),
            ("/link.html", 404),
            ("/..%2fsecret.html", 404),
            (f"/{'a' * 300}", 404),
        ),
    ],
)
def test_only_files_of_the_folder_are_served(served: tuple[Path, int], path: str, status: int) -> None:
    answer = ask(served[1], path)
    assert answer.status == status
    assert b"secret" not in answer.read()


def test_pages_of_other_hosts_get_nothing(served: tuple[Path, int]) -> None:
    assert ask(served[1], "/", host="evil.example").status == 421
    # Browsers leave out port 80.
    for host in ("localhost", f"localhost:{served[1]}"):
        assert ask(served[1], "/", host=host).status == 200
    assert ask(served[1], "/", method="POST").status == 501
    answer = ask(served[1], "/a.wasm")
    assert answer.headers["Content-Type"] == "application/wasm"
    assert "connect-src 'self'" in answer.headers["Content-Security-Policy"]


def test_a_port_that_is_taken(served: tuple[Path, int]) -> None:
    with pytest.raises(EnvironmentProblem, match="name another with --port"):
        make_server(served[0], served[1])


# The SQL engine


@pytest.fixture
def packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """Two tarballs that stand in for those of npm."""
    monkeypatch.setenv("EXHUME_CACHE", str(tmp_path / "cache"))
    contents = {
        "wasm": {
            "dist/duckdb-browser.mjs": b'import*as l from"apache-arrow";',
            "dist/duckdb-eh.wasm": b"\0asm",
        },
        "arrow": {"Arrow.es2015.min.js": b"arrow", "../../../evil": b"evil"},
    }
    files = []
    for name, members in contents.items():
        files.append(tmp_path / f"{name}.tgz")
        with tarfile.open(files[-1], "w:gz") as opened:
            for member, data in members.items():
                (tmp_path / "member").write_bytes(data)
                opened.add(tmp_path / "member", f"package/{member}")
    hashes = {name: engine._digest(file) for name, file in zip(engine.PACKAGES, files, strict=True)}
    monkeypatch.setattr(engine, "PACKAGES", hashes)
    return files


def test_the_engine_comes_from_tarballs(packages: list[Path], tmp_path: Path) -> None:
    site = write(tmp_path, planted_bug(), engine=engine.find_engine(packages[::-1]))
    assert (site / "duckdb" / "duckdb-browser.mjs").read_bytes() == b'import*as l from"./arrow.mjs";'
    assert not list(tmp_path.rglob("evil"))
    assert "built without the SQL engine" not in (site / "sql.html").read_text()


def test_npm_is_asked_once(packages: list[Path], monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def npm(command: list[str], **given: Any) -> subprocess.CompletedProcess[str]:
        asked.append(command)
        for file in packages:
            shutil.copy(file, given["cwd"])
        return subprocess.CompletedProcess(command, 0, "", "")

    monkeypatch.setattr(shutil, "which", lambda name: name)
    monkeypatch.setattr(subprocess, "run", npm)
    first = engine.find_engine(())
    assert engine.find_engine(()) == first and len(asked) == 1
    first[0].write_bytes(b"damaged")
    assert engine.find_engine(()) == first and len(asked) == 2
    assert "--ignore-scripts" in asked[0]


def test_npm_that_fails_is_one_line(packages: list[Path], monkeypatch: pytest.MonkeyPatch) -> None:
    failed = subprocess.CompletedProcess([], 1, "", "npm error code ECONNREFUSED\nnpm error more\n")
    monkeypatch.setattr(shutil, "which", lambda name: name)
    monkeypatch.setattr(subprocess, "run", lambda command, **given: failed)
    with pytest.raises(EnvironmentProblem, match=r"\(no network\?\): npm error code ECONNREFUSED\Z"):
        engine.find_engine(())


def test_what_is_not_the_engine_is_refused(packages: list[Path], tmp_path: Path) -> None:
    (tmp_path / "other.tgz").write_bytes(b"other")
    for given, said in (
        ([tmp_path / "other.tgz"], "is not the tarball of"),
        ([packages[0]], "also needs the package apache-arrow"),
        ([tmp_path / "none.tgz"], "cannot read"),
    ):
        with pytest.raises(DifftestError, match=said):
            engine.find_engine(given)


# The command


def test_the_command_says_what_it_wrote(
    exhume: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(building, "overview_plots", lambda bugs: [])
    planted_benchmark(tmp_path / "bugs", planted_bug(), planted_bug(2))
    call = ["bugs", "site", "--bugs", tmp_path / "bugs", "--out", tmp_path / "site"]
    monkeypatch.setenv("EXHUME_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(shutil, "which", lambda name: None)
    done = exhume(*call)
    assert (done.code, "npm is not installed" in done.said) == (0, True)
    assert "2 bugs in" in done.out and "without SQL" in done.out
    assert "built without the SQL engine" in (tmp_path / "site" / "sql.html").read_text()
    document = exhume(*call, "--no-sql", "--json").json
    assert (document["bugs"], document["has_sql"]) == (2, False)
    (tmp_path / "bugs" / "bugs.jsonl").write_text("")
    done = exhume(*call)
    assert (done.code, "holds no bug" in done.said) == (2, True)


# Contrast (WCAG 2: at least 4.5 for text)


def _luminance(colour: str) -> float:
    full = "".join(c * 2 for c in colour[1:]) if len(colour) == 4 else colour[1:]
    parts = [int(full[at : at + 2], 16) / 255 for at in (0, 2, 4)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def test_texts_have_contrast(tmp_path: Path) -> None:
    style = (write(tmp_path, planted_bug()) / "style.css").read_text()
    roots = re.findall(r":root \{([^}]*)\}", style)
    light, dark, own_light, own_dark = (dict(re.findall(r"(--[\w-]+): (#\w+)", root)) for root in roots)
    dark_letters = set(re.findall(r"\.k(\d)", re.search(r"(\.k1[^{]*)\{ color: #14171a", style)[1]))  # type: ignore[index]
    for theme in ({**light, **own_light}, {**light, **own_light, **dark, **own_dark}):
        texts = ["--ink", "--soft", "--link", *own_light]
        pairs = [(theme[text], theme[ground]) for text in texts for ground in ("--paper", "--box")]
        pairs += [
            ("#14171a" if str(n) in dark_letters else theme["--paper"], theme[f"--c{n}"]) for n in range(8)
        ]
        for text, ground in pairs:
            high, low = sorted((_luminance(text), _luminance(ground)), reverse=True)
            assert (high + 0.05) / (low + 0.05) >= 4.5, (text, ground)
