#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the schemas of this directory anew, but for those that were written by hand (README.md).

    make.py

It needs pip, Go and a network; the tests do not."""

import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile

HERE = os.path.dirname(os.path.abspath(__file__))
WHEEL = ("kubernetes-validate==1.37.0", "85136d018a27b50ec7fc049d902bfa5193f5976807e6c0f408e3ab6fe078cad9")
OPERATOR = ("github.com/prometheus-operator/prometheus-operator@v0.85.0",
            "h1:M5xLCLEoaW2IJfnuCwFzzpL+jSVQu3KGT84Pye+fW8s=")
VERSIONS = ("1.28.0", "1.36.0")
KINDS = ("clusterrole-rbac-v1", "clusterrolebinding-rbac-v1", "configmap-v1", "daemonset-apps-v1",
         "networkpolicy-networking-v1", "pod-v1", "role-rbac-v1", "rolebinding-rbac-v1", "secret-v1",
         "service-v1", "serviceaccount-v1")
# Not in the first version.
NEWER_KINDS = ("mutatingadmissionpolicy-admissionregistration-v1", "mutatingadmissionpolicybinding-admissionregistration-v1")
CUSTOM = ("podmonitors", "prometheusrules", "servicemonitors")
DEFINITIONS = "_definitions.json"
# Of the places where a schema may stand: those whose keys are names, and no words of JSON Schema.
NAMED = ("properties", "$defs")


def is_word_needed(word):
    return word not in ("description", "$id", "$schema", "title") and not word.startswith("x-kubernetes-")


def shorten(schema, is_named=False):
    """Without what only people read; references lead to the file beside it."""
    if isinstance(schema, list):
        return [shorten(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    return {key: value.replace("/api/", "") if key == "$ref" and not is_named
            else shorten(value, key in NAMED and not is_named)
            for key, value in schema.items() if is_named or is_word_needed(key)}


def references(schema):
    if isinstance(schema, list):
        return {name for item in schema for name in references(item)}
    if not isinstance(schema, dict):
        return set()
    own = {schema["$ref"].rsplit("/", 1)[1]} if isinstance(schema.get("$ref"), str) else set()
    return own | {name for value in schema.values() for name in references(value)}


def needed_definitions(definitions, schemas):
    """Returns the definitions to which the schemas refer, directly or through others."""
    needed, waiting = {}, references(list(schemas))
    while waiting:
        name = waiting.pop()
        needed[name] = definitions[name]
        waiting |= references(needed[name]) - set(needed)
    return dict(sorted(needed.items()))


def write(path, schema):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="ascii") as file:
        json.dump(schema, file, indent=1, sort_keys=True)
        file.write("\n")


def read_packed(archive, version, name):
    directory = f"kubernetes_validate/kubernetes-json-schema/v{version}-local-strict"
    return shorten(json.loads(archive.read(f"{directory}/{name}")))


def write_version(archive, version):
    """One directory: a file for each kind, and one with all definitions that they have in common."""
    kinds = KINDS + (NEWER_KINDS if version != VERSIONS[0] else ())
    schemas = {f"{kind}.json": read_packed(archive, version, f"{kind}.json") for kind in kinds}
    definitions = read_packed(archive, version, DEFINITIONS)["$defs"]
    schemas[DEFINITIONS] = {"$defs": needed_definitions(definitions, schemas.values())}
    shutil.rmtree(f"{HERE}/{version}", ignore_errors=True)
    for name, schema in schemas.items():
        write(f"{HERE}/{version}/{name}", schema)


def write_kubernetes():
    with tempfile.TemporaryDirectory() as directory:
        subprocess.run(["pip", "download", "-q", "--no-deps", WHEEL[0]], cwd=directory, check=True)
        path = os.path.join(directory, os.listdir(directory)[0])
        with open(path, "rb") as file:
            if hashlib.sha256(file.read()).hexdigest() != WHEEL[1]:
                sys.exit(f"make.py: {WHEEL[0]} is not what it was")
        with zipfile.ZipFile(path) as archive:
            for version in VERSIONS:
                write_version(archive, version)


def close(schema):
    """A CustomResourceDefinition drops the fields that it does not know; this refuses them."""
    if isinstance(schema, list):
        return [close(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    closed = {key: close(value) for key, value in schema.items()}
    if isinstance(schema.get("properties"), dict) and "type" in schema:
        closed.setdefault("additionalProperties", False)
    if schema.get("x-kubernetes-int-or-string"):
        closed.pop("anyOf", None)
        closed["type"] = ["integer", "string"]
    return closed


def write_custom():
    module = json.loads(subprocess.check_output(["go", "mod", "download", "-json", OPERATOR[0]]))
    if module["Sum"] != OPERATOR[1]:
        sys.exit(f"make.py: {OPERATOR[0]} is not what it was")
    for name in CUSTOM:
        with open(f"{module['Dir']}/jsonnet/prometheus-operator/{name}-crd.json", encoding="utf-8") as file:
            definition = json.load(file)["spec"]
        for version in definition["versions"]:
            schema = shorten(close(version["schema"]["openAPIV3Schema"]))
            schema["properties"]["metadata"] = {"type": "object"}
            group = definition["group"].split(".", maxsplit=1)[0]
            kind = definition["names"]["kind"].lower()
            write(f"{HERE}/custom/{kind}-{group}-{version['name']}.json", schema)


def main():
    write_kubernetes()
    write_custom()


if __name__ == "__main__":
    main()
