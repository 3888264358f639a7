"""bugs site in a browser: search, facets, shared links, SQL, hostile records. One browser for all of it."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from exhume.pages.site.engine import find_engine
from exhume.pages.site.serving import make_server
from solvers.errors import EnvironmentProblem
from tests.browser import PROGRAM, Browser, browser
from tests.difftest.bugs.planted import planted_bug
from tests.exhume.test_site import hostile_bug, write

pytestmark = pytest.mark.skipif(PROGRAM is None, reason="no browser on this machine")


@pytest.fixture(scope="module")
def page() -> Iterator[Browser]:
    with browser() as opened:
        yield opened


@pytest.fixture(scope="module")
def engine() -> list[Path]:
    """The tarballs of the SQL engine; empty where they cannot be had."""
    try:
        return find_engine(())
    except EnvironmentProblem:
        return []


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory, engine: list[Path]) -> Path:
    """Sixty crashes, four wrong answers, a hostile bug."""
    bugs = [planted_bug(number) for number in range(60)]
    wrong = {"finding_class": "soundness", "direction": "sat for unsat", "operators": ("bvudiv",)}
    bugs += [planted_bug(number, reported=f"20{number}-01-01", **wrong) for number in range(20, 24)]
    return write(tmp_path_factory.mktemp("site"), *bugs, hostile_bug(), engine=engine)


def count(page: Browser) -> str:
    page.wait("/^\\d+ of/.test(document.getElementById('count').textContent)")
    return str(page.run("document.getElementById('count').textContent"))


def shown(page: Browser) -> list[str]:
    titles: Any = page.run("[...document.querySelectorAll('#hits a')].map(link => link.textContent)")
    return list(titles)


def type_in(page: Browser, words: str) -> str:
    page.run(f"q.value = {words!r}; q.dispatchEvent(new Event('input')); undefined")
    page.wait("!document.getElementById('count').textContent.startsWith('Loading')")
    return count(page)


def test_search_facets_and_links_from_disk(page: Browser, site: Path) -> None:
    address = (site / "bugs.html").as_uri()
    page.open(address)
    assert count(page) == "65 of 65 bugs" and len(shown(page)) == 30
    page.run("more.click(), more.click()")
    assert len(shown(page)) == 65 and page.run("more.hidden")
    assert type_in(page, "BVUDIV sat") == "4 of 65 bugs"
    assert type_in(page, "no-such-word") == "0 of 65 bugs"
    assert type_in(page, "") == "65 of 65 bugs"
    # The values of a facet add up, facets narrow down; keys do what the mouse does.
    boxes = "[...document.querySelectorAll('.facet label')]"
    page.run(
        f"{boxes}.find(label => label.textContent.startsWith('soundness')).querySelector('input').focus()"
    )
    for kind in ("keyDown", "keyUp"):
        page.call(
            "Input.dispatchKeyEvent", type=kind, key=" ", code="Space", windowsVirtualKeyCode=32, text=" "
        )
    assert count(page) == "5 of 65 bugs"
    assert page.run(f"{boxes}.find(label => label.textContent.startsWith('crash')).textContent") == "crash60"
    page.run("sort.value = 'newest'; sort.dispatchEvent(new Event('change'))")
    type_in(page, "unsat z3")
    link = page.run("location.href")
    assert link == f"{address}#q=unsat+z3&class=soundness&sort=newest"
    before = shown(page)
    # A shared link shows the same; what it does not know is ignored.
    page.open(f"{link}&class=%3Cscript%3E&other=1")
    assert (count(page), shown(page)) == ("4 of 65 bugs", before)
    assert page.run("clear.click(), document.querySelectorAll('.facet input:checked').length") == 0
    assert page.said == [] and all(asked.startswith("file:") for asked in page.requested)


def test_a_hostile_bug_is_text(page: Browser, site: Path) -> None:
    page.open((site / "bugs.html").as_uri() + "#q=pwned")
    assert count(page) == "1 of 65 bugs" and "<script>" in shown(page)[0]
    page.open((site / "bugs" / "z3-hostile.html").as_uri(), width=380)
    assert page.run("document.querySelectorAll('main script, main img, main svg').length") == 0
    assert "PWNED" in page.run("document.title") and "<script>" in page.run("document.title")
    assert page.run("document.querySelector('pre.smt').textContent.length") > 1_000_000
    assert page.run("document.documentElement.scrollWidth <= innerWidth")


@pytest.mark.parametrize("dark", [False, True])
def test_no_page_is_wider_than_a_phone(page: Browser, site: Path, dark: bool) -> None:
    for name in ("index.html", "bugs.html", "sql.html", f"bugs/{planted_bug(1).id}.html"):
        page.open((site / name).as_uri(), width=380, dark=dark)
        assert page.run("document.documentElement.scrollWidth <= innerWidth"), name
        assert page.said == [], name


def test_sql_on_the_exported_files(page: Browser, site: Path, engine: list[Path]) -> None:
    if not engine:
        pytest.skip("the SQL engine cannot be fetched: no npm, or no network")
    page.open((site / "sql.html").as_uri())
    assert page.run("!disk.hidden && document.getElementById('run').disabled")
    server = make_server(site)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        home = f"http://127.0.0.1:{server.server_port}/"
        page.open(
            f"{home}sql.html#sql=select+class,count(*)+n,min(id)+id+from+bug+group+by+1+order+by+n+desc"
        )
        assert page.run("result.textContent") == ""  # a link runs nothing by itself
        page.run("document.getElementById('run').click()")
        page.wait("document.querySelector('#result table, #result .error')")
        rows = page.run(
            "[...document.querySelectorAll('#result tr')].map(row => row.innerText.split('\\t').slice(0, 2))"
        )
        assert rows == [["class", "n"], ["crash", "60"], ["soundness", "5"]]
        assert page.run("document.querySelector('#result a').getAttribute('href')").startswith("bugs/z3-")
        for query in ("select text from bug where id = ''z3-hostile''", "from run", "from unverified"):
            page.run(
                f"document.getElementById('sql').value = '{query.replace(chr(39) * 2, chr(92) + chr(39))}'"
            )
            page.run("status.textContent = '', document.getElementById('run').click()")
            page.wait("/rows in/.test(document.getElementById('status').textContent)")
            assert page.run("document.querySelectorAll('#result script, #result img').length") == 0
        # Queries come with links, so they reach nothing else.
        page.run("document.getElementById('sql').value = \"from 'https://example.org/a.csv'\"")
        page.run("document.getElementById('run').click()")
        page.wait("document.querySelector('#result .error')")
        assert "disabled" in page.run("result.textContent")
        assert all(asked.startswith(home) for asked in page.requested)
    finally:
        server.shutdown()
        server.server_close()
