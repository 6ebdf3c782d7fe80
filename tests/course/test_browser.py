"""The talk and the live demo in a real browser, as an instructor uses them: no request leaves the machine.

Needs Chromium and Playwright; without them these tests are skipped, except in CI, where they have to run.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from course.replay import write_talk
from course.stage.choice import Choice, run_choice

ROOT = Path(__file__).resolve().parents[2]
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]
SCREEN = {"width": 1280, "height": 720}
PATIENCE = 60_000  # milliseconds that a slow machine may take; nothing is measured
TOKEN = "rehearsal"

pytestmark = pytest.mark.slow


def missing():
    """Why no browser can be driven here, "" when one can."""
    if CHROMIUM is None:
        return "there is no Chromium: on Debian `apt-get install chromium`"
    try:
        import playwright.sync_api  # noqa: F401
    except ImportError:
        return 'there is no Playwright: `pip install -e ".[test]"`'
    return ""


@pytest.fixture(scope="module")
def browser():
    """A headless Chromium."""
    if why := missing():
        if os.environ.get("CI") == "true":
            pytest.fail(f"{why}; in CI these tests have to run")
        pytest.skip(why)
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        chromium = driver.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield chromium
        chromium.close()


@pytest.fixture
def page(browser):
    """A page of a projector's size, with the requests that it made in `page.asked`, and no error in its console."""
    context = browser.new_context(viewport=SCREEN)
    opened = context.new_page()
    opened.set_default_timeout(PATIENCE)
    opened.asked, errors = [], []
    opened.on("request", lambda request: opened.asked.append(request.url))
    opened.on("pageerror", lambda error: errors.append(str(error)))
    yield opened
    context.close()
    assert errors == []


@pytest.fixture(scope="module")
def talks(tmp_path_factory):
    """A folder with the replay files of a good run and of one that was refused."""
    folder = tmp_path_factory.mktemp("talks")
    for name, off in (("whole", frozenset()), ("refused", frozenset({"align"}))):
        write_talk(run_choice(Choice(without=off), lambda timeline, event: None)[0], folder / f"{name}.html")
    return folder


def small_type(page):
    """The texts on the screen whose type is below 17 pixels."""
    return page.evaluate(
        """() => [...document.querySelectorAll('.cc-picture *, nav *, header *, .cc-stage *')]
            .filter((e) => [...e.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim()))
            .filter((e) => !['STYLE', 'OPTION'].includes(e.tagName) && e.getClientRects().length)
            .filter((e) => parseFloat(getComputedStyle(e).fontSize) < 17)
            .map((e) => e.textContent)"""
    )


def bottom(page, selector):
    """The lower edge of the lowest of these elements, in pixels from the top of the screen."""
    return page.evaluate(
        "(s) => Math.max(...[...document.querySelectorAll(s)].map((e) => e.getBoundingClientRect().bottom))", selector
    )


# The replay file


def test_the_talk_is_given_with_the_keyboard_from_disk(page, talks):
    page.goto((talks / "whole.html").as_uri())
    counter, say = page.locator("#counter"), page.locator("#stage .cc-say")
    total = counter.inner_text().split()[-1]
    assert counter.inner_text() == f"event 1 of {total}"
    assert "A run begins" in say.inner_text()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    assert counter.inner_text() == f"event 3 of {total}"
    third = page.locator("#stage").inner_html()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowLeft")
    assert page.locator("#stage").inner_html() == third, "back is the same picture"
    page.keyboard.press("PageDown")
    assert "Compression" in say.inner_text()
    assert page.locator("#stage .cc-cut").count() == 2
    page.keyboard.press("End")
    assert counter.inner_text() == f"event {total} of {total}"
    assert "report 40 of 40 right" in page.locator("#stage .cc-count").inner_text()
    page.keyboard.press("Home")
    assert counter.inner_text().startswith("event 1 of")
    assert page.asked == [(talks / "whole.html").as_uri()], "only the file itself was asked for"


def test_space_plays_and_pauses(page, talks):
    page.goto((talks / "whole.html").as_uri())
    page.locator("#speed").select_option("80")
    page.locator("#stage").focus()
    page.keyboard.press("Space")
    assert page.locator("#play").get_attribute("aria-pressed") == "true"
    while page.locator("#slider").input_value() in "12345":
        page.wait_for_timeout(50)
    page.keyboard.press("Space")
    assert page.locator("#play").get_attribute("aria-pressed") == "false"


def test_every_control_of_the_talk_is_reached_with_tab_and_shows_it(page, talks):
    page.goto((talks / "whole.html").as_uri())
    reached = []
    for _ in range(9):
        page.keyboard.press("Tab")
        reached.append(page.evaluate("document.activeElement.id"))
        assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
    assert reached == ["first", "back", "play", "next", "last", "earlier", "later", "slider", "speed"]
    page.locator("#next").focus()
    page.keyboard.press("Enter")
    assert page.locator("#counter").inner_text().startswith("event 2 of")
    page.locator("#slider").fill("40")
    assert page.locator("#counter").inner_text().startswith("event 40 of")


def test_the_talk_fits_on_a_projector_at_every_moment(page, talks):
    for name in ("whole", "refused"):
        page.goto((talks / f"{name}.html").as_uri())
        for place in page.evaluate("[...run.moments, ...run.moments.map((m) => m + 2)]"):
            page.evaluate(f"step({place})")
            assert page.evaluate("document.documentElement.scrollHeight") <= SCREEN["height"]
            assert bottom(page, "#stage .cc-picture") <= bottom(page, "#stage"), f"{name}, event {place + 1}"
            assert small_type(page) == []


def test_the_refusal_stands_in_the_talk(page, talks):
    page.goto((talks / "refused.html").as_uri())
    page.keyboard.press("End")
    assert "400 orphan_result" in page.locator("#stage .cc-error").inner_text()
    assert page.locator("#stage .cc-fault").count() == 1


def test_the_talk_is_printed_one_moment_a_page(page, talks):
    page.goto((talks / "refused.html").as_uri())
    pages = page.evaluate("run.pages.length")
    assert 3 <= pages <= 16
    assert page.pdf(prefer_css_page_size=True).count(b"/Type /Page\n") == pages


# The live demo in JupyterLab


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    """The address of a JupyterLab on a free port with a copy of the notebook; its settings are nobody's."""
    folder = tmp_path_factory.mktemp("lab")
    (folder / "work").mkdir()
    shutil.copy(ROOT / "notebooks" / "live_demo.ipynb", folder / "work")
    pages = folder / "config" / "labconfig"
    pages.mkdir(parents=True)
    news = {"disabledExtensions": {"@jupyterlab/apputils-extension:announcements": True}}
    (pages / "page_config.json").write_text(json.dumps(news))
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root", f"--port={port}"]
    command += ["--ServerApp.ip=127.0.0.1", f"--IdentityProvider.token={TOKEN}"]
    command += [f"--ServerApp.root_dir={folder / 'work'}"]
    names = {"JUPYTER_CONFIG_DIR": "config", "JUPYTER_DATA_DIR": "data", "JUPYTER_RUNTIME_DIR": "runtime"}
    names |= {"JUPYTERLAB_WORKSPACES_DIR": "workspaces", "JUPYTERLAB_SETTINGS_DIR": "settings", "IPYTHONDIR": "ipython"}
    environment = os.environ | {key: str(folder / name) for key, name in names.items()} | {"PYTHONPATH": str(ROOT)}
    with (folder / "log").open("wb") as log:
        server = subprocess.Popen(command, env=environment, stdout=log, stderr=log)
        try:
            _wait_for(f"http://127.0.0.1:{port}/api", server)
            yield f"http://127.0.0.1:{port}"
        finally:
            server.terminate()
            server.wait(timeout=30)


def _wait_for(address, server):
    """Wait until a server answers."""
    import time

    for _ in range(240):
        assert server.poll() is None, "JupyterLab did not start"
        with contextlib.suppress(urllib.error.URLError, ConnectionError), urllib.request.urlopen(address):
            return
        time.sleep(0.25)
    pytest.fail("JupyterLab does not answer")


@pytest.fixture
def stage(browser, page, lab):
    """The stage of the live demo, run in JupyterLab, with its first run on the screen."""
    page.goto(f"{lab}/lab/tree/live_demo.ipynb?token={TOKEN}&reset")
    page.wait_for_selector("text=Python 3 (ipykernel) | Idle")
    page.get_by_role("menuitem", name="Run", exact=True).first.click()
    page.get_by_text("Run All Cells", exact=True).click()
    page.wait_for_selector(".cc-stage .cc-picture")
    page.keyboard.press("Control+b")  # the side bar goes
    found = page.locator(".cc-stage")
    found.get_by_role("button", name="Full window").click()
    return found


def press(stage, name):
    stage.get_by_role("button", name=name, exact=True).click()


def wait_for(page, text, selector=".cc-stage"):
    """Wait until a text stands on the stage."""
    page.wait_for_function(
        "([s, t]) => [...document.querySelectorAll(s)].some((e) => e.textContent.includes(t))", arg=[selector, text]
    )


def test_the_live_demo_is_played_stepped_and_taken_back(page, stage, lab):
    assert "A run begins" in stage.locator(".cc-say").first.inner_text()
    press(stage, "Step ▶")
    wait_for(page, "event 2 of ")
    press(stage, "▶ Play")
    wait_for(page, "event 6 of ")
    press(stage, "■ Pause")
    press(stage, "▼ Moment")
    wait_for(page, "Compression", ".cc-say")
    picture = stage.locator(".cc-picture").first.inner_html()
    handle = stage.locator(".noUi-handle")
    handle.focus()
    handle.press("ArrowLeft")
    wait_for(page, "session-2 goes on from session-1", ".cc-say")
    handle.press("ArrowRight")
    wait_for(page, "Compression", ".cc-say")
    assert stage.locator(".cc-picture").first.inner_html() == picture
    press(stage, "▶|")
    wait_for(page, "report 40 of 40 right", ".cc-count")
    assert all(address.startswith((lab, "data:", "blob:")) for address in page.asked), "nothing leaves the machine"


def test_a_guard_is_turned_off_and_the_providers_error_stands_there(page, stage):
    stage.get_by_text("align", exact=True).click()
    wait_for(page, "Something else is chosen now: press Run again.")
    press(stage, "Run again")
    wait_for(page, "without align", ".cc-title")
    assert "all guards on" in stage.locator(".cc-title").first.inner_text(), "with and without, side by side"
    for _ in range(30):
        if stage.locator(".cc-error").count():
            break
        before = stage.locator(".cc-picture").last.inner_html()
        press(stage, "▼ Moment")
        page.wait_for_function(
            "(old) => [...document.querySelectorAll('.cc-picture')].at(-1).innerHTML !== old", arg=before
        )
    assert "400 orphan_result" in stage.locator(".cc-error").inner_text()
    assert "refused 1" in stage.locator(".cc-count").last.inner_text()


def test_the_live_demo_fits_on_a_projector(page, stage):
    for _ in range(6):
        press(stage, "▼ Moment")
    wait_for(page, "Compression", ".cc-say")
    assert small_type(page) == []
    assert bottom(page, ".cc-stage .cc-picture") <= bottom(page, ".cc-stage") <= SCREEN["height"]
    stage.get_by_text("task-state", exact=True).click()
    press(stage, "Run again")
    wait_for(page, "without task-state", ".cc-title")
    for _ in range(6):
        press(stage, "▼ Moment")
        assert bottom(page, ".cc-stage .cc-picture") <= bottom(page, ".cc-stage") <= SCREEN["height"]
    assert small_type(page) == []


def test_every_control_of_the_live_demo_is_reached_with_tab(page, stage):
    names = stage.locator("select, input:not([type=hidden]), button, .noUi-handle")
    wanted = names.evaluate_all("(all) => all.filter((e) => e.getClientRects().length).length")
    stage.locator("select").first.focus()
    reached = set()
    for _ in range(wanted + 2):
        reached.add(page.evaluate("[...document.querySelectorAll('.cc-stage *')].indexOf(document.activeElement)"))
        page.keyboard.press("Tab")
    assert len(reached - {-1}) >= wanted
