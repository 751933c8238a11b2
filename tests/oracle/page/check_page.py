#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Uses the page of `flamelet ui` the way a person does, in a headless Chromium, on a record whose samples are known.

usage: check_page.py FLAMELET MAKE_RECORD WORK_DIR
"""
import contextlib
import pathlib
import shutil
import subprocess
import sys
import time
import urllib.parse

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "formats"))

# pylint: disable=wrong-import-position
import browser
import cdp

# As in make_record.c
START, NR_SECONDS, BURST = 1795528800, 480, 300
PEAK = START + BURST
DAMAGED = "20261124T150000Z.db"
HOSTILE = "</script><script>injected=1</script>"

HASH = "location.hash"
CANVAS = "document.querySelector('#timeline')"
TEXT = "(c) => [...c.children].map((e) => e.textContent).filter(Boolean).join(' ') || c.textContent"
ROWS = f"[...document.querySelectorAll('.table tbody tr:not(.space)')].map((row) => [...row.cells].map({TEXT}))"
NAMES = f"{ROWS}.map((row) => row.at(-1).split(' ')[0])"
SERIES = "[...document.querySelectorAll('.series .row')].map((e) => e.innerText.split('\\n'))"
MENU = "[...document.querySelectorAll('.menu:not([hidden]) button span')].map((e) => e.textContent)"
OVERLAY = ("[...document.querySelectorAll('.overlay:not([hidden])')].filter((e) => e.offsetParent)"
           ".map((e) => e.innerText).join('\\n')")
# 100 of the 165 samples of that second
IS_PEAK = f"{ROWS}.some((row) => row.at(-1).startsWith('find_needle') && row[0].startsWith('60.6 %'))"
NODES = "[...document.querySelectorAll('.calls .node .name')].map((e) => e.textContent)"
TYPES = "document.querySelector('[aria-label=\"What the flame graph shows\"]')"
TOOK = "document.querySelector('.flame').dataset.tookMs"
GUTTER_PX, RIGHT_PX = 44, 10  # ui/src/widget/time_view.ts
FORMATS = {"Folded text": "folded", "Table of functions (CSV)": "csv", "SVG picture": "svg",
           "Stand-alone HTML": "html", "pprof (.pb.gz)": "pb.gz", "speedscope": "speedscope.json",
           "Firefox Profiler": "firefox.json", "JSON with all samples": "json"}


def fragment(**parameters):
    return "#" + urllib.parse.urlencode(parameters)


def parameters_of(page):
    return dict(urllib.parse.parse_qsl(page.evaluate(HASH).lstrip("#")))


def selected(page):
    """The selected range, in seconds after the start."""
    parameters = parameters_of(page)
    return int(parameters["from"]) - START, int(parameters["to"]) - START


def until_selected(page, first, end):
    page.until(f"['from', 'to'].map((name) => new URLSearchParams({HASH}.slice(1)).get(name)).join()",
               f"{START + first},{START + end}")


def fresh(page, url, around=None, **parameters):
    """Opens the page; `around`: seconds after the start that the timeline shows."""
    parameters = {"host": "node-1", **parameters}
    if around:
        parameters["window"] = f"{START + around[0]}-{START + around[1]}"
    page.open(url + fragment(**parameters))
    page.until("!!document.querySelector('.record')")
    page.until(f"{SERIES}.length > 0 || !!document.querySelector('.ramp')")


def place(page, second, height, around):
    """A place on the timeline."""
    left, top, width = page.evaluate(f"(() => {{ const r = {CANVAS}.getBoundingClientRect();"
                                     "return [r.left, r.top, r.width]; })()")
    share = (second - around[0]) / (around[1] - around[0])
    return left + GUTTER_PX + share * (width - GUTTER_PX - RIGHT_PX), top + height


AROUND = (290, 310)
CHART, MARKS = 80, 8  # heights on the canvas


def drag(page, first, end, ctrl=False):
    page.drag(place(page, first, CHART, AROUND), place(page, end, CHART, AROUND), ctrl=ctrl)


def check_drag(page, url):
    """A second is selected by the mouse; steps, Escape and "back" lead away from it and back."""
    fresh(page, url, AROUND, tab="both")
    drag(page, BURST + 0.2, BURST + 0.8)
    until_selected(page, BURST, BURST + 1)
    page.until(IS_PEAK)
    assert page.evaluate("document.querySelector('.when').innerText").endswith("1 s \N{MIDDLE DOT} UTC")
    page.key("]")
    until_selected(page, BURST + 1, BURST + 2)
    page.until(f"{NAMES}.length > 0 && !{NAMES}.includes('find_needle')")
    page.evaluate("history.back()")
    until_selected(page, BURST, BURST + 1)
    page.until(IS_PEAK)
    print(f"a second: {page.evaluate(TOOK)} ms from the answer's request to its flame graph")
    page.evaluate(f"{CANVAS}.focus()")
    page.key("ArrowLeft")
    until_selected(page, BURST - 1, BURST)
    page.key("ArrowRight", shift=True)
    until_selected(page, BURST - 1, BURST + 1)
    page.key("Escape")
    until_selected(page, 180, NR_SECONDS)  # what the page began with
    address = page.evaluate("location.href")
    page.open(address)
    page.until(f"{NAMES}.includes('find_needle')")
    assert selected(page) == (180, NR_SECONDS)
    fresh(page, url, AROUND)
    page.click(*place(page, BURST + 0.5, CHART, AROUND))
    until_selected(page, BURST, BURST + 1)
    page.until("!!document.querySelector('.viewer.ready')")
    page.evaluate("document.querySelector('#graph').focus()")
    page.key("Escape")
    until_selected(page, 180, NR_SECONDS)


def check_events(page, url):
    """The planted second is an event, to which keys, its mark and the list lead."""
    fresh(page, url, tab="both")
    page.key("!", shift=True)
    page.until(f"{HASH}.includes('from=')")
    first, end = selected(page)
    assert (first, end) == (BURST, BURST + 1), (first, end)
    page.until(IS_PEAK)
    fresh(page, url, host="node-2")
    page.until("!!document.querySelector('.viewer.ready')")
    page.key("e")  # without events and peaks
    page.until("document.querySelector('.notice').innerText", "There is no next peak")
    fresh(page, url, view="events")
    texts = page.until("(() => { const r = [...document.querySelectorAll('.events tbody tr')].map((e) => e.innerText);"
                       "return r.length && r; })()", None)
    assert any("shop/web-1" in text for text in texts), texts
    page.click_on(".events tbody tr")
    until_selected(page, first, end)
    page.key("1")
    page.until(f"!{HASH}.includes('view=')")
    fresh(page, url, AROUND)
    page.click(*place(page, first + 0.1, MARKS, AROUND))
    until_selected(page, first, end)


def check_events_of_selector(page, url):
    """Keys go to events of the chosen samples only; the list has the others below, in grey."""
    texts = "(kind) => [...document.querySelectorAll(`.events tbody tr${kind}`)].map((e) => e.innerText)"
    fresh(page, url, q='{pod="web-1"}')
    page.key("!", shift=True)
    until_selected(page, BURST, BURST + 1)
    page.key("4")
    others = page.until(f"(({texts})('.other'))", None)
    chosen = page.evaluate(f"(({texts})(':not(.other)'))")
    assert len(chosen) == 1 and "shop/web-1" in chosen[0], chosen
    tab = page.evaluate("document.querySelector('[data-name=view-events]').innerText")
    assert tab == f"Events (1 of {len(others) + 1})", tab
    fresh(page, url, q='{pod="db-1"}', view="events")
    page.key("!", shift=True)
    page.until("document.querySelector('.notice').innerText", "There is no worst peak of the chosen samples")
    assert "from=" not in page.evaluate(HASH)
    page.click_on(".events tr.other")  # a click still selects it
    until_selected(page, BURST, BURST + 1)
    page.click_on("[aria-label=Events] .sum button")
    page.until(f"!{HASH}.includes('q=')")
    page.until(f"(({texts})('.other')).length", 0)


def check_nothing(page, url):
    """A selection without samples has no numbers of another one, and says what to do."""
    numbers = "document.querySelector('.viewer .totals').innerText.replace(/\\s+/g, ' ')"
    around = {"from": PEAK, "to": PEAK + 1}
    fresh(page, url, AROUND, lines="vital", **around)
    page.until(f"{numbers}.includes('165 samples')")
    page.click_on("[data-name=q]")
    page.type('{pod="none"}')
    page.key("Enter")
    page.until(numbers, "0 s CPU time 0.00 CPUs busy on average 0 samples")
    page.until(f"{SERIES}[0]", ["selected", "0.00"])
    assert 'no samples of {pod="none"} in this range' in page.evaluate(OVERLAY), page.evaluate(OVERLAY)
    page.key("2")
    page.until(f"{OVERLAY}.includes('All samples')")
    assert page.evaluate("document.querySelectorAll('.apps').length") == 0
    page.key("1")
    page.events.clear()  # the server's answers were 404
    page.evaluate("[...document.querySelectorAll('.overlay:not([hidden]) button')]"
                  ".find((e) => e.innerText === 'All samples').click()")
    page.until(f"{numbers}.includes('165 samples')")


def check_colors(page, url):
    """A pod has the same colour in each range and with each selector."""
    colors = ("Object.fromEntries([...document.querySelectorAll('.series .row')].map((e) =>"
              "[e.innerText.split('\\n')[0], e.querySelector('i').style.background]))")
    fresh(page, url, lines="comm")
    first = page.evaluate(colors)
    assert len(set(first.values())) == 3, first
    for change in ({"window": f"{PEAK - 10}-{PEAK - 5}"}, {"q": '{pod="db-1"}'}, {"q": '{comm!="web"}'}):
        page.evaluate(f"location.hash = {fragment(lines='comm', host='node-1', **change)!r}")
        page.until("document.querySelector('.timeline .waits') === null")
        page.until(f"Object.keys({colors}).length", {"window": 3, "q": 1}[list(change)[0]]
                   if "!=" not in change.get("q", "") else 2)
        shown = page.evaluate(colors)
        assert shown == {name: first[name] for name in shown}, (change, first, shown)


def check_drag_of_text(page, url):
    """A drag selects a range also while all of the page's text is selected."""
    fresh(page, url, AROUND)
    for _ in range(2):
        page.evaluate("getSelection().selectAllChildren(document.body)")
        drag(page, BURST + 0.2, BURST + 0.8)
        until_selected(page, BURST, BURST + 1)
        page.key("]")
        until_selected(page, BURST + 1, BURST + 2)


def check_whole_record(page, url):
    """Labels and events choose samples in the whole record; a zoomed function stays zoomed from second to second."""
    fresh(page, url, AROUND, labels="1", **{"from": PEAK, "to": PEAK + 1})
    page.until("!!document.querySelector('.facets section')")
    page.click_on("[data-facet='group pod']")
    page.until(f"{HASH}.includes('group=pod')")
    page.evaluate("[...document.querySelectorAll('.facets li')].find((e) => e.innerText.startsWith('db-1'))"
                  ".querySelector('button:last-child').click()")
    page.until(f"new URLSearchParams({HASH}.slice(1)).get('q')", '{pod="db-1"}')
    fresh(page, url, view="events")
    page.evaluate("document.querySelector('.events td button').click()")
    page.until(f"new URLSearchParams({HASH}.slice(1)).get('q')?.includes('web-1')")
    fresh(page, url, AROUND, **{"from": PEAK, "to": PEAK + 1})
    page.until("!!document.querySelector('.viewer.ready')")
    page.evaluate("document.querySelector('#graph').focus()")
    for key in ("ArrowDown", "ArrowDown", "ArrowDown", "ArrowDown", "ArrowDown", "ArrowRight"):
        page.key(key)
    assert page.evaluate("document.querySelector('.status').textContent").startswith("parse "), "not at parse"
    page.key("Enter")
    page.until(f"{HASH}.endsWith('zoom=13')")  # find_needle is 12
    page.key("]")
    page.until(f"{HASH}.endsWith('zoom=12')")


def check_maps(page, url):
    for lines in ("cpu", "slot"):
        fresh(page, url, AROUND, lines=lines, tab="both")
        x, y = place(page, BURST + 0.5, CHART + 40, AROUND)  # CPU 3, and a late slot
        page.mouse("mouseMoved", x, y)
        facts = page.until(f"{SERIES}.length && {SERIES}", None)
        assert facts[-1][-1] in ("100 %", "1.00"), facts
        page.click(x, y)
        until_selected(page, BURST, BURST + 1)
        page.until(IS_PEAK)


def check_compare(page, url):
    peak = {"from": PEAK, "to": PEAK + 1}
    fresh(page, url, AROUND, tab="both", **peak)
    page.key("r")
    page.until("document.querySelector('.chip.base').innerText.includes('compared with')")
    changes = "(row) => row.length === 5 && row.at(-1).startsWith('find_needle')"
    row = page.until(f"{ROWS}.find({changes}) || false", None)
    assert row[:2] == ["0.00 %", "60.6 %"] and row[2].endswith("new"), row
    page.key("]")
    page.until(f"{HASH}.includes('base_from={PEAK}&base_to={PEAK + 1}')")
    page.key("[")
    page.until(f"{HASH}.includes('base_from={PEAK - 1}&base_to={PEAK}')")
    drag(page, 292.1, 295.9, ctrl=True)
    page.until(f"{HASH}.includes('base_from={START + 292}&base_to={START + 296}')")
    assert selected(page) == (BURST, BURST + 1)
    page.click_on("[data-name=no-base]")
    page.until(f"!{HASH}.includes('base')")
    page.click_on("[data-name=compare]")
    entries = page.until(f"{MENU}.length && {MENU}", None)
    page.click_on(f".menu button:nth-of-type({entries.index('host node-2 at the same time') + 1})")
    page.until(f"{HASH}.includes('base_host=node-2')")
    page.until(f"!!{ROWS}.find((row) => row.at(-1).startsWith('query'))")


def check_types(page, url):
    """The flame graph, its labels, files and comparisons are of the chosen type, and the rest of the page stays."""
    numbers = "(document.querySelector('.viewer .totals')?.innerText ?? '').replace(/\\s+/g, ' ')"
    series = f"{SERIES}.map((row) => row.join()).join()"
    fresh(page, url, AROUND, tab="both", labels="1", lines="comm", **{"from": PEAK, "to": PEAK + 1})
    page.until(IS_PEAK)
    lines = page.evaluate(series)
    options = page.evaluate(f"[...{TYPES}.options].map((e) => e.text)")
    assert options == ["CPU", "waits"], options
    page.evaluate(f"(() => {{ {TYPES}.value = 'off_cpu'; {TYPES}.dispatchEvent(new Event('change')); }})()")
    page.until(f"{HASH}.includes('type=off_cpu')")
    row = page.until(f"{ROWS}.find((row) => row.at(-1).startsWith('hold_the_lock')) || false", None)
    assert row[1] == "75.0 % 1.50 s", row
    page.until(f"{numbers}.includes('2.00 s of all threads')")
    assert page.evaluate(series) == lines
    reasons = page.evaluate("[...document.querySelectorAll('.facets section')].map((e) => e.innerText)"
                            ".find((text) => text.startsWith('reason'))")
    assert all(word in reasons for word in ("futex", "poll", "disk")), reasons
    page.click_on("[data-facet='group reason']")
    page.until(f"{HASH}.includes('group=reason')")
    page.evaluate("[...document.querySelectorAll('.facets li')].find((e) => e.innerText.startsWith('futex'))"
                  ".querySelector('button:last-child').click()")
    page.until(f"new URLSearchParams({HASH}.slice(1)).get('q')", '{reason="futex"}')
    page.until(f"{numbers}.includes('1.50 s of all threads')")
    page.open(page.evaluate("location.href"))
    page.until(f"{numbers}.includes('1.50 s of all threads')")
    page.key("r")
    page.until(f"{numbers}.includes('1.50 s \u2192 1.50 s of all threads')")
    page.key("2")  # applications are those of CPU time, with their waits
    page.until("document.querySelector('[aria-label=Applications]').innerText.includes('threads were blocked')")
    fresh(page, url, host="node-2", type="off_cpu")
    page.until(f"{OVERLAY}.includes('no samples')")
    assert page.evaluate(numbers) == "0 s of all threads", page.evaluate(numbers)
    page.events.clear()


def check_views(page, url):
    """The call graph, applications and findings."""
    peak = {"from": PEAK, "to": PEAK + 1}
    fresh(page, url, AROUND, tab="calls", **peak)
    page.until(f"['main', 'serve', 'find_needle', 'parse'].every((name) => {NODES}.includes(name))")
    page.key("2")
    apps = page.until("(() => { const r = [...document.querySelectorAll('.apps tbody tr')].map((e) => e.innerText);"
                      "return r.length && r; })()", None)
    assert "1.40" in apps[0] and "web" in apps[0], apps
    page.key("3")
    page.until("/rules|blocked time/.test(document.querySelector('[aria-label=Findings]').innerText)")
    page.key("1")
    page.until(f"{NODES}.length > 0")


def check_selectors(page, url):
    """A pod is chosen in the whole record, and the timeline follows it."""
    fresh(page, url, AROUND, lines="pod", tab="both", **{"from": PEAK, "to": PEAK + 1})
    page.until(f"{SERIES}.some(([name]) => name === 'db-1')")
    page.evaluate("[...document.querySelectorAll('.series button')].find((e) => e.innerText.includes('db-1')).click()")
    page.until(f"new URLSearchParams({HASH}.slice(1)).get('q')", '{pod="db-1"}')
    page.until(f"{NAMES}.length > 0 && !{NAMES}.includes('find_needle')")
    names = page.evaluate(f"{ROWS}.map((row) => row.at(-1))")
    assert any(name.startswith(HOSTILE) for name in names), names
    assert page.evaluate("typeof window.injected") == "undefined"
    page.click_on("[data-name=lines-vital]")
    series = page.until(f"{SERIES}.some(([name]) => name === 'selected') && {SERIES}", None)
    assert series[0] == ["selected", "0.20"], series
    page.click_on("[data-name=q]")
    page.evaluate("document.querySelector('[data-name=q]').select()")
    page.type("db-1")
    page.key("Enter")
    page.until("document.querySelector('[data-name=q]').validationMessage.startsWith('Write labels as')")
    assert page.evaluate("document.activeElement.dataset.name") == "q"  # a correction is no shortcut
    page.key("Escape")
    assert page.evaluate("document.querySelector('[data-name=q]').value") == '{pod="db-1"}'
    page.click_on("[data-name=q]")
    page.evaluate("document.querySelector('[data-name=q]').select()")
    page.type('{pod="none"}')
    page.key("Enter")
    page.until(f"{OVERLAY}.includes('All samples')")
    page.events.clear()  # the server's answer was 404
    page.evaluate("[...document.querySelectorAll('.overlay button')]"
                  ".find((e) => e.innerText === 'All samples').click()")
    page.until(f"{NAMES}.includes('find_needle')")
    page.open(url + fragment(q='{pod=~"["}'))
    refusals = page.until("(() => { const all = [...document.querySelectorAll('.overlay:not([hidden]) p')]"
                          ".map((e) => e.innerText); return all.length === 2 && all; })()", None)
    assert "regular expression" in refusals[0], refusals  # of the timeline and of the flame graph
    page.events.clear()


def check_looks(page, url):
    """Nothing moves when another chart, view or range is chosen, and dark mode follows the system."""
    fresh(page, url, AROUND)
    tops = ("['#timeline', '.tabs', '.views-of-record']"
            ".map((s) => document.querySelector(s).getBoundingClientRect().top)")
    page.until("!!document.querySelector('.viewer.ready')")
    before = page.evaluate(tops)
    for name in ("lines-cpu", "lines-slot", "lines-comm", "lines-vital", "view-apps", "view-flame", "quick-60"):
        page.click_on(f"[data-name={name}]")
        assert page.evaluate(tops) == before, name
    page.open(url, dark=True)
    page.until("document.documentElement.dataset.theme", "dark")
    page.call("Emulation.setTimezoneOverride", timezoneId="Asia/Kolkata")
    fresh(page, url, AROUND)
    page.until("document.querySelector('.when').innerText.replace(/\\s+/g, ' ')",
               "2026-11-24 19:33:00 \N{EN DASH} 19:38:00 5 min \N{MIDDLE DOT} UTC+5:30")
    page.call("Emulation.setTimezoneOverride", timezoneId="UTC")
    page.key("f")
    page.until(f"{HASH}.includes('follow=1')")


def check_warnings(page, url):
    """What the record lacks, and what an answer lacks, stands in a line at the end, which moves nothing."""
    fresh(page, url)
    page.until("!!document.querySelector('.viewer.ready')")
    warnings = page.until("(() => { const all = [...document.querySelectorAll('.warnings p')].map((e) => e.innerText);"
                          "return all.length && all; })()", None)
    assert len(warnings) == 1 and DAMAGED in warnings[0], warnings
    header = page.evaluate("fetch(performance.getEntriesByType('resource').find((e) => e.name.includes('/flame?')).name)"
                           ".then((answer) => answer.headers.get('Flamelet-Warnings'))")
    assert DAMAGED in header, header
    # An answer that lacks something, as the server would say it
    page.evaluate("(() => { const real = fetch; window.fetch = (url, ...more) => real(url, ...more).then((answer) => {"
                  "return url.includes('/top?') ? new Response(answer.body, { headers: {"
                  "'Flamelet-Warnings': '7 samples are left out' } }) : answer; }); })()")
    tops = page.evaluate("[...document.querySelectorAll('#timeline, .tabs')].map((e) => e.offsetTop).join()")
    page.key("2")
    page.until("document.querySelector('.warnings button').innerText", "all 2 warnings")
    page.click_on(".warnings button")
    page.until("document.querySelector('.warnings').innerText.includes('7 samples are left out')")
    assert page.evaluate("[...document.querySelectorAll('#timeline, .tabs')].map((e) => e.offsetTop).join()") == tops
    page.key("1")
    page.until("document.querySelectorAll('.warnings p').length", 1)


FOCUS = ("((e) => e.dataset.facet || e.dataset.name || e.id || e.className || e.tagName)(document.activeElement)")


def tab_to(page, wanted, most):
    """Presses Tab until that has the focus; returns how often."""
    for at in range(1, most + 1):
        page.key("Tab")
        if page.evaluate(FOCUS) == wanted:
            return at
    raise AssertionError(f"{wanted} is more than {most} stops away: {page.evaluate(FOCUS)}")


def check_keyboard(page, url):
    """A row of buttons is one stop of the Tab key, and so is the list of labels."""
    fresh(page, url, labels="1", tab="both")
    page.until("!!document.querySelector('.facets section')")
    page.evaluate("document.querySelector('.brand').tabIndex = -1, document.querySelector('.brand').focus()")
    tab_to(page, "timeline", 7)  # one of them is the list of types
    tab_to(page, "tab-both", 3)
    page.key("ArrowRight")
    assert page.evaluate(FOCUS) == "tab-calls", page.evaluate(FOCUS)
    for _ in range(3):
        page.key("ArrowLeft")
    page.key("Enter")
    page.until(f"!{HASH}.includes('tab=')")
    first = "document.querySelector('.facets [data-facet]').dataset.facet"
    tab_to(page, page.evaluate(first), 4)
    page.key("ArrowDown")
    assert page.evaluate(FOCUS).startswith("include "), page.evaluate(FOCUS)
    page.key("ArrowRight")
    page.key("Enter")
    page.until(f"{HASH}.includes('not')")
    assert page.evaluate(FOCUS).startswith("exclude "), page.evaluate(FOCUS)
    page.key("ArrowUp")
    assert page.evaluate(FOCUS) == page.evaluate(first)
    fresh(page, url, view="events")
    page.until("document.querySelectorAll('.events tbody tr').length > 1")
    page.evaluate("document.querySelector('[data-name=view-events]').focus()")
    page.key("Tab")
    page.key("ArrowDown")
    page.key("Enter")
    until_selected(page, BURST, BURST + 1)


def check_first_view(page, url):
    """A record with pods begins with these."""
    page.open(url)
    page.until(f"{SERIES}.map(([name]) => name).join()", "web-1,db-1,[no pod]")
    page.click_on("[data-name=lines-vital]")
    page.until(f"{HASH}.includes('lines=vital')")
    page.until(f"{SERIES}.map(([name]) => name).join()", "user,system")


def check_width(page, url):
    """On a narrow screen, too, the rows of controls are single ones, and the ranges can be read."""
    fresh(page, url, AROUND, **{"from": PEAK, "to": PEAK + 1, "base_from": PEAK - 10, "base_to": PEAK})
    page.call("Emulation.setDeviceMetricsOverride", width=1280, height=720, deviceScaleFactor=1, mobile=False)
    page.until("!!document.querySelector('.compares')")
    heights = page.evaluate("['.top .line', '.controls', '.toolbar'].map((s) => document.querySelector(s).offsetHeight)")
    assert max(heights) < 50, heights
    assert page.evaluate("(({ scrollWidth, clientWidth }) => scrollWidth <= clientWidth)"
                         "(document.querySelector('.chip.base span'))")
    assert page.evaluate("document.querySelector('[data-name=q]').clientWidth") > 180
    legend = "document.querySelector('.legend').innerText"
    assert "gone" not in page.evaluate(legend) and "new" in page.evaluate(legend)
    page.click_on("[data-name=width]")
    page.until(f"{legend}.includes('gone') && !{legend}.includes('new')")
    for width in (1000, 1200, 1300, 1600):
        page.call("Emulation.setDeviceMetricsOverride", width=width, height=720, deviceScaleFactor=1, mobile=False)
        tabs, totals = page.evaluate("['.tabs button:last-of-type', '.viewer .totals span'].map((s) =>"
                                     "(({ right, bottom, left, top }) => [right, bottom, left, top])"
                                     "(document.querySelector(s).getBoundingClientRect()))")
        assert totals[2] >= tabs[0] or totals[3] >= tabs[1], (width, tabs, totals)
    page.key("2")
    columns = page.until("(() => { const e = [...document.querySelectorAll('.apps th')].map((e) => e.offsetWidth);"
                         "return e.length && e; })()", None)
    assert len(columns) == 6 and columns[5] > 2 * max(columns[:3]), columns


def wait_for(downloads, extension):
    """The browser has files of other names until it has all of them."""
    deadline = time.monotonic() + cdp.TIMEOUT_S
    while True:
        files = [file for file in downloads.glob(f"*.{extension}") if file.stat().st_size > 0]
        if files:
            return files[0]
        assert time.monotonic() < deadline, f"no .{extension} was saved, but {list(downloads.iterdir())}"
        time.sleep(0.05)


def check_downloads(page, url, flamelet, stores, downloads):
    """Each file is the one that the command writes."""
    fresh(page, url, AROUND, **{"from": PEAK, "to": PEAK + 1})
    page.until("!!document.querySelector('.viewer.ready')")
    for at, (text, extension) in enumerate(FORMATS.items()):
        for file in downloads.iterdir():
            file.unlink()
        page.click_on("[data-name=download]")
        entries = page.until(f"{MENU}.length && {MENU}", None)
        assert entries[at] == text, entries
        page.click_on(f".menu button:nth-of-type({at + 1})")
        saved = wait_for(downloads, extension)
        written = downloads.parent / f"written.{extension}"
        subprocess.run([flamelet, "query", f"{PEAK}..{PEAK + 1}", *stores, "-s", '{host="node-1"}', "-q",
                        "-o", written], check=True)
        assert saved.read_bytes() == written.read_bytes(), f"{text}: not what the command writes"


@contextlib.contextmanager
def serve(flamelet, stores):
    errors = stores[1].parent / "errors"
    with errors.open("w") as to, subprocess.Popen([flamelet, "ui", *stores], stdout=subprocess.PIPE, stderr=to,
                                                  text=True) as process:
        try:
            while True:
                line = process.stdout.readline()
                if not line and "without the page" in errors.read_text():
                    browser.skip("flamelet was built without the page")
                assert line, errors.read_text()
                if line.strip().startswith("http://"):
                    yield line.strip()
                    return
        finally:
            process.terminate()


def main(flamelet, make_record, work_dir):
    work_dir = pathlib.Path(work_dir).resolve()
    shutil.rmtree(work_dir)
    downloads, record = work_dir / "downloads", work_dir / "record"
    for directory in (work_dir, downloads, record):
        directory.mkdir()
    subprocess.run([make_record, record], check=True)
    (record / "node-2" / DAMAGED).write_bytes(b"damaged")
    stores = [word for host in ("node-1", "node-2") for word in ("--store", record / host)]
    with serve(flamelet, stores) as url, cdp.open_browser(downloads) as page:
        page.call("Emulation.setTimezoneOverride", timezoneId="UTC")
        page.permit(url)
        for check, *arguments in (
                (check_drag,), (check_drag_of_text,), (check_events,), (check_events_of_selector,),
                (check_whole_record,), (check_maps,), (check_colors,), (check_compare,), (check_types,),
                (check_views,), (check_selectors,), (check_nothing,), (check_keyboard,), (check_first_view,), (check_width,),
                (check_warnings,), (check_looks,), (check_downloads, flamelet, stores, downloads)):
            began = time.monotonic()
            check(page, url, *arguments)
            assert not page.faults(), (check.__name__, page.faults())
            print(f"{check.__name__}: {time.monotonic() - began:.1f} s")


main(*sys.argv[1:])
