"""The hosts of issue trackers. Each is a module of this folder with an attribute ``HOST``."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlsplit

from base.modules import declared_in
from miner.errors import BadInput
from miner.hosts.host import Host

DEFAULT = "github"


def known_hosts() -> dict[str, Host]:
    """All hosts by name."""
    return {host.name: host for host in declared_in(__name__, "HOST")}


def host_named(name: str) -> Host:
    """The host with this name. Raises BadInput."""
    hosts = known_hosts()
    if name not in hosts:
        raise BadInput(f"{name} is not a host; choose one of {', '.join(hosts)}")
    return hosts[name]


@dataclass(frozen=True, slots=True)
class Place:
    """The location of a tracker: its host, the address of the API, and its name there."""

    host: Host
    api_url: str
    name: str


def locate(text: str, host_name: str | None = None, api_url: str | None = None) -> Place:
    """Locate a tracker by its name or the address of its page.

    The host is derived from the address if the server is a public one or is named after the host
    (``gitlab.example.org``); otherwise pass ``host_name``. Raises BadInput.
    """
    server = (urlsplit(text.strip()).hostname or "") if "://" in text else ""
    hosts = known_hosts()
    if not host_name and server:
        fitting = [name for name, host in hosts.items() if server == host.site or name in server.split(".")]
        if not fitting:
            raise BadInput(f"{text}: what kind of host is {server}? Add --host: {', '.join(hosts)}")
        host_name = fitting[0]
    host = host_named(host_name or DEFAULT)
    return Place(host, host.api_of(server or host.site) if api_url is None else api_url, host.parse(text))
