"""Which files fixes changed: of the commits and pull requests that are said to fix issues of a tracker.

Each takes one request, once: the names are kept as a raw record, without the changes themselves. What is not
in the tracker's own repository is not requested.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from miner.archive import Archive, decoded
from miner.errors import Denied, Unreachable
from miner.hosts.host import Host, text_in
from miner.hosts.http import Answer, Client

MOST_PER_RUN = 500
"""Requests for files in one run; the rest follow in the next runs."""

_TARGET = re.compile(r"(?P<repository>[^@#!]+)[@#!](?P<name>[0-9a-f]+)")
# The status of a hash that no commit has.
_NO_COMMIT = 422
_MOST_FAILURES = 3


def fetch_files(archive: Archive, client: Client, current: str, most: int = MOST_PER_RUN) -> int:
    """Request the files of fixes that are not stored yet, newest issues first; returns how many have some.

    ``current``: the name of the tracker on its host. Raises Unreachable after all requests if one failed,
    and after several failures in a row.
    """
    pending = [one for one in _requests(archive).values() if archive.prefix + one not in archive.pages]
    found = failures = 0
    failure: Unreachable | None = None
    for request in list(dict.fromkeys(pending))[:most]:
        try:
            answer = client.get(archive.host.path(current) + request)
            failures = 0
        except Unreachable as error:
            failure, failures = error, failures + 1
            if failures == _MOST_FAILURES:
                break
            continue
        except Denied as denied:
            if denied.status != _NO_COMMIT:
                raise
            archive.put(archive.prefix + request, Answer(_NO_COMMIT, json.dumps({"refused": str(denied)})))
            continue
        names = _names(archive.host, answer.data)
        body = json.dumps({"files": names}) if answer.status == 200 else answer.body
        archive.put(archive.prefix + request, replace(answer, body=body, next="", data=None))
        found += bool(names)
    if failure is not None:
        raise failure
    return found


def store_files(archive: Archive) -> None:
    """Fill the table ``fix_file`` from the stored records of a tracker."""
    corpus = archive.corpus
    requests = {
        target: archive.pages[archive.prefix + request].record_id
        for target, request in _requests(archive).items()
        if archive.prefix + request in archive.pages
    }
    if not requests:
        return
    bodies = dict(
        corpus.rows(
            """select raw_record.id, body from raw_record join text on text.id = text_id
            where status = 200 and raw_record.id in (select unnest(?::integer[]))""",
            [sorted(set(requests.values()))],
        )
    )
    rows = {
        (target, name)
        for target, record in requests.items()
        if isinstance(said := decoded(bodies.get(record, "")), dict)
        for name in said.get("files", ())
    }
    stored = corpus.rows(
        "select target, file from fix_file where target in (select unnest(?::varchar[]))", [sorted(requests)]
    )
    with corpus.transaction():
        corpus.insert("fix_file", ("target", "file"), sorted(rows - set(stored)))


def _requests(archive: Archive) -> dict[str, str]:
    """For each fix in the tracker's own repository, the request for its files, below the tracker's path."""
    found: dict[str, str] = {}
    for kind, target in archive.corpus.rows(
        """select kind, target from issue_link join issue on issue.id = issue_id
        where fixes and tracker_id = ? and kind <> 'issue' order by issue.number desc, target""",
        [archive.tracker_id],
    ):
        parts = _TARGET.fullmatch(target)
        form = archive.host.commit_files if kind == "commit" else archive.host.request_files
        if parts and form and parts["repository"].lower() == archive.name.lower():
            found[target] = form.format(parts["name"])
    return found


def _names(host: Host, data: Any) -> list[str]:
    """The names of the files in an answer, sorted."""
    listed = data.get("files") if isinstance(data, Mapping) else data
    files = listed if isinstance(listed, list) else []
    return sorted({text_in(file, host.file_key) for file in files if isinstance(file, Mapping)} - {""})
