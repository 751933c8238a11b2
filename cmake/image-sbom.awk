# SPDX-License-Identifier: Apache-2.0
# Writes SPDX 2.3 as JSON for image-sbom.sh: packages from the first file, the files of the root from the second.

function quote(text)
{
	gsub(/\\/, "\\\\", text)
	gsub(/"/, "\\\"", text)
	return "\"" text "\""
}

function id(kind, text)
{
	gsub(/[^A-Za-z0-9.-]/, "-", text)
	return "\"SPDXRef-" kind "-" text "\""
}

# For a package URL.
function encode(text)
{
	gsub(/%/, "%25", text)
	gsub(/\+/, "%2B", text)
	gsub(/:/, "%3A", text)
	return text
}

# Debian's name of a licence, or of a choice, as SPDX has it; nothing for a name that is not known here.
function spdx_licence(text,    choices, nr, i, result)
{
	nr = split(text, choices, / or /)
	for (i = 1; i <= nr; i++) {
		if (!(tolower(choices[i]) in known))
			return ""
		result = result (i > 1 ? " OR " : "") known[tolower(choices[i])]
	}
	return nr > 1 ? "(" result ")" : result
}

# All licences of a package: only if each of them is known.
function spdx_licences(text,    names, nr, i, one, result, is_there)
{
	nr = split(text, names, ", ")
	for (i = 1; i <= nr; i++) {
		one = spdx_licence(names[i])
		if (one == "")
			return "NOASSERTION"
		if (!(one in is_there))
			result = result (result != "" ? " AND " : "") one
		is_there[one] = 1
	}
	return nr ? result : "NOASSERTION"
}

function package_url(    url)
{
	url = "pkg:deb/" vendor "/" encode($1) "@" encode($4) "?arch=" $5 "&distro=" distribution
	if ($6 != $1 || $7 != $4)
		url = url "&upstream=" encode($6) "%40" encode($7)
	return url
}

function print_own_package()
{
	printf "\"versionInfo\": %s, \"supplier\": \"Organization: Flamelet\", ", quote(version)
	printf "\"licenseDeclared\": \"Apache-2.0 AND (GPL-2.0-only OR BSD-2-Clause)\", "
	printf "\"primaryPackagePurpose\": \"APPLICATION\""
}

function print_foreign_package()
{
	printf "\"versionInfo\": %s, \"supplier\": %s, ", quote($4), quote("Organization: " vendor_name)
	printf "\"sourceInfo\": %s, ", quote("built from " $6 " " $7)
	printf "\"licenseDeclared\": %s, ", quote(spdx_licences($3))
	printf "\"licenseComments\": %s, ",
		quote(($3 ? "Debian's names: " $3 "; t" : "T") "he texts: /usr/share/doc/" $1 "/copyright")
	printf "\"externalRefs\": [{\"referenceCategory\": \"PACKAGE-MANAGER\", "
	printf "\"referenceType\": \"purl\", \"referenceLocator\": %s}]", quote(package_url())
}

function relate(from, type, to)
{
	relations = relations ",\n{\"spdxElementId\": " from ", \"relationshipType\": \"" type \
		"\", \"relatedSpdxElement\": " to "}"
}

BEGIN {
	FS = "\t"
	known["expat"] = known["mit"] = "MIT"
	known["zlib"] = "Zlib"
	known["curl"] = "curl"
	known["isc"] = "ISC"
	known["apache-2.0"] = "Apache-2.0"
	known["bsd-2-clause"] = "BSD-2-Clause"
	known["bsd-3-clause"] = known["bsd3"] = "BSD-3-Clause"
	known["gpl-2"] = known["gpl-2.0"] = "GPL-2.0-only"
	known["gpl-2+"] = "GPL-2.0-or-later"
	known["gpl-3+"] = "GPL-3.0-or-later"
	known["lgpl-2.1"] = "LGPL-2.1-only"
	known["lgpl-2+"] = "LGPL-2.0-or-later"
	known["lgpl-2.1+"] = "LGPL-2.1-or-later"
	known["lgpl-3+"] = "LGPL-3.0-or-later"

	printf "{\"spdxVersion\": \"SPDX-2.3\", \"dataLicense\": \"CC0-1.0\", \"SPDXID\": \"SPDXRef-DOCUMENT\",\n"
	printf "\"name\": %s,\n", quote(name "-" version)
	printf "\"documentNamespace\": %s,\n", quote("https://spdx.org/spdxdocs/" name "-" version "-" digest)
	printf "\"creationInfo\": {\"created\": \"%s\", \"creators\": [\"Tool: image-sbom.sh\"]},\n", created
	printf "\"packages\": ["
	relate("\"SPDXRef-DOCUMENT\"", "DESCRIBES", id("Package", name))
}

FNR == NR {
	printf "%s\n{\"name\": %s, \"SPDXID\": %s, ", (NR > 1 ? "," : ""), quote($1), id("Package", $1)
	printf "\"downloadLocation\": \"NOASSERTION\", \"copyrightText\": \"NOASSERTION\", "
	printf "\"licenseConcluded\": \"NOASSERTION\", \"filesAnalyzed\": true, "
	printf "\"packageVerificationCode\": {\"packageVerificationCodeValue\": \"%s\"}, ", $2
	if ($1 == name)
		print_own_package()
	else
		print_foreign_package()
	printf "}"
	if ($1 != name)
		relate(id("Package", name), $1 ~ /-dev$/ ? "STATIC_LINK" : "DEPENDS_ON", id("Package", $1))
	next
}

FNR == 1 {
	FS = " "
	$0 = $0
	printf "\n],\n\"files\": ["
}

{
	printf "%s\n{\"fileName\": %s, \"SPDXID\": %s, ", (FNR > 1 ? "," : ""), quote("." $1), id("File", $1)
	printf "\"checksums\": [{\"algorithm\": \"SHA1\", \"checksumValue\": \"%s\"}, ", $3
	printf "{\"algorithm\": \"SHA256\", \"checksumValue\": \"%s\"}], ", $4
	printf "\"licenseConcluded\": \"NOASSERTION\", \"copyrightText\": \"NOASSERTION\"}"
	relate(id("Package", $2), "CONTAINS", id("File", $1))
}

END {
	printf "\n],\n\"relationships\": [%s\n]}\n", substr(relations, 2)
}
