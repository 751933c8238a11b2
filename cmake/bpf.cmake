# SPDX-License-Identifier: Apache-2.0
# flamelet_bpf_skeleton(name SOURCES x.bpf.c …): compiles each source for BPF, links them into one
# object and generates <name>.skel.h, which users of the interface target <name>_skel may include. BPF code is the same
# for every machine, but for the registers it finds: the kernel's headers are those of the one that is built for.
find_program(BPF_CLANG NAMES clang clang-14 REQUIRED)
find_program(BPFTOOL NAMES bpftool PATHS /usr/sbin /sbin REQUIRED)

function(flamelet_bpf_skeleton name)
	cmake_parse_arguments(B "" "" "SOURCES" ${ARGN})
	if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(aarch64|arm64)$")
		set(arch arm64)
	elseif(CMAKE_SYSTEM_PROCESSOR STREQUAL x86_64)
		set(arch x86)
	else()
		message(FATAL_ERROR "there is no unwinder for ${CMAKE_SYSTEM_PROCESSOR}")
	endif()
	set(headers -I/usr/include/${CMAKE_LIBRARY_ARCHITECTURE})
	if(CMAKE_SYSROOT)
		set(headers --sysroot=${CMAKE_SYSROOT}
			-I${CMAKE_SYSROOT}/usr/include/${CMAKE_LIBRARY_ARCHITECTURE})
	endif()
	set(skel_dir ${CMAKE_CURRENT_BINARY_DIR}/skel)
	file(MAKE_DIRECTORY ${skel_dir})

	set(objects "")
	foreach(source ${B_SOURCES})
		set(object ${CMAKE_CURRENT_BINARY_DIR}/${source}.o)
		add_custom_command(OUTPUT ${object}
			COMMAND ${BPF_CLANG} -g -O2 -target bpf -mcpu=v3 -D__TARGET_ARCH_${arch}
				-Wall -Wextra -Werror
				-I${CMAKE_SOURCE_DIR} ${headers}
				-MD -MF ${object}.d
				-c ${CMAKE_CURRENT_SOURCE_DIR}/${source} -o ${object}
			DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${source}
			DEPFILE ${object}.d
			COMMENT "BPF ${source}"
			VERBATIM)
		list(APPEND objects ${object})
	endforeach()

	set(linked ${CMAKE_CURRENT_BINARY_DIR}/${name}.bpf.o)
	add_custom_command(OUTPUT ${linked}
		COMMAND ${BPFTOOL} gen object ${linked} ${objects}
		DEPENDS ${objects} COMMENT "BPF link ${name}" VERBATIM)
	set(skel ${skel_dir}/${name}.skel.h)
	add_custom_command(OUTPUT ${skel}
		COMMAND sh -c "${BPFTOOL} gen skeleton ${linked} name ${name} > ${skel}"
		DEPENDS ${linked} COMMENT "BPF skeleton ${name}" VERBATIM)

	add_custom_target(${name}_skel_header DEPENDS ${skel})
	add_library(${name}_skel INTERFACE)
	add_dependencies(${name}_skel ${name}_skel_header)
	target_include_directories(${name}_skel SYSTEM INTERFACE ${skel_dir})
endfunction()
