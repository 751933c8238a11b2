# SPDX-License-Identifier: Apache-2.0
# The compilers of programs to unwind on another machine, with the options that make them cross compilers.
set(root --sysroot=${CMAKE_SYSROOT})
set(UNWIND_GCC ${CMAKE_C_COMPILER} ${root})

# cross_compiler(VARIABLE program option …)
function(cross_compiler variable program)
	find_program(${variable}_PROGRAM ${program} HINTS $ENV{HOME}/.cargo/bin /usr/local/go/bin)
	if(${variable}_PROGRAM)
		set(${variable} ${${variable}_PROGRAM} ${ARGN} PARENT_SCOPE)
	endif()
endfunction()

cross_compiler(UNWIND_GXX aarch64-linux-gnu-g++ ${root})
cross_compiler(UNWIND_CLANG clang --target=aarch64-linux-gnu ${root})
cross_compiler(UNWIND_CLANGXX clang++ --target=aarch64-linux-gnu ${root} --gcc-toolchain=/usr)
cross_compiler(UNWIND_GO go)
if(UNWIND_GO)
	# It stands behind other variables.
	list(PREPEND UNWIND_GO GOARCH=arm64)
endif()

# What gcc needs to know for musl is a file of its package, with the places that it has when it is installed.
set(musl ${CMAKE_SYSROOT}/usr/lib/aarch64-linux-musl/musl-gcc.specs)
if(EXISTS ${musl})
	file(READ ${musl} specs)
	string(REGEX REPLACE "(/usr/(lib|include)/aarch64-linux-musl)" "${CMAKE_SYSROOT}\\1" specs "${specs}")
	file(WRITE ${CMAKE_CURRENT_BINARY_DIR}/musl.specs "${specs}")
	set(UNWIND_MUSL_GCC ${CMAKE_C_COMPILER} -specs=${CMAKE_CURRENT_BINARY_DIR}/musl.specs)
endif()

# Rust's library for another machine is not everywhere.
cross_compiler(UNWIND_RUSTC rustc --target=aarch64-unknown-linux-gnu -Clinker=${CMAKE_C_COMPILER}
	-Clink-arg=--sysroot=${CMAKE_SYSROOT})
if(UNWIND_RUSTC)
	execute_process(COMMAND ${UNWIND_RUSTC} --print=target-libdir
		OUTPUT_VARIABLE rust_library OUTPUT_STRIP_TRAILING_WHITESPACE)
	if(NOT EXISTS ${rust_library})
		unset(UNWIND_RUSTC)
	endif()
endif()

# They have no such flags.
if(UNWIND_FLAGS)
	unset(UNWIND_GO)
	unset(UNWIND_RUSTC)
endif()
