# SPDX-License-Identifier: Apache-2.0
"""Pods whose containers keep a given amount of memory in use (keep.c), and which of them must preload the library."""

from dataclasses import dataclass
import os

import manifests

# pylint: disable=wrong-import-order
import host
import image

SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "keep.c")
IMAGE = "flamelet.test/keep:1"
ANNOTATION = "flamelet.dev/heap"
VARIABLE = "LD_PRELOAD"
MEGABYTES = 64
# The function that allocates.
FUNCTION = "keep_block"
USER = 1000
OWN_LIBRARY = "/lib/own.so"
# All that the Pod Security level "restricted" demands.
RESTRICTED = {"allowPrivilegeEscalation": False, "runAsNonRoot": True, "runAsUser": USER,
              "seccompProfile": {"type": "RuntimeDefault"}, "capabilities": {"drop": ["ALL"]}}
LEVEL_LABEL = "pod-security.kubernetes.io/enforce"


@dataclass(frozen=True)
class Container:
    """`is_init` is one that runs beside the others, which Kubernetes calls a sidecar."""
    name: str
    preloads: bool
    fields: dict
    is_init: bool = False


@dataclass(frozen=True)
class Pod:
    """`asks` is the annotation's value."""
    name: str
    asks: str
    containers: tuple
    is_restricted: bool = False


PODS = (
    Pod("plain", None, (Container("main", False, {}),)),
    Pod("declines", "false", (Container("main", False, {}),)),
    Pod("web", "true", (Container("main", True, {"env": [{"name": "PORT", "value": "80"}]}),)),
    Pod("several", "true", (
        Container("one", True, {}),
        Container("two", True, {"securityContext": RESTRICTED | {"readOnlyRootFilesystem": True}}),
        Container("sidecar", False, {"restartPolicy": "Always"}, is_init=True))),
    Pod("own", "true", (
        Container("other", False, {"env": [{"name": VARIABLE, "value": OWN_LIBRARY}]}),
        Container("main", True, {}))),
    # Its namespace refuses volumes of the node: it starts all the same, without the library.
    Pod("strict", "true", (Container("main", False, {"securityContext": RESTRICTED}),), is_restricted=True),
)


def write_archive(path, busybox, directory):
    """Writes the image to be imported: one that is linked dynamically, with its libraries."""
    program = f"{directory}/keep"
    host.run("gcc", "-O1", "-Wall", "-Werror", "-fno-omit-frame-pointer", SOURCE, "-o", program)
    words = host.run("ldd", program).split()
    libraries = [word for word in words if word.startswith("/")]
    files = {library.lstrip("/"): os.path.realpath(library) for library in libraries}
    image.write_image(path, IMAGE, {**files, "bin/keep": program, "bin/busybox": busybox})


def container_of(one):
    return {"name": one.name, "image": IMAGE, "command": ["/bin/keep", str(MEGABYTES)], **one.fields}


def spec_of(pod):
    kept = [container_of(one) for one in pod.containers if not one.is_init]
    return manifests.pod_spec(*kept, initContainers=[container_of(one) for one in pod.containers if one.is_init])


def object_of(pod, namespace):
    result = manifests.pod(pod.name, spec_of(pod), namespace)
    if pod.asks is not None:
        result["metadata"]["annotations"] = {ANNOTATION: pod.asks}
    return result


def restricted_namespace(name):
    result = manifests.make_namespace(name)
    result["metadata"]["labels"] = {LEVEL_LABEL: "restricted"}
    return result
