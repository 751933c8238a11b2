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

# The architecture whose files are read by libraries without a suffix.
set(FLAMELET_MACHINE x86)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(aarch64|arm64)")
	set(FLAMELET_MACHINE arm64)
endif()

# flamelet_machine_module(name SOURCES a.c … [X86 x.c …] [ARM64 y.c …] [MACHINE_MODULES other …] [MODULES …] [LIBS …])
# A module that reads files of one architecture: name_x86 and name_arm64, of which `name` is this machine's. The other
# one is built for tests only. MACHINE_MODULES are modules of the same kind.
function(flamelet_machine_module name)
	cmake_parse_arguments(M "" "" "SOURCES;X86;ARM64;MACHINE_MODULES;MODULES;LIBS" ${ARGN})
	foreach(arch x86 arm64)
		if(NOT arch STREQUAL FLAMELET_MACHINE AND NOT FLAMELET_TESTS)
			continue()
		endif()
		string(TOUPPER ${arch} own)
		set(modules ${M_MACHINE_MODULES})
		list(TRANSFORM modules APPEND _${arch})
		flamelet_module(${name}_${arch} SOURCES ${M_SOURCES} ${M_${own}}
			MODULES ${modules} ${M_MODULES} LIBS ${M_LIBS})
		if(arch STREQUAL FLAMELET_MACHINE)
			add_library(${name} ALIAS ${name}_${arch})
		else()
			target_compile_definitions(${name}_${arch} PUBLIC __TARGET_ARCH_${arch})
		endif()
	endforeach()
endfunction()
