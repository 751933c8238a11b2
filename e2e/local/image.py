# SPDX-License-Identifier: Apache-2.0
"""Makes an OCI image archive out of a few static programs, with no registry and no build tool."""

import gzip
import hashlib
import io
import json
import platform
import tarfile

MEDIA = "application/vnd.oci.image."
ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}


def digest(blob):
    return "sha256:" + hashlib.sha256(blob).hexdigest()


def descriptor(kind, blob):
    return {"mediaType": MEDIA + kind, "digest": digest(blob), "size": len(blob)}


def add_file(archive, name, blob, mode=0o644):
    info = tarfile.TarInfo(name)
    info.size, info.mode = len(blob), mode
    archive.addfile(info, io.BytesIO(blob))


def make_layer(programs):
    """The root file system: mount points and the programs, {path in the image: file here}."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as layer:
        for directory in ("bin", "dev", "etc", "proc", "run", "sys", "tmp"):
            info = tarfile.TarInfo(directory)
            info.type, info.mode = tarfile.DIRTYPE, 0o755
            layer.addfile(info)
        for path, source in programs.items():
            with open(source, "rb") as program:
                add_file(layer, path, program.read(), 0o755)
    return buffer.getvalue()


def write_image(archive_path, reference, programs, command=(), entrypoint=()):
    """`command` is what a container runs that is given none, `entrypoint` what stands before it."""
    layer = make_layer(programs)
    packed = gzip.compress(layer, compresslevel=1, mtime=0)
    architecture = ARCHITECTURES[platform.machine()]
    config = json.dumps({
        "architecture": architecture, "os": "linux",
        "config": {"Env": ["PATH=/usr/bin:/bin"], "Entrypoint": list(entrypoint), "Cmd": list(command)},
        "rootfs": {"type": "layers", "diff_ids": [digest(layer)]}}).encode()
    manifest = json.dumps({
        "schemaVersion": 2, "mediaType": MEDIA + "manifest.v1+json",
        "config": descriptor("config.v1+json", config),
        "layers": [descriptor("layer.v1.tar+gzip", packed)]}).encode()
    entry = descriptor("manifest.v1+json", manifest)
    entry["platform"] = {"architecture": architecture, "os": "linux"}
    entry["annotations"] = {"io.containerd.image.name": reference}
    with tarfile.open(archive_path, "w") as archive:
        add_file(archive, "oci-layout", b'{"imageLayoutVersion":"1.0.0"}')
        index = {"schemaVersion": 2, "manifests": [entry]}
        add_file(archive, "index.json", json.dumps(index).encode())
        for blob in (packed, config, manifest):
            add_file(archive, "blobs/sha256/" + digest(blob)[7:], blob)
