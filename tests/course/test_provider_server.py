"""The server itself: starting, stopping, several at a time, ports."""

import json
import re
import signal
import socket
import subprocess
import sys
import threading

import httpx
import openai
import pytest

from course.provider import Model, PortInUseError, Provider, serve

HI = [{"role": "user", "content": "hi"}]


def saying(text):
    return [Model("m", 8_192, lambda body: {"role": "assistant", "content": text})]


def ask(client):
    return client.chat.completions.create(model="m", messages=HI).choices[0].message.content


def threads():
    return {thread for thread in threading.enumerate() if thread.name.startswith("provider")}


def test_two_providers_at_once_know_nothing_of_each_other():
    with Provider(saying("one"), key="sk-1") as one, Provider(saying("two"), key="sk-2") as two:
        assert one.base_url != two.base_url
        assert (ask(one.client()), ask(two.client()), ask(one.client())) == ("one", "two", "one")
        with pytest.raises(openai.AuthenticationError):
            ask(one.client(api_key=two.key))
    assert (len(one.log), len(two.log)) == (3, 1)


def test_only_loopback_is_bound():
    with Provider(saying("x")) as provider:
        assert re.fullmatch(r"http://127\.0\.0\.1:\d+/v1", provider.base_url)


def test_nothing_is_left_behind():
    with Provider(saying("x")) as provider:
        ask(provider.client())
        address = ("127.0.0.1", int(provider.base_url.split(":")[2].split("/")[0]))
        assert threads()
    assert not threads()
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(address)
    provider.stop()  # a second time does nothing


def test_a_provider_starts_again_after_a_stop():
    provider = Provider(saying("x"))
    for _ in range(2):
        with provider:
            assert ask(provider.client()) == "x"


def test_before_the_start_there_is_no_address():
    with pytest.raises(RuntimeError, match="has not been started"):
        _ = Provider(saying("x")).base_url


def test_stop_in_mid_run_is_a_connection_error_for_the_client():
    asked, released = threading.Event(), threading.Event()

    def waiting(body):
        asked.set()
        released.wait()
        return {"role": "assistant", "content": "too late"}

    caught = []

    def call(client):
        try:
            ask(client)
        except openai.APIError as error:
            caught.append(error)

    with Provider([Model("m", 8_192, waiting)]) as provider:
        client = provider.client()
        caller = threading.Thread(target=call, args=(client,))
        caller.start()
        asked.wait()
        running = threads()
        provider.stop()
        caller.join()
        with pytest.raises(openai.APIConnectionError):
            ask(client)
    assert [type(error) for error in caught] == [openai.APIConnectionError]
    released.set()
    for thread in running:
        thread.join()


def test_stop_in_mid_stream_is_an_error_and_no_complete_answer():
    with Provider(saying("word " * 200_000)) as provider:
        client = provider.client()
        with client.chat.completions.create(model="m", messages=HI, stream=True) as stream:
            assert next(stream).choices[0].delta.role == "assistant"
            provider.stop()
            with pytest.raises(openai.APIConnectionError):
                list(stream)


def test_no_answer_waits_for_nagles_algorithm():
    """Headers and body leave as two packets; with the algorithm on, the second waits 40 ms for a receipt."""
    with Provider(saying("x")) as provider:
        client = provider.client()
        ask(client)
        (connection,) = provider._server.server_state.connections
        server_side = connection.transport.get_extra_info("socket")
        assert server_side.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)


def test_requests_run_side_by_side():
    barrier = threading.Barrier(4, timeout=10)

    def meeting(body):
        barrier.wait()
        return {"role": "assistant", "content": "met"}

    with Provider([Model("m", 8_192, meeting)]) as provider:
        client = provider.client()
        answers = []
        callers = [threading.Thread(target=lambda: answers.append(ask(client))) for _ in range(4)]
        for caller in callers:
            caller.start()
        for caller in callers:
            caller.join()
    assert answers == ["met"] * 4
    assert sorted(e.number for e in provider.log) == [1, 2, 3, 4]


def test_a_port_in_use_is_a_clear_sentence():
    with Provider(saying("x")) as provider:
        port = int(provider.base_url.split(":")[2].split("/")[0])
        with pytest.raises(PortInUseError, match=rf"Port {port} on 127\.0\.0\.1 is already in use.*Choose another one"):
            serve(port, models=saying("y"))
        assert ask(provider.client()) == "x", "the first one goes on"


def test_an_over_long_body_is_answered_while_it_is_sent():
    with Provider(saying("x"), max_body_bytes=1_000) as provider:
        answer = httpx.post(
            provider.base_url + "/chat/completions",
            content=json.dumps({"model": "m", "messages": [{"role": "user", "content": "x" * 5_000_000}]}),
            headers={"Authorization": f"Bearer {provider.key}"},
            trust_env=False,
        )
    assert (answer.status_code, answer.json()["error"]["code"]) == (413, "request_too_large")
    assert provider.log[0].status == 413


@pytest.mark.skipif(sys.platform == "win32", reason="Ctrl-C is sent another way there")
def test_serve_prints_where_it_is_once_and_ends_cleanly_on_ctrl_c():
    script = (
        "from course.provider import Model, serve\n"
        "serve(0, key='sk-demo', models=[Model('m', 8192, lambda body: {'role': 'assistant', 'content': 'hello'})])\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    lines = []
    while not lines or "Ctrl-C" not in lines[-1]:
        lines.append(process.stdout.readline())
        assert lines[-1], process.stderr.read()
    url = lines[0].strip().removeprefix("OPENAI_BASE_URL=")
    assert "m (8,192 tokens)" in "".join(lines)
    with Provider(saying("unused")) as provider:
        assert ask(provider.client(base_url=url, api_key="sk-demo")) == "hello"
    process.send_signal(signal.SIGINT)
    out, err = process.communicate()
    assert (process.returncode, out, err) == (0, "stopped\n", "")
