# SPDX-License-Identifier: Apache-2.0
"""The contents of otlp_sample.c, written a second time: one line per sample, in the form of
otlp_text.h."""

WEB = ("service.name=web k8s.namespace.name=shop k8s.pod.name=web-0 "
       "k8s.pod.label.note=sm\\xf8rrebr\\xf8d "
       "process.executable.name=web process.executable.path=/usr/bin/web")
SERVER, WORKER = f"{{{WEB} process.pid=100}}", f"{{{WEB} process.pid=101}}"
CGROUP, DB_CGROUP = "flamelet.cgroup.id=4711", "flamelet.cgroup.id=1099511627776"
BUILD_ID = "8d2a1f0c9b7e6d5c4b3a29180706f5e4d3c2b1a0"


def in_web(address):
    return f"@{address} /usr/bin/web {BUILD_ID}"


def serving(serve, main):
    return (f"vfs_read[kernel] libfoo.so+0x123[native @291 /usr/lib/libfoo.so {BUILD_ID}] "
            f"libbar.so+0x456[native] http::serve(int)[native {in_web(serve)}] "
            f"main[native {in_web(main)}]")


SERVING = serving(0x4a10, 0x1200)
DB = "{service.name=db}"
DEEP = " ".join(f"f{i}[native]" for i in range(999)) + " [stack truncated][]"
ENCODE = "json.encode(/go/json/encode.go:90):95"
MIXED = (f"{ENCODE}<main.reply(/src/web.go:60)<main.handle(/src/web.go:30):41[go {in_web(16)}] "
         f"{ENCODE}<main.handle(/src/web.go:30):43[go {in_web(32)}] "
         f"[unknown]:7<poll(poll.rs:0):8[rust {in_web(48)}] "
         "Cart.total()[jvm] handler app.js[v8js] py::work[native]")

EXPECTED = [
    "{} thread.name=kswapd0 thread.id=50 cpu.logical_number=0: kswapd[kernel] = 2",
    "{} thread.id=51 cpu.logical_number=127: "
    "caf\\xe9\\xff[native] [unknown][native] = 9",
    f"{{}} thread.name=mixed thread.id=52 cpu.logical_number=0: {MIXED} = 10",
    f"{SERVER} thread.name=web thread.id=100 cpu.logical_number=0 {CGROUP}: {SERVING} = 7",
    f"{SERVER} thread.name=web thread.id=101 cpu.logical_number=0 {CGROUP}: {SERVING} = 5",
    f"{SERVER} thread.name=web thread.id=100 cpu.logical_number=3 {CGROUP}: {SERVING} = 2",
    f"{SERVER} thread.name=logger\\xfe thread.id=103 cpu.logical_number=3 {CGROUP}: {SERVING} = 1",
    f"{WORKER} thread.name=web thread.id=102 cpu.logical_number=0 {CGROUP}: "
    f"{serving(0x4a30, 0x1208)} = 4",
    f"{DB} thread.name=db thread.id=200 cpu.logical_number=1 {DB_CGROUP}: "
    "work[native] [no unwind data][] = 3",
    f"{DB} thread.name=db thread.id=200 cpu.logical_number=1 {DB_CGROUP}: [no stack][] = 6",
    f"{DB} thread.name=deep thread.id=201 cpu.logical_number=1 {DB_CGROUP}: {DEEP} = 8",
]

TIME_UNIX_NANO = 1795188153000000000
DURATION_NANO = 10_000_000_000
PERIOD_NANO = 10_000_000
SYSTEM_NAMES = {"http::serve(int)": "_ZN4http5serveEi"}
