"""The page of the server in a real browser: by keyboard, on a narrow screen, with nothing from elsewhere."""

import json

import pytest
import question_run
from browser import chromium
from served import serving

from ernie_pp.serving import Predictor


@pytest.fixture(scope="module")
def bundles(run_bundle, learned_questions):
    return {"cls": run_bundle, "docqa": learned_questions / "bundle"}


@pytest.fixture(scope="module")
def server(bundles, tmp_path_factory):
    words = [f"{name}={folder}" for name, folder in bundles.items()]
    with serving(tmp_path_factory.mktemp("server"), "--bundle", *words) as server:
        yield server


@pytest.fixture
def page(server, tmp_path):
    with chromium(tmp_path) as page:
        page.open(f"http://127.0.0.1:{server.port}/")
        page.wait("document.getElementById('bundle').options.length === 2")
        yield page
        assert page.problems == []


def _set(page, name, value):
    page.run(
        f"(() => {{ const one = document.getElementById('{name}'); one.focus(); one.value = {json.dumps(value)};"
        "one.dispatchEvent(new Event('input')); one.dispatchEvent(new Event('change')); })()"
    )


def test_labels_are_shown_as_bars_by_keyboard_alone(page, bundles):
    texts = ["房间很干净，下次还来。", "太差了，不会再来"]
    _set(page, "text", "\n".join(texts))
    page.press("Enter", modifiers=2)
    page.wait("document.querySelectorAll('.card').length === 2")
    shown = page.run("Array.from(document.querySelectorAll('.card strong'), (one) => one.textContent)")
    assert shown == [one.labels[0] for one in Predictor(bundles["cls"], threads=1)(texts)]
    assert page.run("Array.from(document.querySelectorAll('.card meter'), (one) => one.value > 0).length") == 4


def test_enter_while_an_input_method_composes_sends_nothing(page):
    _set(page, "text", "房间")
    page.run(
        "document.getElementById('text').dispatchEvent(new KeyboardEvent('keydown',"
        "{key: 'Enter', ctrlKey: true, isComposing: true, bubbles: true}))"
    )
    assert page.run("document.getElementById('run').disabled === false && document.getElementById('output').hidden")


def test_answers_are_marked_at_their_place_beside_characters_of_two_units(page, bundles):
    document = question_run.documents(8, seed=1)[0]
    text, questions = "😀😀" + str(document["context"]), [one["question"] for one in document["qas"]]
    _set(page, "bundle", "docqa")
    _set(page, "text", text)
    _set(page, "questions", "\n".join(questions))
    page.run("document.getElementById('run').click()")
    page.wait(f"document.querySelectorAll('.card').length === {len(questions)}")
    direct = [one.to_fields() for one in Predictor(bundles["docqa"], threads=1)(questions, [text] * len(questions))]
    spans = sorted({(one["start"], one["end"]) for one in direct if one["kind"] == "span"})
    # The mark's own text without its number.
    marks = page.run("Array.from(document.querySelectorAll('.document mark'), (one) => one.firstChild.textContent)")
    assert spans and marks == [text[start:end] for start, end in spans]
    assert page.run("document.querySelector('.document').textContent.startsWith('😀😀')")


def test_a_fault_is_told_and_the_form_can_be_used_again(page):
    _set(page, "text", "   ")
    page.run("document.getElementById('run').click()")
    page.wait("document.getElementById('message').textContent.length > 0 && !document.getElementById('run').disabled")
    page.problems.clear()  # the browser itself notes the 422
    _set(page, "text", "很好")
    page.run("document.getElementById('run').click()")
    page.wait("document.querySelectorAll('.card').length === 1 && !document.getElementById('message').textContent")


def test_nothing_is_wider_than_a_narrow_screen_and_all_comes_from_the_server(page, server):
    page.open(f"http://127.0.0.1:{server.port}/", width=400)
    _set(page, "text", "房间很干净" * 100)
    page.run("document.getElementById('run').click()")
    page.wait("document.querySelectorAll('.card').length === 1")
    assert page.run("document.documentElement.scrollWidth") <= 400
    names = page.run("performance.getEntriesByType('resource').map((one) => one.name)")
    assert names and all(name.startswith(f"http://127.0.0.1:{server.port}/") for name in names)


def test_a_file_that_is_opened_becomes_the_text(page):
    page.run("readFile(new File(['\\ufeff甲方：张三'], '合同.txt'))")
    assert page.run("document.getElementById('text').value") == "甲方：张三"
    page.run("readFile(new File(['x'], 'a.exe'))")
    assert ".docx" in page.run("document.getElementById('message').textContent")
    page.problems.clear()
