# SPDX-License-Identifier: Apache-2.0
"""A debian:12-slim of our own, from the sources that this machine's apt has: what a registry would give."""

import os
import shutil
import subprocess
import tempfile

import host

SUITE = "bookworm"
SECONDS = 900
KEYS = "/usr/share/keyrings/debian-archive-keyring.gpg"
# The files that a "slim" image leaves out.
DPKG_SETTINGS = """path-exclude /usr/share/doc/*
path-include /usr/share/doc/*/copyright
path-exclude /usr/share/man/*
path-exclude /usr/share/locale/*
"""


def sources():
    """Lines as in sources.list, Debian's own alone."""
    lines = host.run("apt-get", "indextargets", "--format", "$(REPO_URI) $(RELEASE) $(COMPONENT)",
                     "Created-By: Packages", "Origin: Debian", seconds=60).splitlines()
    return [f"deb {line}" for line in dict.fromkeys(lines) if line.split()[1].startswith(SUITE)]


def proxy_settings():
    lines = host.run("apt-config", "dump", "--no-empty", "Acquire::http", seconds=60).splitlines()
    return "".join(line + "\n" for line in lines if "proxy" in line.lower())


def environment(settings):
    """debootstrap asks the environment, not apt."""
    proxies = [line.split('"')[1] for line in settings.splitlines() if line.startswith("Acquire::http::Proxy ")]
    return dict(os.environ, **({"http_proxy": proxies[0]} if proxies else {}))


def find_mirror(lines):
    mirrors = [line.split()[1] for line in lines if line.split()[2] == SUITE]
    if not mirrors:
        raise host.Skip(f"this machine's apt has no source of Debian's {SUITE}")
    if not all(line.split()[1].startswith("http:") for line in lines):
        raise host.Skip("a source of this machine's apt is not http:, and the base has no CAs yet")
    return mirrors[0]


def write(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def make_archive(path):
    """Writes the root directory as a tar file."""
    host.require("debootstrap", "apt-get", "tar")
    lines, proxy = sources(), proxy_settings()
    mirror = find_mirror(lines)
    root = tempfile.mkdtemp(prefix="base-", dir=os.path.dirname(path))
    try:
        host.run("debootstrap", "--variant=minbase", f"--keyring={KEYS}", SUITE, root, mirror,
                 seconds=SECONDS, env=environment(proxy))
        write(f"{root}/etc/apt/sources.list", "\n".join(lines) + "\n")
        write(f"{root}/etc/apt/apt.conf.d/proxy", proxy)
        write(f"{root}/etc/dpkg/dpkg.cfg.d/docker", DPKG_SETTINGS)
        shutil.rmtree(f"{root}/var/cache/apt/archives")
        host.run("tar", "-C", root, "-cf", f"{path}.unfinished", ".", seconds=120)
        os.rename(f"{path}.unfinished", path)
    except (host.Failure, subprocess.TimeoutExpired) as failure:
        raise host.Skip(f"no {SUITE} can be had: {str(failure)[-300:]}") from failure
    finally:
        host.unmount_below(root)
        shutil.rmtree(root)
