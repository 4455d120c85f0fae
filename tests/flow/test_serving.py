"""A real server over real bundles: answers, bad requests, long documents beside short texts, lost processes, a stop."""

import io
import json
import os
import random
import re
import signal
import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import entity_run
import pytest
import question_run
import sample_run
from served import JSON, serving

from ernie_pp.serving import Predictor

TEXTS = ["房间很干净，下次还来。", "太差了，不会再来", "屏幕坏了", "好" * 200]


@pytest.fixture(scope="module")
def bundles(run_bundle, learned_questions, tmp_path_factory):
    """A bundle of each task."""
    folder = tmp_path_factory.mktemp("entities")
    fields = {"fields": [{"name": "人物", "labels": ["人"], "many": True}]}
    sample_run.train_here(entity_run.write_entities(folder, changes={"train": {"epochs": 4}, "review": fields}))
    return {"cls": run_bundle, "ner": folder / "run" / "bundle", "docqa": learned_questions / "bundle"}


@pytest.fixture(scope="module")
def server(bundles, tmp_path_factory):
    words = [f"{name}={folder}" for name, folder in bundles.items()]
    limits = ["--max-texts", "8", "--max-body", "200000", "--max-characters", "40000"]
    with serving(tmp_path_factory.mktemp("server"), "--bundle", *words, *limits) as server:
        yield server


def _fields(predictions):
    return json.loads(json.dumps([one.to_fields() for one in predictions]))


def test_labels_are_those_of_a_direct_call(server, bundles):
    status, body = server.predict(texts=TEXTS)
    predictor = Predictor(bundles["cls"], threads=1)
    direct, num_cut = predictor.predict(TEXTS)
    assert status == 200 and (body["bundle"], body["task"]) == ("cls", "cls")
    assert [one["prediction"] for one in body["predictions"]] == [one["prediction"] for one in _fields(direct)]
    for one, other in zip(body["predictions"], _fields(direct), strict=True):
        assert one["probabilities"] == pytest.approx(other["probabilities"], abs=1e-5)
    assert body["cut_tokens"] == num_cut.tolist() and body["cut_tokens"][-1] > 100


def test_entities_are_those_of_a_direct_call_at_their_places(server, bundles):
    rng = random.Random(5)
    texts = [str(entity_run.document(rng, num_sentences=6, nested=False)["text"]) for _ in range(6)]
    status, body = server.predict(bundle="ner", texts=texts)
    assert status == 200
    direct = _fields(Predictor(bundles["ner"], threads=1)(texts))
    for text, one, other in zip(texts, body["predictions"], direct, strict=True):
        keys = ("start", "end", "label")
        found = [[entity[key] for key in keys] for entity in one["entities"]]
        assert found == [[entity[key] for key in keys] for entity in other["entities"]]
        assert all(text[entity["start"] : entity["end"]] == entity["text"] for entity in one["entities"])
        values = {value["text"] for value in one["fields"]["人物"]["values"] + one["fields"]["人物"]["others"]}
        assert values == {entity["text"] for entity in one["entities"] if entity["label"] == "人"}
    assert any(one["fields"]["人物"]["values"] for one in body["predictions"])


def test_answers_are_those_of_a_direct_call_and_come_with_progress(server, bundles):
    document = "".join(str(one["context"]) for one in question_run.documents(40, seed=3))
    questions = [one["question"] for one in question_run.documents(1, seed=3)[0]["qas"]]
    status, body = server.predict(bundle="docqa", document=document, questions=questions)
    direct = _fields(Predictor(bundles["docqa"], threads=1)(questions, [document] * len(questions)))
    assert status == 200 and len(document) > 2000
    for one, other in zip(body["predictions"], direct, strict=True):
        assert (one["answer"], one["kind"]) == (other["answer"], other["kind"])
    fields = json.dumps({"bundle": "docqa", "document": document, "questions": questions * 2})
    status, headers, lines = server.send("POST", "/v1/predict", fields, {**JSON, "Accept": "application/x-ndjson"})
    *progress, last = [json.loads(line) for line in lines.decode().splitlines()]
    assert status == 200 and headers["content-type"].startswith("application/x-ndjson")
    assert all(set(one) == {"done", "of"} and one["done"] <= one["of"] for one in progress)
    assert [one["answer"] for one in last["result"]["predictions"]] == [one["answer"] for one in direct] * 2


def test_a_table_holds_no_formula_and_opens_in_a_spreadsheet(server):
    body = json.dumps({"texts": ["=1+1很好", '坏了,"真的"\n']})
    status, headers, content = server.send("POST", "/v1/predict", body, {**JSON, "Accept": "text/csv"})
    assert status == 200 and "attachment" in headers["content-disposition"]
    assert content.startswith(b"\xef\xbb\xbftext,prediction,probabilities\r\n'=1+1")


BAD_JSON = [
    b"", b"{", b"[1", b'{"texts": ["a"]} x', b'{"texts": [NaN]}', b'{"texts": ["a"], "x": Infinity}', b"\xff\xfe",
    b'{"texts": ["\\ud800"]}', b'{"texts": ["\xed\xa0\x80"]}', b'{"texts": ["a"], "texts": ["b"]}', b"[" * 100_000,
    b'{"texts": ["\\u0000"]}', b"{'texts': ['a']}", b'{"texts": ["a\nb"]}',
]  # fmt: skip
BAD_FIELDS = [
    ([], 422, "wrong_fields"),
    ("text", 422, "wrong_fields"),
    ({}, 422, "wrong_fields"),
    ({"texts": "一个"}, 422, "wrong_fields"),
    ({"texts": [1]}, 422, "wrong_fields"),
    ({"texts": [None]}, 422, "wrong_fields"),
    ({"texts": {"0": "a"}}, 422, "wrong_fields"),
    ({"texts": []}, 422, "no_texts"),
    ({"texts": [""]}, 422, "empty_text"),
    ({"texts": ["好", "\u200b \u3000"]}, 422, "empty_text"),
    ({"texts": ["好"], "text": "好"}, 422, "wrong_fields"),
    ({"texts": ["好"], "pairs": ["好"]}, 422, "wrong_fields"),
    ({"texts": ["好"], "document": "好"}, 422, "wrong_fields"),
    ({"texts": ["好"], "bundle": "none"}, 404, "no_such_bundle"),
    ({"texts": ["好"], "bundle": 3}, 422, "wrong_fields"),
    ({"texts": ["好"], "bundle": "docqa"}, 422, "wrong_fields"),
    ({"bundle": "docqa", "document": "好", "questions": []}, 422, "no_texts"),
    ({"bundle": "docqa", "document": " ", "questions": ["谁？"]}, 422, "empty_text"),
    ({"bundle": "docqa", "document": "好", "questions": ["谁" * 900]}, 422, "text_refused"),
    ({"bundle": "docqa", "document": ["好"], "questions": ["谁"]}, 422, "wrong_fields"),
    ({"texts": ["好"] * 9}, 413, "too_many_texts"),
    ({"texts": ["好" * 40_001]}, 413, "too_many_characters"),
    ({"texts": ["好" * 100_000]}, 413, "body_too_large"),
]


@pytest.mark.parametrize("body", BAD_JSON, ids=lambda body: repr(body[:24]))
def test_what_is_no_json_is_refused(server, body):
    status, _, answer = server.send("POST", "/v1/predict", body, JSON)
    error = json.loads(answer)["error"]
    assert (status, error["code"] in ("not_json", "not_utf8")) == (400, True)


@pytest.mark.parametrize("body, status, code", BAD_FIELDS, ids=lambda value: str(value)[:40])
def test_wrong_fields_are_named(server, body, status, code):
    found, _, answer = server.send("POST", "/v1/predict", json.dumps(body, ensure_ascii=False).encode(), JSON)
    error = json.loads(answer)["error"]
    assert (found, error["code"]) == (status, code) and error["message"] and "Traceback" not in answer.decode()


@pytest.mark.parametrize(
    "method, path, headers, status",
    [
        ("GET", "/v1/predict", {}, 405),
        ("POST", "/nothing", JSON, 404),
        ("GET", "/page/../predictor.py", {}, 404),
        ("GET", "/page/%2e%2e/predictor.py", {}, 404),
        ("POST", "/v1/predict", {}, 415),
        ("POST", "/v1/predict", {"Content-Type": "text/html"}, 415),
        ("POST", "/v1/predict", {**JSON, "Accept": "image/png"}, 406),
        ("POST", "/v1/predict", {**JSON, "Host": "evil.example"}, 421),
        ("POST", "/v1/text?name=a.exe", {}, 415),
        ("POST", "/v1/text", {}, 415),
    ],
)
def test_requests_that_are_none_have_their_status_and_our_body(server, method, path, headers, status):
    body = json.dumps({"texts": ["好"]}) if method == "POST" else None
    found, answered, answer = server.send(method, path, body, headers)
    assert found == status and set(json.loads(answer)["error"]) == {"code", "message", "where"}
    assert answered["x-content-type-options"] == "nosniff"


def test_a_body_without_its_length_is_bounded_too(server):
    with socket.create_connection(("127.0.0.1", server.port), timeout=30) as connection:
        head = "POST /v1/predict HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        connection.sendall(f"{head}Transfer-Encoding: chunked\r\n\r\n".encode())
        part = b"8000\r\n" + b"a" * 0x8000 + b"\r\n"
        answer = b""
        try:
            for _ in range(20):
                connection.sendall(part)
            answer = connection.recv(4096)
        except (BrokenPipeError, ConnectionResetError):
            answer = answer or b"HTTP/1.1 413"
    assert b" 413 " in answer.splitlines()[0] + b" "


def test_texts_of_files_come_with_their_pages(server):
    import docx

    document, content = docx.Document(), io.BytesIO()
    document.add_paragraph("甲方：张三")
    table = document.add_table(rows=1, cols=2)
    table.rows[0].cells[0].text, table.rows[0].cells[1].text = "金额", "一万元"
    document.add_paragraph("乙方：李四")
    document.save(content)
    status, _, answer = server.send("POST", "/v1/text?name=a.docx", content.getvalue())
    assert (status, json.loads(answer)["text"]) == (200, "甲方：张三\n金额\t一万元\n乙方：李四")
    status, _, answer = server.send("POST", "/v1/text?name=a.txt", "\ufeff一\f二".encode())
    assert json.loads(answer) == {"name": "a.txt", "text": "一\f二", "pages": 1}
    for name, body in {
        "a.docx": b"PK\x03\x04broken",
        "a.pdf": b"%PDF-1.4 broken",
        "a.md": b"\xff\xfe",
        "a.txt": b"  ",
    }.items():
        status, _, answer = server.send("POST", f"/v1/text?name={name}", body)
        assert (status, json.loads(answer)["error"]["code"]) == (422, "unreadable_file"), name


def test_a_long_document_does_not_hold_up_a_short_text(server, bundles):
    document = "".join(str(one["context"]) for one in question_run.documents(500, seed=4))[:39_000]
    with ThreadPoolExecutor(1) as pool:
        begun = time.monotonic()
        long = pool.submit(server.predict, bundle="docqa", document=document, questions=["谁？", "在哪里？"])
        time.sleep(0.3)
        asked = time.monotonic()
        question = question_run.documents(1, seed=3)[0]
        status, _ = server.predict(bundle="docqa", document=question["context"], questions=["谁？"])
        seconds = time.monotonic() - asked
        assert not long.done() and status == 200
        assert long.result()[0] == 200
    assert seconds < 0.5 * (time.monotonic() - begun)


def test_a_worker_that_is_killed_is_told_and_comes_back(bundles, tmp_path):
    with serving(tmp_path, "--bundle", f"a={bundles['cls']}", f"b={bundles['docqa']}") as server:
        document = "".join(str(one["context"]) for one in question_run.documents(500, seed=4))
        (pid,) = re.findall(r"b: loading .* in process (\d+)", server.log.read_text(encoding="utf-8"))
        with ThreadPoolExecutor(1) as pool:
            held = pool.submit(server.predict, bundle="b", document=document, questions=["谁？"] * 4)
            time.sleep(0.5)
            os.kill(int(pid), signal.SIGKILL)
            status, body = held.result()
            assert (status, body["error"]["code"]) == (503, "worker_lost")
        assert server.predict(texts=["很好"])[0] == 200
        server.wait_until_ready()
        assert server.predict(bundle="b", document="甲方是张三。", questions=["甲方是谁？"])[0] == 200
        assert server.metric("ernie_pp_worker_restarts") == 1


def test_a_stop_answers_what_was_taken_and_nothing_else(bundles, tmp_path):
    with serving(tmp_path, "--bundle", f"a={bundles['docqa']}") as server:
        document = "".join(str(one["context"]) for one in question_run.documents(60, seed=4))
        with ThreadPoolExecutor(8) as pool:
            held = [pool.submit(server.predict, document=document, questions=["谁？"] * 8) for _ in range(8)]
            while server.metric("ernie_pp_queue_requests") < 8:
                assert not any(one.done() for one in held)
            server.process.send_signal(signal.SIGTERM)
            assert [one.result()[0] for one in held] == [200] * 8
        assert server.process.wait(30) in (-signal.SIGTERM, 128 + signal.SIGTERM)
        with pytest.raises(OSError):
            server.health()


def test_a_full_queue_a_deadline_and_a_token(bundles, tmp_path):
    (tmp_path / "token").write_text("geheim\n", encoding="utf-8")
    words = ("--token-file", str(tmp_path / "token"), "--max-queue", "1", "--timeout-s", "1.5")
    document = "".join(str(one["context"]) for one in question_run.documents(2000, seed=4))
    known = {"Authorization": "Bearer geheim"}
    with serving(tmp_path, "--bundle", f"a={bundles['docqa']}", *words) as server:
        for headers in ({}, {"Authorization": "Bearer falsch"}, {"Authorization": "Basic geheim"}):
            assert server.predict(headers, document="好", questions=["谁"])[0] == 401
        results = []
        long = threading.Thread(
            target=lambda: results.append(server.predict(known, document=document, questions=["谁？"] * 20))
        )
        long.start()
        time.sleep(0.5)
        status, body = server.predict(known, document="甲方是张三。", questions=["甲方是谁？"])
        assert (status, body["error"]["code"]) == (429, "queue_full")
        long.join()
        assert (results[0][0], results[0][1]["error"]["code"]) == (504, "timeout")
        assert server.predict(known, document="甲方是张三。", questions=["甲方是谁？"])[0] == 200


def test_metrics_count_and_no_text_is_in_the_log(server):
    server.predict(texts=["绝密的一句话"])
    assert server.metric("ernie_pp_texts_total") >= 1 and server.metric("ernie_pp_ready") == 3
    assert server.metric("ernie_pp_worker_memory_bytes") > 3e8
    text = server.send("GET", "/metrics")[2].decode()
    assert 'path="/v1/predict",status="200"' in text and "/nothing" not in text
    assert "绝密" not in server.log.read_text(encoding="utf-8")
    about = json.loads(server.send("GET", "/v1/bundles")[2])
    assert [one["name"] for one in about["bundles"]] == ["cls", "ner", "docqa"]
    assert "/v1/predict" in json.loads(server.send("GET", "/openapi.json")[2])["paths"]
