#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Builds the container image of this tree with docker, podman or buildah, the first that works here, and says
# what it is called. It is the same as `docker build .`, with what git knows: the version, the commit, its date.
#
#	cmake/image-build.sh [OPTION-OF-THE-TOOL...]
#
# IMAGE=name:tag names it otherwise, IMAGE_TOOL="buildah --root DIR" chooses the tool.
set -eu
cd "$(dirname "$0")/.."

# 0.1.0 at the tag v0.1.0, 0.1.0-7-gc0ffee1 behind it; before the first tag the project's version and the commit.
version=$(awk '/^project/ { print $3 }' CMakeLists.txt)
revision=unknown
created=
if [ -e .git ] && commit=$(git rev-parse HEAD 2>/dev/null); then
	revision=$commit
	created=$(git log -1 --format=%ct)
	described=$(git describe --tags --match 'v[0-9]*' --dirty 2>/dev/null) ||
		described=v$version-g$(git describe --always --exclude '*' --dirty)
	version=${described#v}
fi
image=${IMAGE:-flamelet:$version}

tool=${IMAGE_TOOL:-}
for candidate in docker podman buildah; do
	[ -z "$tool" ] || break
	# A docker client without its daemon says its version, too, but fails.
	! "$candidate" version >/dev/null 2>&1 || tool=$candidate
done
[ -n "$tool" ] || { echo "$0: needs docker, podman or buildah" >&2; exit 1; }

# docker's builder tells this itself.
machine=$(uname -m | sed 's/x86_64/amd64/; s/aarch64/arm64/')
case $tool in *podman* | *buildah*) set -- --build-arg "BUILDPLATFORM=linux/$machine" "$@" ;; esac
set -- --build-arg "VERSION=$version" --build-arg "REVISION=$revision" "$@"
if [ -n "$created" ]; then
	set -- --build-arg "SOURCE_DATE_EPOCH=$created" \
		--label "org.opencontainers.image.created=$(date -u -d "@$created" +%Y-%m-%dT%H:%M:%SZ)" "$@"
	# docker's builder takes the date from the argument.
	case $tool in *podman* | *buildah*) set -- --timestamp "$created" "$@" ;; esac
fi
# $tool may have options.
# shellcheck disable=SC2086
$tool build -t "$image" "$@" .
echo "built $image with $tool"
