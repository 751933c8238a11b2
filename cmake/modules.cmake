# SPDX-License-Identifier: Apache-2.0
# One static library a directory. What it may link is what ARCHITECTURE.md lets it include.
find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)

# flamelet_module(name SOURCES a.c … [MODULES other …] [LIBS external …])
function(flamelet_module name)
	cmake_parse_arguments(M "" "" "SOURCES;MODULES;LIBS" ${ARGN})
	add_library(${name} STATIC ${M_SOURCES})
	target_link_libraries(${name} PUBLIC flamelet_flags Threads::Threads ${M_MODULES} ${M_LIBS})
endfunction()
