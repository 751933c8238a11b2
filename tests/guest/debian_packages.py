# SPDX-License-Identifier: Apache-2.0
"""Files of Debian's packages, of any suite and architecture, without installing them: by an APT of our own,
with the servers and proxies of this machine's and the keys of debian-archive-keyring."""

import glob
import os
import re
import subprocess

import host

KEYS = "/usr/share/keyrings/debian-archive-keyring.gpg"
SECONDS = 300
FIELD = re.compile(r"(Pre-Depends|Depends): (\S+)")


def repository():
    """The URI of this machine's repository of Debian's stable suites; the one for security is another."""
    lines = host.run("apt-get", "indextargets", "--format", "$(REPO_URI)", "Created-By: Packages",
                     "Origin: Debian", "Label: Debian", seconds=60).splitlines()
    if not lines:
        raise host.Skip("this machine's apt has no source of Debian's packages")
    return lines[0]


def complaint(failure):
    """The first line with which apt says what is wrong."""
    lines = str(failure).splitlines()
    return next((line for line in lines if line.startswith("E: ")), lines[-1])


class Packages:
    """The packages of one suite; for backports, with those of the suite that they extend.
    `directory` is for what APT keeps, and may be removed afterwards."""

    def __init__(self, directory, suite, architecture):
        host.require("apt-get", "apt-cache", "apt-config", "dpkg")
        if not os.path.exists(KEYS):
            raise host.Skip("debian-archive-keyring is not installed")
        self.directory, self.suite = directory, suite
        self.environment = dict(os.environ, LC_ALL="C", APT_CONFIG=f"{directory}/apt.conf")
        self.write_settings(architecture)
        self.run("apt-get", "-q", "update", cwd=directory)

    def write_settings(self, architecture):
        repository_uri = repository()
        transport = host.run("apt-config", "dump", "--no-empty", "Acquire", seconds=60)
        for name in ("state/lists/partial", "cache/archives/partial", "empty"):
            os.makedirs(f"{self.directory}/{name}")
        settings = {"Dir::Etc::main": "/dev/null", "Dir::Etc::parts": f"{self.directory}/empty",
                    "Dir::Etc::sourcelist": f"{self.directory}/sources.list", "Dir::Etc::sourceparts": "-",
                    "Dir::State": f"{self.directory}/state", "Dir::State::status": f"{self.directory}/status",
                    "Dir::Cache": f"{self.directory}/cache", "APT::Architecture": architecture,
                    "APT::Architectures": architecture, "APT::Sandbox::User": "root",
                    "APT::Default-Release": self.suite, "Acquire::Languages": "none"}
        source = f"deb [signed-by={KEYS}] {repository_uri}"
        suites = dict.fromkeys((self.suite.removesuffix("-backports"), self.suite))
        files = {"apt.conf": transport + "".join(f'{name} "{value}";\n' for name, value in settings.items()),
                 "sources.list": "".join(f"{source} {suite} main\n" for suite in suites), "status": ""}
        for name, text in files.items():
            with open(f"{self.directory}/{name}", "w", encoding="utf-8") as file:
                file.write(text)

    def run(self, *command, **options):
        """Skips the test if APT fails: there is no network, or the suite has moved to the
        archive."""
        try:
            return host.run(*command, env=self.environment, seconds=SECONDS, **options)
        except (host.Failure, subprocess.TimeoutExpired) as failure:
            raise host.Skip(f"Debian's {self.suite} cannot be had: {complaint(failure)}") from failure

    def dependencies(self, package):
        """Names of what a package needs itself."""
        return [name for _, name in FIELD.findall(self.run("apt-cache", "depends", package))]

    def unpack(self, names, root):
        """The packages' files, below `root`."""
        archives = f"{self.directory}/archives"
        os.makedirs(archives)
        self.run("apt-get", "-q", "download", *names, cwd=archives)
        for archive in glob.glob(f"{archives}/*.deb"):
            host.run("dpkg", "-x", archive, root, seconds=120)
