# SPDX-License-Identifier: Apache-2.0
"""The certificates of a cluster, and the files that its clients log in with."""

import json
import os

import host

NO_DEFAULTS = "[req]\ndistinguished_name = name\n[name]\n"
LEAF = ("basicConstraints=CA:FALSE", "keyUsage=critical,digitalSignature")
AUTHORITY = ("basicConstraints=critical,CA:TRUE", "keyUsage=critical,keyCertSign,cRLSign")


class Pki:
    """One authority signs everything: servers, clients, and the tokens of service accounts."""

    def __init__(self, directory):
        self.directory = directory
        os.makedirs(directory, mode=0o700)
        with open(self.path("openssl.cnf"), "w", encoding="ascii") as config:
            config.write(NO_DEFAULTS)
        self.make("ca", "/CN=flamelet-e2e", AUTHORITY)

    def path(self, name):
        return f"{self.directory}/{name}"

    def make(self, name, subject, extensions, signer=()):
        options = [option for extension in extensions for option in ("-addext", extension)]
        host.run("openssl", "req", "-x509", "-config", self.path("openssl.cnf"), "-newkey", "ec",
                 "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2", "-subj", subject,
                 "-keyout", self.path(name + ".key"), "-out", self.path(name + ".crt"),
                 *signer, *options)

    def sign(self, name, subject, *extensions):
        self.make(name, subject, LEAF + extensions,
                  ("-CA", self.path("ca.crt"), "-CAkey", self.path("ca.key")))

    def make_server(self, name, subject, alternative_names):
        self.sign(name, subject, "extendedKeyUsage=serverAuth",
                  "subjectAltName=" + ",".join(alternative_names))

    def make_client(self, name, subject):
        self.sign(name, subject, "extendedKeyUsage=clientAuth")

    def make_login(self, name, subject, server):
        """A client's certificate and the kubeconfig with it, whose path is returned."""
        self.make_client(name, subject)
        config = {
            "apiVersion": "v1", "kind": "Config", "current-context": "e2e",
            "clusters": [{"name": "e2e", "cluster": {
                "server": server, "certificate-authority": self.path("ca.crt")}}],
            "users": [{"name": name, "user": {
                "client-certificate": self.path(name + ".crt"),
                "client-key": self.path(name + ".key")}}],
            "contexts": [{"name": "e2e", "context": {"cluster": "e2e", "user": name}}]}
        path = self.path(name + ".conf")
        with open(path, "w", encoding="utf-8") as file:
            json.dump(config, file)
        return path
