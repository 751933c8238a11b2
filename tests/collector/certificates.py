# SPDX-License-Identifier: Apache-2.0
"""A certificate authority of the test's own, and a server and a client that it vouches for."""
import os
import subprocess

KEY = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes")
NAMES = "subjectAltName=IP:127.0.0.1,DNS:localhost"


def openssl(*arguments):
    subprocess.run(["openssl", *arguments], check=True, stdin=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL)


def make(directory):
    """ca.crt; server.crt and client.crt, each with its .key; and stranger.crt, another authority's."""
    os.makedirs(directory, mode=0o700)

    def path(name):
        return os.path.join(directory, name)

    for name in ("ca", "stranger"):
        openssl("req", "-x509", *KEY, "-days", "2", "-subj", f"/CN={name}", "-out",
                path(name + ".crt"), "-keyout", path(name + ".key"))
    with open(path("names"), "w", encoding="ascii") as file:
        file.write(NAMES)
    for name in ("server", "client"):
        openssl("req", "-new", *KEY, "-subj", f"/CN={name}", "-out", path(name + ".csr"), "-keyout",
                path(name + ".key"))
        openssl("x509", "-req", "-days", "2", "-in", path(name + ".csr"), "-CA", path("ca.crt"), "-CAkey",
                path("ca.key"), "-CAcreateserial", "-extfile", path("names"), "-out",
                path(name + ".crt"))
