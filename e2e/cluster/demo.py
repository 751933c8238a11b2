# SPDX-License-Identifier: Apache-2.0
"""Busy pods that are nice to look at: three namespaces, a pod in each, two containers in each pod, and each
container's functions have names that nothing else on the machine has."""

from dataclasses import dataclass
import os

import host
import image
import manifests
import spin

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.path.join(HERE, "demo.c")
IMAGE = "flamelet.test/demo:1"
COMPILE = ("gcc", "-Wall", "-Wextra", "-Werror", "-O2", "-fno-inline", "-static", "-Wl,--build-id=sha1")
PERCENT = 12


@dataclass(frozen=True)
class Container:
    namespace: str
    workload: str
    name: str
    serve: str
    first: str
    second: str

    @property
    def pod(self):
        """The only one of its StatefulSet."""
        return f"{self.workload}-0"

    @property
    def functions(self):
        return {self.serve, self.first, self.second}


CONTAINERS = (
    Container("shop", "cart", "server", "serve_cart", "price_items", "apply_discounts"),
    Container("shop", "cart", "cache", "serve_lookups", "hash_session", "evict_sessions"),
    Container("billing", "invoices", "server", "serve_invoice", "render_lines", "compute_taxes"),
    Container("billing", "invoices", "ledger", "post_entries", "balance_accounts", "sign_journal"),
    Container("search", "query", "server", "serve_query", "score_documents", "merge_postings"),
    Container("search", "query", "indexer", "index_batch", "split_words", "sort_terms"),
)


def write_archive(path, busybox, directory):
    """Writes the image to be imported; `directory` is for the programs in between."""
    programs = {"bin/busybox": busybox}
    for one in CONTAINERS:
        program = f"{directory}/{one.serve}"
        host.run(*COMPILE, f"-DPERCENT={PERCENT}", f"-DSERVE={one.serve}", f"-DFIRST={one.first}",
                 f"-DSECOND={one.second}", SOURCE, "-o", program)
        programs[f"bin/{one.serve}"] = program
    image.write_image(path, IMAGE, programs, spin.PAUSE)


def stateful_set(namespace, workload):
    containers = [{"name": one.name, "image": IMAGE, "command": [f"/bin/{one.serve}"]}
                  for one in CONTAINERS if (one.namespace, one.workload) == (namespace, workload)]
    return manifests.controller("StatefulSet", workload, manifests.pod_spec(*containers), namespace,
                                serviceName=workload)


def workloads():
    """(namespace, name), in their order."""
    return list(dict.fromkeys((one.namespace, one.workload) for one in CONTAINERS))


def start(node):
    """Returns when all of them run."""
    archive = f"{node.directory}/demo.tar"
    write_archive(archive, node.tool("busybox"), node.directory)
    node.ctr("images", "import", archive)
    items = [item for namespace, workload in workloads()
             for item in (manifests.make_namespace(namespace), stateful_set(namespace, workload))]
    node.apply(manifests.as_text(*items))
    for namespace, workload in workloads():
        node.wait_for_rollout(f"statefulset/{workload}", namespace)
