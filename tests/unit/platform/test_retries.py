"""When a call is sent again, how long it waits, and what comes out when it is given up."""

from __future__ import annotations

from email.utils import formatdate
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from loopback_platform import NOW, Asked, Client, Loopback, Reply

from evh.errors import Ambiguous, NotFound, PlatformError, Retryable, TransportFault
from evh.platform import Call, Policy, evaluations, hub, traces
from evh.platform.call import Answer, NoAnswer
from evh.platform.policy import retry_after
from evh.protocol.models import EvaluationCreate

AGAIN = hub.find("gsm8k")
ONCE = evaluations.create(EvaluationCreate(name="run"))
READ = traces.trace("t")
FOUND = Reply(body={"data": {"id": "env-1"}})
CREATED = Reply(body={"evaluation_id": "e-1"})


@pytest.mark.parametrize("status", [408, 429, 500, 502, 503, 504])
def test_a_call_that_may_be_sent_again_is(client: Client, server: Loopback, status: int) -> None:
    server.replies = [Reply(status), Reply(status), FOUND]
    assert client.run(AGAIN) == "env-1"
    assert client.slept == [1.0, 2.0]


def test_the_same_bytes_are_sent_each_time(client: Client, server: Loopback) -> None:
    server.replies = [Reply(503), FOUND]
    client.run(AGAIN)
    assert server.asked[0].body == server.asked[1].body == b'{"name":"gsm8k"}'


def test_tries_end(client: Client, server: Loopback) -> None:
    server.replies = [Reply(503, {"error": {"code": "ingest_unavailable", "message": "later"}})]
    with pytest.raises(Retryable, match="ingest_unavailable: later") as caught:
        client.run(AGAIN)
    assert (caught.value.status, caught.value.code, len(server.asked)) == (503, "ingest_unavailable", 5)
    assert client.slept == [1.0, 2.0, 4.0, 8.0]


def test_reads_are_tried_three_times_and_the_policy_may_say_otherwise(client: Client, server: Loopback) -> None:
    server.replies = [Reply(502)]
    with pytest.raises(Retryable):
        client.run(READ)
    assert len(server.asked) == 3
    client.policy = Policy(tries=1)
    with pytest.raises(Retryable):
        client.run(READ)
    assert len(server.asked) == 4


@pytest.mark.parametrize(
    ("asked", "waited"),
    [
        ("7", 7.0),
        ("0", 0.0),
        ("2.5", 2.5),
        ("3600", 60.0),
        ("-4", 0.0),
        (formatdate(NOW + 30, usegmt=True), 30.0),
        (formatdate(NOW + 9_000, usegmt=True), 60.0),
        (formatdate(NOW - 30, usegmt=True), 0.0),
        ("soon", 1.0),
        ("nan", 1.0),
        ("Fri, 99 Nov 99999 00:00:00 GMT", 1.0),
    ],
)
def test_retry_after_is_obeyed_within_reason(client: Client, server: Loopback, asked: str, waited: float) -> None:
    server.replies = [Reply(429, headers={"Retry-After": asked}), FOUND]
    client.run(AGAIN)
    assert client.slept == [waited]


@given(st.text(max_size=40))
def test_no_retry_after_is_too_odd(text: str) -> None:
    found = retry_after({"retry-after": text}, NOW)
    assert found is None or 0 <= found <= 60


def test_pauses_grow_to_thirty_seconds_and_are_scattered() -> None:
    low, high = Policy(uniform=lambda low, high: low), Policy(uniform=lambda low, high: high)
    call: Call[Any] = Call("x", "GET", "/x", lambda answer: None, tries=99)
    answer = Answer(503, {}, b"")
    assert [low.after(call, tried, answer) for tried in (1, 2, 3, 6, 90)] == [0.5, 1.0, 2.0, 15.0, 15.0]
    assert [high.after(call, tried, answer) for tried in (1, 2, 3, 6, 90)] == [1.5, 3.0, 6.0, 45.0, 45.0]


@pytest.mark.parametrize(
    "reply",
    [
        Reply(500),
        Reply(502),
        Reply(503),
        Reply(503, b"<html>no such backend</html>"),
        Reply(504),
        Reply(200, CREATED.body, cut=3),
        Reply(cut=-1),
    ],
    ids=str,
)
def test_a_call_that_must_not_be_sent_twice_is_ambiguous(client: Client, server: Loopback, reply: Reply) -> None:
    server.replies = [reply]
    with pytest.raises(Ambiguous, match="ask before") as caught:
        client.run(ONCE)
    assert len(server.asked) == 1 and client.slept == []
    assert caught.value.status == (reply.status if reply.cut is None else None)


@pytest.mark.parametrize("reply", [Reply(429), Reply(503, {"error": {"code": "rate_limited", "message": ""}})])
def test_such_a_call_is_sent_again_when_it_certainly_was_not_done(
    client: Client, server: Loopback, reply: Reply
) -> None:
    server.replies = [reply, CREATED]
    assert client.run(ONCE).evaluation_id == "e-1"
    assert len(server.asked) == 2


@pytest.mark.parametrize("call", [AGAIN, ONCE, READ])
def test_no_connection_is_no_doubt(client: Client, call: Call[Any]) -> None:
    client.server = Loopback(url="http://127.0.0.1:9")
    with pytest.raises(TransportFault, match="no connection"):
        client.run(call)
    assert len(client.slept) == call.tries - 1


@pytest.mark.parametrize("cut", [-1, 4])
def test_a_broken_answer_is_asked_for_again(client: Client, server: Loopback, cut: int) -> None:
    server.replies = [Reply(body=FOUND.body, cut=cut), FOUND]
    assert client.run(AGAIN) == "env-1"


def test_deleting_is_not_repeated_in_doubt(client: Client, server: Loopback) -> None:
    server.replies = [Reply(502)]
    for call in (traces.delete("t"), traces.delete_run("r")):
        with pytest.raises(Ambiguous):
            client.run(call)
    assert len(server.asked) == 2
    server.replies = [Reply(503, {"error": {"code": "storage_unavailable", "message": ""}}), Reply(202)]
    assert client.run(traces.delete("t")) is None
    server.replies = [Reply(404, {"error": {"code": "trace_not_found", "message": "none"}})]
    with pytest.raises(NotFound):
        client.run(traces.delete("t"))


def test_every_outcome_is_a_wait_an_end_or_an_error_of_ours() -> None:
    policy = Policy()
    for call in (AGAIN, ONCE, READ):
        for outcome in (*(Answer(status, {}, b"{}") for status in range(100, 600)), NoAnswer("x", True)):
            try:
                waited = policy.after(call, 1, outcome)
            except PlatformError as error:
                assert not isinstance(outcome, Answer) or error.status == outcome.status
            else:
                assert waited is None or waited >= 0
                assert (waited is None) == (isinstance(outcome, Answer) and 200 <= outcome.status < 300)


def test_redirects_are_followed_for_reads_only(client: Client, server: Loopback) -> None:
    def answering(asked: Asked) -> Reply:
        if asked.path.endswith("/there"):
            return Reply(body=b"document")
        return Reply(307, headers={"Location": "/there"})

    server.answering = answering
    assert client.run(traces.trace_raw("t")) == b"document"
    with pytest.raises(PlatformError, match="moved") as caught:
        client.run(ONCE)
    assert caught.value.status == 307
