#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Builds the program of an image for the image's architecture, where that is another one than this machine's
# by a cross compiler. Architectures have Docker's names, which are Debian's, too.
#
#	cmake/image-program.sh packages ARCHITECTURE		installs what the build needs
#	cmake/image-program.sh build ARCHITECTURE [OPTION...]	builds build/flamelet; the options are CMake's
set -eu
cd "$(dirname "$0")/.."
action=$1
native=$(dpkg --print-architecture)
# Builders that build for their own machine alone tell nothing.
architecture=${2:-$native}
shift 2

case $native-$architecture in
"$architecture-$native") ;;
*-arm64) export CMAKE_TOOLCHAIN_FILE="$PWD/cmake/aarch64.cmake" ;;
*)
	echo "$0: no cross compiler from $native to $architecture is known here; --build-arg" \
		"BUILDPLATFORM=linux/$architecture builds it on such a machine, or an emulated one" >&2
	exit 1
	;;
esac

case $action in
packages)
	cmake/install-packages.sh build ${CMAKE_TOOLCHAIN_FILE:+"$architecture"}
	[ -z "${CMAKE_TOOLCHAIN_FILE:-}" ] || cmake/arm64-sysroot.sh
	;;
build)
	cmake --preset release -G Ninja "$@"
	cmake --build build
	;;
esac
