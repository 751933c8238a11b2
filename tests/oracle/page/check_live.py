#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Uses the page of `flamelet ui` in a headless Chromium while the record is written, in two tabs at a time, and in two
time zones.

usage: check_live.py FLAMELET MAKE_RECORD WORK_DIR
"""
import os
import pathlib
import shutil
import subprocess
import sys
import time
import urllib.parse
from unittest import mock

ROOT = pathlib.Path(__file__).resolve().parents[3]
for place in ("tests/oracle/formats", "e2e", "e2e/local"):
    sys.path.insert(0, str(ROOT / place))

# pylint: disable=wrong-import-position
import browser
import cdp
import host
import page_client

# As in make_record.c
START, BURST, HOUR = 1795528800, 300, 3600  # 2026-11-24T14:00:00Z
PEAK = START + BURST
LENGTH = 60  # of the range that follows the newest second

HASH = "location.hash"
RANGE = f"['from', 'to'].map((name) => Number(new URLSearchParams({HASH}.slice(1)).get(name)))"
ROWS = ("[...document.querySelectorAll('.table tbody tr:not(.space)')]"
        ".map((row) => [row.cells[0].innerText, [...row.cells].at(-1).innerText.split(/\\s/)[0]])")
NAMES = f"{ROWS}.map((row) => row[1])"
WHEN = "document.querySelector('.when').innerText.replace(/\\s+/g, ' ')"
ZONES = {"Asia/Kolkata": ("2026-11-24 19:35:00", "UTC+5:30"), "UTC": ("2026-11-24 14:05:00", "UTC")}


def fragment(first, end, **parameters):
    return "#" + urllib.parse.urlencode({"from": first, "to": end, "tab": "both", **parameters})


class Writer:
    """Runs make_record, which appends the seconds that write() names to the record."""

    def __init__(self, make_record, directory):
        self.process = subprocess.Popen([make_record, "--live", directory], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True)

    def write(self, first, seconds):
        self.process.stdin.write(f"{first} {seconds}\n")
        self.process.stdin.flush()
        assert self.process.stdout.readline() == "written\n"

    def close(self):
        self.process.stdin.close()
        assert self.process.wait(60) == 0


def until_newest(page, server, later_than):
    """Waits until the page has the newest seconds of the server, which are later than that."""
    end = server.json("info")["end"]
    assert end > later_than, end
    page.until(f"{RANGE}.join()", f"{end - LENGTH},{end}")
    return end


def check_live(page, server, writer):
    """New seconds appear, the range moves on with them, also from one hour's file to the next."""
    page.open(server.url + fragment(START + 200, START + 200 + LENGTH, follow="1"))
    end = until_newest(page, server, START + 270)
    page.until(f"{NAMES}.includes('parse')")
    assert "find_needle" not in page.evaluate(NAMES)
    writer.write(START + 290, 40)
    end = until_newest(page, server, max(end, PEAK))
    page.until(f"{NAMES}.includes('find_needle')")
    writer.write(START + HOUR - LENGTH, LENGTH)
    end = until_newest(page, server, end)
    writer.write(START + HOUR, LENGTH)
    end = until_newest(page, server, START + HOUR)
    page.until(f"{NAMES}.includes('parse') && !{NAMES}.includes('find_needle')")
    info = server.json("info")
    assert len(info["files"]) == 2 and not info["warnings"], info
    page.key("f")
    page.until(f"!{HASH}.includes('follow')")
    page.open(server.url + fragment(START + HOUR - 10, START + HOUR + 10))
    page.until(f"{ROWS}.some(([share, name]) => name === 'parse' && share.startsWith('38.5 %'))")
    writer.close()
    page.open(server.url + fragment(START + HOUR - 10, START + HOUR + LENGTH))
    page.until(f"{ROWS}.some(([share, name]) => name === 'parse' && share.startsWith('38.5 %'))")
    assert server.json("info")["end"] == START + HOUR + LENGTH


def check_tabs(page, server):
    """Two tabs show what each was asked for, and one outlives the other."""
    page.open(server.url + fragment(PEAK, PEAK + 1))
    with page.open_tab() as other:
        other.permit(server.url)
        other.open(server.url + fragment(PEAK, PEAK + 1, q='{pod="db-1"}'))
        other.until(f"{NAMES}.includes('query')")
        assert "find_needle" not in other.evaluate(NAMES)
        place = other.evaluate(HASH)
        page.call("Page.bringToFront")
        page.until(f"{ROWS}.some(([share, name]) => name === 'find_needle' && share.startsWith('60.6 %'))")
        page.key("]")
        page.until(f"{RANGE}.join()", f"{PEAK + 1},{PEAK + 2}")
        page.until(f"{NAMES}.includes('parse') && !{NAMES}.includes('find_needle')")
        assert other.evaluate(HASH) == place
        assert not other.faults(), other.faults()
    page.key("[")
    page.until(f"{NAMES}.includes('find_needle')")


def check_zone(page, server, zone, shown):
    """Times are those of the zone; addresses have none. `shown`: what another zone showed at the same address."""
    text, offset = ZONES[zone]
    page.open(server.url + fragment(PEAK, PEAK + 1))
    page.until(f"{NAMES}.includes('find_needle')")
    when = page.evaluate(WHEN)
    assert when.startswith(text) and when.endswith(offset), when
    page.key("r")  # with the second before
    page.until(f"{HASH}.includes('base_from={PEAK - 1}&base_to={PEAK}')")
    page.open(server.url + fragment(PEAK, PEAK + 1, view="events"))
    row = page.until("document.querySelector('.events tbody tr')?.innerText ?? ''", None)
    assert text.split()[1] in row, row
    link = page.evaluate(HASH)
    page.key("1")
    page.until(f"{NAMES}.includes('find_needle')")
    rows = page.evaluate(ROWS)
    assert shown in (None, (link, rows)), (shown, link, rows)
    return link, rows


def use_record(flamelet, make_record, work_dir):
    record = work_dir / "live"
    writer = Writer(make_record, record)
    writer.write(START + 200, 90)
    with page_client.Page(flamelet, work_dir, record) as server, cdp.open_browser(work_dir) as page:
        page.permit(server.url)
        for check, *arguments in ((check_live, writer), (check_tabs,)):
            began = time.monotonic()
            check(page, server, *arguments)
            assert not page.faults(), (check.__name__, page.faults())
            print(f"{check.__name__}: {time.monotonic() - began:.1f} s")


def use_zones(flamelet, make_record, work_dir):
    record, shown = work_dir / "zones", None
    record.mkdir()
    subprocess.run([make_record, record], check=True)
    for zone in ZONES:
        with mock.patch.dict(os.environ, TZ=zone), page_client.Page(flamelet, work_dir, record / "node-1") as server, \
                cdp.open_browser(work_dir) as page:
            page.permit(server.url)
            shown = check_zone(page, server, zone, shown)
            assert not page.faults(), (zone, page.faults())


def main(flamelet, make_record, work_dir):
    work_dir = pathlib.Path(work_dir).resolve()
    shutil.rmtree(work_dir)
    work_dir.mkdir()
    try:
        use_record(flamelet, make_record, work_dir)
        use_zones(flamelet, make_record, work_dir)
    except host.Skip as skip:
        browser.skip(skip)


main(*sys.argv[1:])
