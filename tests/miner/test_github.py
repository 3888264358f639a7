"""The client: limits and faults are waited out, and what cannot be is reported."""

from __future__ import annotations

import email.utils
import logging
import os
import stat
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from miner.errors import BadInput, Denied, RateLimited, Unreachable
from tests.miner.github_server import FakeGitHub, FakeTracker, Fault, serving
from tests.miner.mining_help import GITHUB, client_of

REPOSITORY = "/repos/ada/solver"


@pytest.fixture
def hub() -> Iterator[FakeGitHub]:
    with serving(FakeTracker(issues=5, comments=5)) as running:
        yield running


def test_an_answer_has_its_data_and_etag_and_may_be_requested_again(hub: FakeGitHub) -> None:
    client, clock, _ = client_of(hub.url)
    first = client.get(REPOSITORY)
    assert first.data["full_name"] == "ada/solver"
    again = client.get(REPOSITORY, first.etag)
    assert (again.status, again.data) == (304, None)
    assert client.get("/repos/no/such").status == 404
    assert (client.sent, client.not_modified, clock.slept) == (3, 1, [])


@pytest.mark.parametrize("kind", [500, 502, 503, 202, "cut", "junk", "close"])
def test_a_fault_is_waited_out(hub: FakeGitHub, kind: int | str) -> None:
    hub.faults = [Fault(kind), Fault(kind), Fault(kind)]
    client, clock, said = client_of(hub.url)
    assert client.get(REPOSITORY + "/issues?per_page=2").status == 200
    assert clock.slept == [1.0, 2.0, 4.0]
    assert len(said) == 3
    assert said[0].until == said[0].seconds + 1_700_000_000.0


def test_silence_is_waited_out(hub: FakeGitHub) -> None:
    hub.faults = [Fault("silent")]
    client, _, said = client_of(hub.url, timeout=1)
    assert client.get(REPOSITORY).status == 200
    why = f"the server does not answer in time (attempt 1 of {client.tries})"
    assert [waiting.why for waiting in said] == [why]


def test_a_server_that_never_answers_is_given_up(hub: FakeGitHub) -> None:
    hub.faults = [Fault(502)] * 20
    client, clock, _ = client_of(hub.url, tries=4)
    with pytest.raises(Unreachable, match=r"502.*4 attempts.*repeat the command to resume"):
        client.get(REPOSITORY)
    assert clock.slept == [1.0, 2.0, 4.0]
    with serving() as gone:
        address = gone.url
    client, _, _ = client_of(address, tries=2)
    with pytest.raises(Unreachable, match=r"no connection \(2 attempts\)"):
        client.get("/")
    with pytest.raises(Unreachable, match=r"no connection \(1 attempt\)"):  # another tracker of the host
        client.get(REPOSITORY)


def test_a_host_that_cannot_be_found_is_not_retried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", "*")
    client, clock, _ = client_of("http://localhost.invalid")
    with pytest.raises(Unreachable, match=r"localhost\.invalid: the host's name cannot be resolved; check"):
        client.get("/")
    assert (client.sent, clock.slept) == (1, [])


@pytest.mark.parametrize(
    ("headers", "body", "least", "most"),
    [
        ({"Retry-After": "17"}, "{}", 17, 17),
        ({"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "RESET"}, "{}", 119, 123),
        ({}, '{"message": "You have exceeded a secondary rate limit."}', 60, 60),
        ({}, '{"message": "API rate limit exceeded for 1.2.3.4"}', 60, 60),
    ],
)
@pytest.mark.parametrize("status", [403, 429])
def test_a_limit_is_waited_out(
    hub: FakeGitHub, status: int, headers: dict[str, str], body: str, least: float, most: float
) -> None:
    headers = {k: v.replace("RESET", str(int(time.time()) + 120)) for k, v in headers.items()}
    hub.faults = [Fault(status, headers, body)]
    client, clock, said = client_of(hub.url)
    clock.time = time.time()
    assert client.get(REPOSITORY).status == 200
    assert len(clock.slept) == 1
    assert least <= clock.slept[0] <= most
    assert "rate limit" in said[0].why


def test_secondary_limits_are_waited_for_longer_each_time(hub: FakeGitHub) -> None:
    hub.faults = [Fault(403, {}, '{"message": "secondary rate limit"}')] * 3
    client, clock, _ = client_of(hub.url)
    client.get(REPOSITORY)
    assert clock.slept == [60.0, 120.0, 240.0]


def test_a_date_in_retry_after_is_understood(hub: FakeGitHub) -> None:
    client, clock, _ = client_of(hub.url)
    hub.faults = [Fault(429, {"Retry-After": email.utils.formatdate(clock.time + 90, usegmt=True)})]
    client.get(REPOSITORY)
    assert clock.slept == [90.0]


def test_the_last_request_of_a_limit_makes_the_next_wait(hub: FakeGitHub) -> None:
    hub.limit = 2
    client, clock, said = client_of(hub.url)
    client.get(REPOSITORY)
    client.get(REPOSITORY)
    assert clock.slept == []
    hub.limit = 9
    client.get(REPOSITORY)
    assert len(clock.slept) == 1
    assert 25 <= clock.slept[0] <= 32
    assert 403 not in hub.statuses
    assert "used up" in said[0].why


def test_a_limit_of_days_is_reported_instead(hub: FakeGitHub) -> None:
    hub.faults = [Fault(429, {"Retry-After": "864000"})]
    client, clock, _ = client_of(hub.url)
    with pytest.raises(RateLimited, match=r"240\.0 hours"):
        client.get(REPOSITORY)
    assert clock.slept == []


def test_a_limit_without_end_is_reported(hub: FakeGitHub) -> None:
    hub.faults = [Fault(429, {"Retry-After": "0"})] * 50
    client, _, _ = client_of(hub.url)
    with pytest.raises(RateLimited, match="does not end"):
        client.get(REPOSITORY)


def test_a_bad_token_and_a_refusal_are_reported_at_once(hub: FakeGitHub) -> None:
    client, clock, _ = client_of(hub.url, "secret-token")
    hub.faults = [Fault(401)]
    with pytest.raises(Denied, match="gh auth login") as caught:
        client.get(REPOSITORY)
    assert "secret" not in str(caught.value)
    hub.faults = [Fault(403, {}, '{"message": "Resource protected by organization SAML"}')]
    with pytest.raises(Denied, match="SAML"):
        client.get(REPOSITORY)
    assert clock.slept == []


def test_a_redirection_keeps_what_was_asked(hub: FakeGitHub) -> None:
    hub.renamed["old/name"] = "ada/solver"
    client, _, _ = client_of(hub.url)
    answer = client.get("/repos/old/name/issues?state=all")
    assert (answer.status, answer.location) == (301, "/repositories/77/issues?state=all")
    hub.faults = [Fault(301, {"Location": "http://other.example/x"})]
    assert client.get(REPOSITORY).location == ""


def test_the_token_is_sent_and_never_shown(
    hub: FakeGitHub, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    caplog.set_level(logging.DEBUG)
    client, _, _ = client_of(hub.url, "secret-token")
    client.get(REPOSITORY)
    assert hub.headers[0]["authorization"].endswith("secret-token")
    assert "secret" not in repr(client)
    assert "secret" not in caplog.text
    assert "secret" not in "".join(capfd.readouterr())


def test_no_token_goes_over_an_open_line() -> None:
    assert GITHUB.connect("http://github.example.org/api/v3", "secret").token is None
    assert GITHUB.connect("https://github.example.org/api/v3", "secret").token == "secret"


@pytest.mark.parametrize("url", ["", "github.com", "ftp://a.b/", "https://", "https://me:secret@a.b/"])
def test_what_is_no_api_is_refused(url: str) -> None:
    with pytest.raises(BadInput) as caught:
        GITHUB.connect(url)
    assert "secret" not in str(caught.value)


def test_a_malformed_token_is_refused_without_being_shown() -> None:
    with pytest.raises(BadInput) as caught:
        GITHUB.connect(token="sec\nret")
    assert str(caught.value) == "the token contains invalid characters: check GITHUB_TOKEN"


def test_the_token_comes_from_the_environment_or_from_gh(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gh = tmp_path / "gh"
    gh.write_text('#!/bin/sh\n[ "$1 $2" = "auth token" ] && echo "of-$4"\n')
    gh.chmod(gh.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("GITHUB_TOKEN", " given ")
    public = GITHUB.api.url
    assert GITHUB.find_token(public) == "given"
    monkeypatch.delenv("GITHUB_TOKEN")
    assert GITHUB.find_token(public) == "of-github.com"
    assert GITHUB.find_token("https://git.example.org/api/v3") == "of-git.example.org"
    assert GITHUB.find_token("http://127.0.0.1:1") is None
    gh.write_text("#!/bin/sh\nexit 1\n")
    assert GITHUB.find_token(public) is None
    monkeypatch.setenv("PATH", str(tmp_path / "none"))
    assert GITHUB.find_token(public) is None
