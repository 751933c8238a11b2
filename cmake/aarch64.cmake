# SPDX-License-Identifier: Apache-2.0
# Builds for arm64 on another machine: Debian's cross compiler, and libraries from a root directory of arm64
# packages (arm64-sysroot.sh), which is made now if it is not there.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)

if(NOT CMAKE_SYSROOT)
	# Without the tests, no more than the program needs.
	set(sections "")
	if(NOT DEFINED FLAMELET_TESTS OR FLAMELET_TESTS)
		set(sections arm64-guest)
	endif()
	execute_process(COMMAND ${CMAKE_CURRENT_LIST_DIR}/arm64-sysroot.sh ${sections}
		OUTPUT_VARIABLE sysroot OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
	set(CMAKE_SYSROOT ${sysroot} CACHE PATH "Root directory of arm64 packages")
endif()

set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(ENV{PKG_CONFIG_SYSROOT_DIR} ${CMAKE_SYSROOT})
set(ENV{PKG_CONFIG_LIBDIR} ${CMAKE_SYSROOT}/usr/lib/aarch64-linux-gnu/pkgconfig:${CMAKE_SYSROOT}/usr/share/pkgconfig)
