# SPDX-License-Identifier: Apache-2.0
# One set of flags for all of user space; both gcc 12 and clang 14 accept it.
add_library(flamelet_flags INTERFACE)
target_compile_options(flamelet_flags INTERFACE
	-std=gnu17 -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes
	-Wold-style-definition -Wvla -Wundef -Wwrite-strings -Wformat=2 -Wpointer-arith
	-Wimplicit-fallthrough -Wdouble-promotion -Wcast-align -Wframe-larger-than=32768
	-fno-common -fstack-protector-strong -fPIE
	# A profiler must be profilable.
	-fno-omit-frame-pointer)
target_compile_definitions(flamelet_flags INTERFACE _GNU_SOURCE
	FLAMELET_VERSION="$<IF:$<BOOL:${FLAMELET_VERSION}>,${FLAMELET_VERSION},${PROJECT_VERSION}>")
target_include_directories(flamelet_flags INTERFACE ${CMAKE_SOURCE_DIR})
target_link_options(flamelet_flags INTERFACE -pie -Wl,-z,relro,-z,now)

if(FLAMELET_WERROR)
	target_compile_options(flamelet_flags INTERFACE -Werror)
endif()
if(CMAKE_BUILD_TYPE STREQUAL "Release" AND NOT FLAMELET_SANITIZE)
	target_compile_definitions(flamelet_flags INTERFACE _FORTIFY_SOURCE=2)
endif()
