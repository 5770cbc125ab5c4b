"""The lab's requests to name servers and brokers: which brokers are registered, and whether a broker answers."""

from __future__ import annotations

from ..traces.cluster.questions import Request
from ..traces.cluster.remoting import SUCCESS, ask

_MASTER = "0"


def brokers_known(namesrv: str, *, timeout: float = 3.0) -> dict[str, str]:
    """The brokers that are registered with a name server: name, and address of the master.

    Raises:
        OSError: it does not answer, or answers something else.
    """
    answer = ask(namesrv, Request.GET_BROKER_CLUSTER_INFO, timeout=timeout)
    if answer.code != SUCCESS:
        raise OSError(f"{namesrv} answers code {answer.code}: {answer.remark}")
    table = answer.json().get("brokerAddrTable") or {}
    return {
        name: data["brokerAddrs"][_MASTER] for name, data in sorted(table.items()) if _MASTER in data["brokerAddrs"]
    }


def broker_answers(address: str, *, timeout: float = 3.0) -> bool:
    """Whether a broker answers a request for its settings; it cannot answer one for its counters in its first
    second.

    Raises:
        OSError: no server listens, or the time is over.
    """
    return ask(address, Request.GET_BROKER_CONFIG, timeout=timeout).code == SUCCESS
