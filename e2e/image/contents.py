# SPDX-License-Identifier: Apache-2.0
"""Reads the contents of an image from an OCI archive, or from the directory that it is made of, and
judges them. Every check returns the list of what is wrong."""

from dataclasses import dataclass
import hashlib
import io
import json
import os
import re
import stat
import sys
import tarfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../local"))

# pylint: disable=wrong-import-position
import host

MAX_BYTES = 40 * 1000 * 1000
SBOM = "/usr/share/sbom/flamelet.spdx.json"
BUNDLE = "/etc/ssl/certs/ca-certificates.crt"
PROGRAM = "/usr/bin/flamelet"
LIBRARIES = re.compile(r"/(usr/)?lib[^/]*/")
SPDX_ID = re.compile(r"SPDXRef-[A-Za-z0-9.-]+")
PURL = re.compile(r"pkg:deb/[a-z]+/[^@]+@[^?]+\?arch=[a-z0-9]+&distro=[a-z]+-[0-9.]+")


@dataclass
class Entry:
    mode: int           # as st_mode
    owner: tuple        # uid, gid
    content: bytes = b""


@dataclass
class Image:
    entries: dict       # by absolute path
    config: dict        # OCI's, empty for a directory
    packed_bytes: int = 0

    def files(self):
        return {path: entry for path, entry in self.entries.items() if stat.S_ISREG(entry.mode)}

    def size(self):
        return sum(len(entry.content) for entry in self.entries.values())

    def program(self):
        return self.entries[PROGRAM]

    def loader(self):
        return next(path for path in self.entries if os.path.basename(path).startswith("ld-linux"))


TAR_KINDS = {tarfile.REGTYPE: stat.S_IFREG, tarfile.DIRTYPE: stat.S_IFDIR, tarfile.SYMTYPE: stat.S_IFLNK,
             tarfile.LNKTYPE: stat.S_IFLNK, tarfile.CHRTYPE: stat.S_IFCHR,
             tarfile.BLKTYPE: stat.S_IFBLK, tarfile.FIFOTYPE: stat.S_IFIFO}


def read_layer(blob):
    with tarfile.open(fileobj=io.BytesIO(blob)) as layer:
        for member in layer:
            content = layer.extractfile(member).read() if member.isreg() else b""
            yield "/" + member.name.strip("./"), Entry(member.mode | TAR_KINDS[member.type],
                                                       (member.uid, member.gid), content)


def read_archive(path):
    """The image in an OCI archive; a file of a later layer takes the place of an earlier one's."""
    with tarfile.open(path) as archive:
        def blob(descriptor):
            return archive.extractfile("blobs/" + descriptor["digest"].replace(":", "/")).read()

        index = json.load(archive.extractfile("index.json"))
        manifest = json.loads(blob(index["manifests"][0]))
        entries = {}
        for layer in manifest["layers"]:
            entries.update(read_layer(blob(layer)))
        return Image(entries, json.loads(blob(manifest["config"])),
                     sum(layer["size"] for layer in manifest["layers"]))


def read_directory(root):
    entries = {}
    for directory, _, names in os.walk(root):
        for path in [directory] + [os.path.join(directory, name) for name in names]:
            status, content = os.lstat(path), b""
            if stat.S_ISREG(status.st_mode):
                with open(path, "rb") as file:
                    content = file.read()
            entries["/" + os.path.relpath(path, root).strip(".")] = Entry(status.st_mode, (0, 0), content)
    return Image(entries, {})


def check_size(image):
    if image.size() > MAX_BYTES:
        return [f"the image has {image.size() / 1e6:.1f} MB, more than {MAX_BYTES / 1e6:.0f}"]
    return []


def check_entry(path, entry, may_execute):
    """All directories and files belong to root and are not writable; two are programs, neither is a
    shell."""
    if stat.S_ISDIR(entry.mode):
        modes = (0o555,)
    elif stat.S_ISREG(entry.mode):
        modes = (0o444, 0o555) if may_execute else (0o444,)
    else:
        return [f"{path} is neither a file nor a directory"]
    faults = []
    if stat.S_IMODE(entry.mode) not in modes:
        faults.append(f"{path} has mode {stat.S_IMODE(entry.mode):04o}")
    if entry.owner != (0, 0):
        faults.append(f"{path} belongs to {entry.owner}")
    return faults


def check_modes(image):
    programs = (PROGRAM, image.loader())
    return [fault for path, entry in image.entries.items()
            for fault in check_entry(path, entry, path in programs)]


def check_purpose(image):
    """Nothing is there but the program, libraries, certificates and what is to be read about them."""
    faults = [f"{path} is there, what for?" for path in image.files()
              if path not in (PROGRAM, BUNDLE) and not path.startswith("/usr/share/")
              and not LIBRARIES.match(path)]
    if image.files()[BUNDLE].content.count(b"BEGIN CERTIFICATE") < 50:
        faults.append(f"{BUNDLE} has hardly any certificates")
    return faults


def check_sections(program_path):
    """The program has a symbol table, so that Flamelet names its own functions, but no debug information."""
    sections = host.run("readelf", "--wide", "--sections", program_path)
    faults = [] if " .symtab " in sections else ["the program has no symbol table"]
    return faults + (["the program has debug information"] if " .debug_info " in sections else [])


class Sbom:
    def __init__(self, text):
        self.document = json.loads(text)
        self.packages = {package["SPDXID"]: package for package in self.document["packages"]}
        self.files = {file["SPDXID"]: file for file in self.document["files"]}
        self.owners = {}        # packages by file
        for relation in self.document["relationships"]:
            if relation["relationshipType"] == "CONTAINS":
                owners = self.owners.setdefault(relation["relatedSpdxElement"], [])
                owners.append(relation["spdxElementId"])

    def file_of(self, path):
        return next((file for file in self.files.values() if file["fileName"] == "." + path), None)

    def check_references(self):
        ids = ["SPDXRef-DOCUMENT", *self.packages, *self.files]
        faults = [f"{name} is no identifier" for name in ids if not SPDX_ID.fullmatch(name)]
        if len(self.packages) + len(self.files) != len(self.document["packages"] + self.document["files"]):
            faults.append("two elements share an identifier")
        faults += [f"a relationship leads to {relation[end]}" for relation in self.document["relationships"]
                   for end in ("spdxElementId", "relatedSpdxElement") if relation[end] not in ids]
        return faults

    def check_file(self, path, content):
        file = self.file_of(path)
        if file is None:
            return [f"{path} is not in it"]
        sums = {one["algorithm"]: one["checksumValue"] for one in file["checksums"]}
        faults = [f"{path}: {name} is not that of the file" for name in ("SHA1", "SHA256")
                  if sums.get(name) != hashlib.new(name, content).hexdigest()]
        if len(self.owners.get(file["SPDXID"], [])) != 1:
            faults.append(f"{path} is of {self.owners.get(file['SPDXID'], 'no package')}")
        return faults

    def check_package(self, package):
        sums = sorted(one["checksumValue"] for name, owners in self.owners.items()
                      if package["SPDXID"] in owners for one in self.files[name]["checksums"]
                      if one["algorithm"] == "SHA1")
        faults = []
        code = package["packageVerificationCode"]["packageVerificationCodeValue"]
        if code != hashlib.sha1("".join(sums).encode()).hexdigest():
            faults.append(f"{package['name']}: the verification code is wrong")
        faults += [f"{package['name']} has no {key}" for key in
                   ("versionInfo", "supplier", "licenseDeclared") if not package.get(key)]
        references = [reference["referenceLocator"] for reference in package.get("externalRefs", [])]
        if package["name"] != "flamelet" and not (references and PURL.match(references[0])):
            faults.append(f"{package['name']}: {references} is no package URL")
        return faults


def check_sbom(image):
    """The bill of materials has each file but itself, and says of each whose it is."""
    sbom = Sbom(image.files()[SBOM].content)
    faults = sbom.check_references()
    if (sbom.document["spdxVersion"], sbom.document["dataLicense"]) != ("SPDX-2.3", "CC0-1.0"):
        faults.append("it is not SPDX 2.3")
    for path, entry in image.files().items():
        if path != SBOM:
            faults += sbom.check_file(path, entry.content)
    faults += [f"{file['fileName']} is not in the image" for file in sbom.files.values()
               if file["fileName"][1:] not in image.entries]
    for package in sbom.packages.values():
        faults += sbom.check_package(package)
    return [f"{SBOM}: {fault}" for fault in faults]


def check_files(image):
    """Everything that does not need a container."""
    missing = [path for path in (PROGRAM, SBOM, BUNDLE) if path not in image.entries]
    if missing:
        return [f"{path} is not there" for path in missing]
    return check_size(image) + check_modes(image) + check_purpose(image) + check_sbom(image)
