# SPDX-License-Identifier: Apache-2.0
"""What otlp_sample.c says, a second time: a line a sample, in the form of otlp_text.h."""

WEB = ("{service.name=web k8s.namespace.name=shop k8s.pod.name=web-0 "
       "k8s.pod.label.note=sm\\xf8rrebr\\xf8d}")
SERVING = ("vfs_read[kernel] "
           "libfoo.so+0x123[native @291 /usr/lib/libfoo.so 8d2a1f0c9b7e6d5c4b3a29180706f5e4d3c2b1a0] "
           "libbar.so+0x456[native] http::serve(int)[native] main[native]")
DB = "{service.name=db}"
DEEP = " ".join(f"f{i}[native]" for i in range(999)) + " [stack cut][]"
ENCODE = "json.encode(/go/json/encode.go:90):95"
MIXED = (f"{ENCODE}<main.reply(/src/web.go:60)<main.handle(/src/web.go:30):41[go] "
         f"{ENCODE}<main.handle(/src/web.go:30):43[go] [unknown]:7<poll(poll.rs:0):8[rust] "
         "Cart.total()[jvm] handler app.js[v8js] py::work[native]")

EXPECTED = [
    "{} thread.name=kswapd0 cpu.logical_number=0: kswapd[kernel] = 2",
    "{} cpu.logical_number=127: "
    "caf\\xe9\\xff[native] [unknown][native] = 9",
    f"{{}} thread.name=mixed cpu.logical_number=0: {MIXED} = 10",
    f"{WEB} thread.name=web cpu.logical_number=0 flamelet.cgroup.id=4711: {SERVING} = 16",
    f"{WEB} thread.name=web cpu.logical_number=3 flamelet.cgroup.id=4711: {SERVING} = 2",
    f"{WEB} thread.name=logger\\xfe cpu.logical_number=3 "
    f"flamelet.cgroup.id=4711: {SERVING} = 1",
    f"{DB} thread.name=db cpu.logical_number=1 flamelet.cgroup.id=1099511627776: "
    "work[native] [no unwind data][] = 3",
    f"{DB} thread.name=db cpu.logical_number=1 flamelet.cgroup.id=1099511627776: "
    "[no stack][] = 6",
    f"{DB} thread.name=deep cpu.logical_number=1 flamelet.cgroup.id=1099511627776: {DEEP} = 8",
]

TIME_UNIX_NANO = 1795188153000000000
DURATION_NANO = 10_000_000_000
PERIOD_NANO = 10_000_000
SYSTEM_NAMES = {"http::serve(int)": "_ZN4http5serveEi"}
