# SPDX-License-Identifier: Apache-2.0
"""Pictures of the page of `flamelet ui`: programs run as in pods, an agent keeps a record of them, and a browser shows it.

The programs work in turns, as a schedule says. In three bursts, which the agent reports as events, one of them works all
the time."""

import base64
import pathlib
import re
import shutil
import subprocess
import sys
import threading
import time
import urllib.parse

DEMO = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(DEMO.parent / path) for path in ("e2e", "e2e/local", "tests/oracle/formats")]

# pylint: disable=wrong-import-position
import cdp
import top_scene

SIZE, SMALL = (1310, 760), (1130, 760)
TICK_S = 0.025
LIFE = (r"(LIFE_SECONDS|life_seconds =|alarm) \d+", r"\1 600")  # of the programs beside this script
END_S = 165
RATE_HZ = 99
INVOICES, BACKUP, JOBS = (85, 97), (112, 118), (136, 146)  # the bursts, in seconds after the start
COPY = "while :; do head -c 20M /dev/zero >{directory}/copy; done"
START = "while :; do /bin/true; done"

READY = "!!document.querySelector('.viewer.ready') && !document.querySelector('.waits')"


def within(second, burst):
    return burst[0] <= second < burst[1]


# (namespace, workload, kind of workload, container, whether it works at a second)
PODS = (
    ("shop", "cart", "ReplicaSet", "server", lambda t: t % 1 < 0.3),
    ("shop", "images", "ReplicaSet", "resize", lambda t: t % 0.5 < 0.1),
    ("billing", "invoices", "StatefulSet", "invoices", lambda t: t % 2 < 0.3 or within(t, INVOICES)),
    ("search", "indexer", "ReplicaSet", "indexer", lambda t: 0.5 < t % 1 < 0.65),
    ("storage", "backup", "DaemonSet", "copy", lambda t: t % 5 < 0.2 or within(t, BACKUP)),
    ("ops", "jobs", "Job", "jobs", lambda t: within(t, JOBS)),
    ("shop", "checkout", "ReplicaSet", "server", lambda t: True),
)


def build(directory):
    """Returns the commands of the pods, in their order."""
    for name in ("compress.c", "report.cpp", "words.pl"):
        (directory / name).write_text(re.sub(*LIFE, (DEMO / name).read_text(encoding="utf-8")), encoding="utf-8")
    places = [f"-ffile-prefix-map={place}=/src" for place in (directory, DEMO.parent / "e2e")]
    for program, source, *command in (("images", directory / "compress.c", "cc", "-O2"),
                                      ("invoices", directory / "report.cpp", "c++", "-std=c++17", "-O2"),
                                      ("checkout", DEMO.parent / "e2e" / "off_cpu.c", "cc", "-O1", "-pthread")):
        subprocess.run([*command, "-g", *places, source, "-o", directory / program], check=True)
    return (["python3", "-c", top_scene.CART], [str(directory / "images")], [str(directory / "invoices")],
            ["perl", str(directory / "words.pl")], ["sh", "-c", COPY.format(directory=directory)], ["sh", "-c", START],
            [str(directory / "checkout"), "600"])


def keep_to_schedule(directories, began, is_over):
    """Has the programs work and rest, by the freezer of their cgroups."""
    is_running = [None] * len(PODS)
    while not is_over.wait(TICK_S):
        for number, (*_, works) in enumerate(PODS):
            wanted = bool(works(time.time() - began))
            if wanted != is_running[number]:
                (directories[number] / "cgroup.freeze").write_text("0" if wanted else "1", encoding="ascii")
                is_running[number] = wanted


def record(flamelet, directory):
    """Keeps a record of the schedule; returns when it began."""
    shutil.rmtree(directory / "node", ignore_errors=True)
    pods = top_scene.Pods(str(directory))
    directories, is_over = [], threading.Event()
    try:
        for (namespace, workload, kind, container, _), command in zip(PODS, build(directory)):
            pods.start(namespace, workload, kind, container, command)
        mount = pathlib.Path(top_scene.host.cgroup_mounts()[1])
        directories = [mount / cgroup.lstrip("/") for cgroup in pods.cgroups[1::2]]
        with subprocess.Popen([flamelet, "agent", "-F", str(RATE_HZ), "--store", directory / "record", "--store-cpu",
                               "--kind", "cpu,offcpu,lock,growth", *pods.options(), *pods.cgroup_options()]) as agent:
            began = time.time()
            schedule = threading.Thread(target=keep_to_schedule, args=(directories, began, is_over))
            schedule.start()
            time.sleep(END_S)
            is_over.set()
            schedule.join()
            agent.terminate()
        return began
    finally:
        is_over.set()
        for cgroup in directories:
            (cgroup / "cgroup.freeze").write_text("0", encoding="ascii")
        pods.stop()


class Camera:
    """The page in a browser, and the times of the bursts on it."""

    def __init__(self, page, url, began, directory):
        self.page, self.url, self.began, self.directory = page, url, int(began), directory

    def range(self, first, end):
        return {"from": self.began + first, "to": self.began + end}

    def burst(self, burst, **more):
        """The seconds of a burst, on a timeline that begins when events can be."""
        return {**self.range(*burst), "window": f"{self.began + 60}-{self.began + END_S - 5}", **more}

    def open(self, size=SMALL, dark=False, **parameters):
        self.page.open(self.url + "#" + urllib.parse.urlencode(parameters), size=size, dark=dark)
        self.page.until(READY if parameters.get("view", "flame") == "flame"
                        else "!!document.querySelector('.list tr, .list article')")
        self.page.until("!document.querySelector('.waits')")
        self.page.evaluate("document.activeElement.blur()")
        time.sleep(0.3)

    def place(self, second, height):
        """A place on the timeline."""
        left, top, width, first, end = self.page.evaluate(
            "(() => { const r = document.querySelector('#timeline').getBoundingClientRect();"
            "const w = new URLSearchParams(location.hash.slice(1)).get('window').split('-').map(Number);"
            "return [r.left + 44, r.top, r.width - 54, ...w]; })()")
        return left + width * (self.began + second - first) / (end - first), top + height

    def hover(self, second, height=80):
        self.page.mouse("mouseMoved", *self.place(second, height))
        time.sleep(0.2)

    def take(self, name, *selectors):
        """A picture of these elements, or of all."""
        clip = self.page.evaluate(f"""((all) => {{
            const rects = all.flatMap((s) => [...document.querySelectorAll(s)]).map((e) => e.getBoundingClientRect());
            const x = Math.min(...rects.map((r) => r.left)) - 4, y = Math.min(...rects.map((r) => r.top)) - 4;
            return {{ x, y, width: Math.max(...rects.map((r) => r.right)) + 4 - x,
                      height: Math.max(...rects.map((r) => r.bottom)) + 4 - y, scale: 1 }};
        }})({list(selectors or ['body'])})""")
        data = self.page.call("Page.captureScreenshot", format="png", clip=clip)["data"]
        path = self.directory / f"{name}.png"
        path.write_bytes(base64.b64decode(data))
        print(path)


TIMELINE = (".timeline",)
BOTH = (".top", ".timeline")
VIEWER = (".tabs", ".viewer")


def take_times(camera):
    """Of choosing a time."""
    page = camera.page
    camera.open(**camera.burst(INVOICES))
    page.mouse("mouseMoved", *camera.place(100, 80))
    page.mouse("mousePressed", *camera.place(108, 80), "left", clickCount=1, buttons=1)
    page.mouse("mouseMoved", *camera.place(121, 80), "left", buttons=1)
    time.sleep(0.3)
    camera.take("ui-range", *TIMELINE)
    page.mouse("mouseReleased", *camera.place(121, 80), "left", clickCount=1)
    camera.open(**{**camera.burst((85, 86)), "window": f"{camera.began + 75}-{camera.began + 105}", "lines": "pod"})
    camera.hover(85.5)
    camera.take("ui-second", *BOTH)
    camera.open(**camera.burst(INVOICES))
    camera.hover(INVOICES[0] + 4, 8)
    camera.take("ui-worst", *TIMELINE)
    camera.open(**camera.burst(JOBS, lines="cpu"))
    camera.hover(JOBS[0] + 4, 100)
    camera.take("ui-cpus", *TIMELINE)
    camera.open(**camera.burst(INVOICES, lines="slot"))
    camera.hover(80, 60)
    camera.take("ui-50ms", *TIMELINE)
    camera.open(**camera.burst(INVOICES, lines="vital"))
    camera.take("ui-tracks", *TIMELINE)


def take_samples(camera):
    """Of choosing samples, and of what can be seen of them."""
    page = camera.page
    burst = camera.burst(INVOICES)
    camera.open(**burst, q='{namespace="shop",pod=~"cart.*"}', lines="pod")
    camera.take("ui-selector", *BOTH)
    camera.open(**burst, search="pa(rse|ir)", mode="r")
    camera.take("ui-search", *VIEWER)
    camera.open(**burst, type="off_cpu", q='{pod=~"checkout.*"}', labels="1", group="reason", tab="both")
    camera.take("ui-waits", ".top", *VIEWER)
    camera.open(**burst, type="delay", q='{pod=~"checkout.*"}', labels="1", tab="both")
    camera.take("ui-locks", ".top", *VIEWER)
    camera.open(**camera.burst(BACKUP), type="rss_growth", labels="1", group="pod", tab="both")
    camera.take("ui-memory", ".top", *VIEWER)
    camera.open(**burst, labels="1", group="namespace,pod,process")
    camera.take("ui-labels", *VIEWER)
    camera.open(**burst, tab="table")
    camera.take("ui-table", *VIEWER)
    camera.open(**burst, tab="calls", q='{namespace="billing"}')
    camera.take("ui-calls", *VIEWER)
    camera.open(**burst, bottomup="1")
    camera.take("ui-bottom-up", *VIEWER)
    camera.open(**camera.burst(BACKUP), kernel="only")
    camera.take("ui-kernel", *VIEWER)
    camera.open(**burst)
    page.click_on("[data-name=download]")
    page.until("!!document.querySelector('.menu:not([hidden])')")
    camera.take("ui-download", ".top", ".menu:not([hidden])")


def take_answers(camera):
    """Of what the page says of a range."""
    before = {"base_from": camera.began + INVOICES[0] - 12, "base_to": camera.began + INVOICES[0]}
    camera.open(**camera.burst(INVOICES), **before, tab="both")
    camera.take("ui-compare", *VIEWER)
    camera.open(**camera.burst(INVOICES), view="apps")
    camera.take("ui-applications", ".tabs", "[aria-label=Applications]")
    camera.open(**camera.burst(JOBS), view="findings")
    camera.take("ui-findings", ".tabs", "[aria-label=Findings]")
    camera.open(**camera.burst(INVOICES), view="events")
    camera.take("ui-events", ".tabs", "[aria-label=Events]")
    camera.open(SIZE, **camera.burst(INVOICES))
    camera.hover(JOBS[0] + 3)
    camera.take("ui")
    camera.page.mouse("mouseMoved", 5, 5)


def take_file(flamelet, camera):
    """Of a page in one file."""
    path = camera.directory / "invoices.html"
    subprocess.run([flamelet, "query", f"{camera.began + INVOICES[0]}..{camera.began + INVOICES[1]}", "--store",
                    camera.directory / "record", "-o", path], check=True)
    camera.page.open(path.as_uri(), size=SMALL)
    camera.page.until("!!document.querySelector('.ready')")
    camera.take("ui-file")


def serve(flamelet, directory):
    server = subprocess.Popen([flamelet, "ui", "--store", directory / "record"], stdout=subprocess.PIPE, text=True)
    return server, next(line.strip() for line in server.stdout if line.strip().startswith("http://"))


def make(flamelet, directory):
    """Makes the pictures in the directory, of the record in it if there is one."""
    began_file = directory / "began"
    if not began_file.exists():
        began_file.write_text(str(record(flamelet, directory)), encoding="ascii")
    server, url = serve(flamelet, directory)
    try:
        with cdp.open_browser(directory) as page:
            page.call("Emulation.setTimezoneOverride", timezoneId="UTC")
            camera = Camera(page, url, float(began_file.read_text(encoding="ascii")), directory)
            take_times(camera)
            take_samples(camera)
            take_answers(camera)
            take_file(flamelet, camera)
    finally:
        server.terminate()
        server.wait()
