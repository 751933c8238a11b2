# SPDX-License-Identifier: Apache-2.0
"""Certificates that can be had for the asking: good ones, and each kind of bad one."""

import os
import subprocess

KEY = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes")
HERE = "IP:127.0.0.1,DNS:localhost"
ELSEWHERE = "DNS:elsewhere.test"


def openssl(*arguments):
    subprocess.run(["openssl", *arguments], check=True, stdin=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL)


class Certificates:
    """Each is NAME.crt and NAME.key in the directory."""

    def __init__(self, directory):
        self.directory = directory
        os.makedirs(directory, mode=0o700)
        for name in ("ca", "other-ca"):
            openssl("req", "-x509", *KEY, "-days", "2", "-subj", f"/CN={name}",
                    "-keyout", self.key(name), "-out", self.certificate(name))
        self.sign("server", "serverAuth", HERE)
        self.sign("expired", "serverAuth", HERE, days=-1)
        self.sign("elsewhere", "serverAuth", ELSEWHERE)
        self.sign("client", "clientAuth", HERE)

    def certificate(self, name):
        return f"{self.directory}/{name}.crt"

    def key(self, name):
        return f"{self.directory}/{name}.key"

    def sign(self, name, usage, names, days=2):
        base = f"{self.directory}/{name}"
        with open(base + ".ext", "w", encoding="ascii") as file:
            file.write(f"subjectAltName={names}\nbasicConstraints=critical,CA:FALSE\n"
                       f"extendedKeyUsage={usage}\n")
        openssl("req", "-new", *KEY, "-subj", f"/CN={name}", "-keyout", self.key(name),
                "-out", base + ".csr")
        openssl("x509", "-req", "-in", base + ".csr", "-CA", self.certificate("ca"),
                "-CAkey", self.key("ca"), "-CAcreateserial", "-days", str(days),
                "-extfile", base + ".ext", "-out", self.certificate(name))
