#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes docs/top.png: a real run of flamelet top on programs that run like pods, and the text of its terminal as a picture.

    top_picture.py path/to/flamelet OUTPUT.png

It needs root, gcc, g++, perl and chromium."""

import argparse
import html
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "local"))

# pylint: disable=wrong-import-position
import host
from top_scene import CART, HOME, Pods, Screen

COLUMNS, LINES = 132, 20
SECONDS = 24
NICE = -11
CELL = 8.43      # pixels of a character's width
DEMO = os.path.join(HERE, "../demo")
BACKUP = """
#include <fcntl.h>
#include <unistd.h>
static char buffer[1 << 20];
static void copy_volume(int from, int to)
{
    for (int i = 0; i < 64; i++)
        if (read(from, buffer, sizeof(buffer)) < 0 || write(to, buffer, sizeof(buffer)) < 0)
            _exit(1);
    if (ftruncate(to, 0) < 0 || lseek(to, 0, SEEK_SET) < 0)
        _exit(1);
}
int main(int argc, char **argv)
{
    int from = open("/dev/zero", O_RDONLY), to = open(argv[argc - 1], O_RDWR | O_CREAT, 0600);
    for (;;)
        copy_volume(from, to);
}
"""
PROBE = """
#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>
static void ping_self(int fd, struct sockaddr_in *self)
{
    char byte = 0;
    if (sendto(fd, &byte, 1, 0, (struct sockaddr *)self, sizeof(*self)) < 0 || recv(fd, &byte, 1, 0) < 0)
        _exit(1);
}
int main(void)
{
    struct sockaddr_in self = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t len = sizeof(self);
    int fd = socket(AF_INET, SOCK_DGRAM, 0);
    if (bind(fd, (struct sockaddr *)&self, len) < 0 || getsockname(fd, (struct sockaddr *)&self, &len) < 0)
        return 1;
    for (;;)
        ping_self(fd, &self);
}
"""
COMPILE = "while :; do gcc -O2 -g -c {source} -o {object}; done"
COLORS = {"33": "#e5a33d", "94": "#7aa7ff", "35": "#d38ae0", "36": "#5cc7c7", "31": "#ff7b72"}
PAGE = """<!DOCTYPE html><meta charset="utf-8"><style>
body {{ margin: 0; background: #16181d; }}
pre {{ margin: 0; padding: 14px 16px; font: 14px/18px "DejaVu Sans Mono", monospace; color: #d5d8de; }}
.r {{ background: #d5d8de; color: #16181d; }} .b {{ font-weight: bold; }}
</style><pre>{text}</pre>"""


def build(directory):
    for name, text, compiler in (("backup", BACKUP, "gcc"), ("probe", PROBE, "gcc"),
                                 ("images", host.read_text(f"{DEMO}/compress.c"), "gcc"),
                                 ("invoices", host.read_text(f"{DEMO}/report.cpp"), "g++")):
        language = "c++" if compiler == "g++" else "c"
        host.run(compiler, "-O2", "-g", "-x", language, "-", "-o", f"{directory}/{name}", input=text)


def start_all(pods, directory):
    pods.start("shop", "cart", "ReplicaSet", "server", ["python3", "-c", CART])
    pods.start("shop", "images", "ReplicaSet", "resize", [f"{directory}/images"])
    pods.start("billing", "invoices", "StatefulSet", "invoices", [f"{directory}/invoices"])
    pods.start("search", "indexer", "ReplicaSet", "indexer", ["perl", f"{DEMO}/words.pl"])
    pods.start("storage", "backup", "DaemonSet", "copy", [f"{directory}/backup", f"/dev/shm/{os.path.basename(directory)}"])
    pods.start("monitoring", "probe", "DaemonSet", "probe", [f"{directory}/probe"])
    pods.start_in("/system.slice/ci-runner.service", ["sh", "-c", COMPILE.format(source=f"{DEMO}/compress.c",
                                                                              object=f"{directory}/object")])


def prefer(processes):
    """Lets the programs run although others use the machine: sched(7), autogroup."""
    for process in processes:
        with open(f"/proc/{process.pid}/autogroup", "w", encoding="ascii") as file:
            file.write(str(NICE))


def as_html(picture):
    """Turns the colours and attributes of one picture into HTML."""
    text, classes, color = "", set(), None
    for part in re.split(r"(\x1b\[[0-9;?]*[A-Za-z])", picture):
        if not part.startswith("\x1b["):
            style = f' style="color:{color}"' if color and "r" not in classes else ""
            text += f'<span class="{" ".join(sorted(classes))}"{style}>{html.escape(part)}</span>' if part else ""
            continue
        code = part[2:-1]
        if part.endswith("m") and code == "0":
            classes, color = set(), None
        elif part.endswith("m"):
            classes |= {"1": {"b"}, "7": {"r"}}.get(code, set())
            color = COLORS.get(code, color)
    return PAGE.format(text=text.replace("\r", ""))


def record_screen(binary, pods):
    screen = Screen([binary, "top", *pods.options(), *pods.cgroup_options(), "-F", "99"], COLUMNS, LINES)
    screen.wait_for("rows", "^shop/cart ")
    screen.read(SECONDS)
    screen.type("j")
    screen.read(1)
    picture = [part for part in screen.output.split(HOME)[1:] if part.endswith("\x1b[J")][-1]
    screen.type("q")
    screen.finish()
    return picture


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("binary", type=os.path.abspath)
    parser.add_argument("output", type=os.path.abspath)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="flamelet-top-") as directory:
        build(directory)
        pods = Pods(directory)
        try:
            start_all(pods, directory)
            prefer(pods.processes)
            picture = record_screen(options.binary, pods)
        finally:
            pods.stop()
        with open(f"{directory}/page.html", "w", encoding="utf-8") as file:
            file.write(as_html(picture))
        subprocess.run(["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
                        "--force-device-scale-factor=1.25", f"--user-data-dir={directory}/chromium",
                        f"--window-size={round(COLUMNS * CELL) + 32},{LINES * 18 + 28}", f"--screenshot={options.output}",
                        f"file://{directory}/page.html"], check=True, stderr=subprocess.DEVNULL)
    return 0


if __name__ == "__main__":
    sys.exit(main())
