# SPDX-License-Identifier: Apache-2.0
if(FLAMELET_SANITIZE)
	target_compile_options(flamelet_flags INTERFACE
		-fsanitize=${FLAMELET_SANITIZE} -fno-sanitize-recover=all)
	target_link_options(flamelet_flags INTERFACE -fsanitize=${FLAMELET_SANITIZE})
endif()
if(FLAMELET_FUZZ)
	# Coverage feedback from all code, not from the fuzz target alone.
	target_compile_options(flamelet_flags INTERFACE -fsanitize=fuzzer-no-link)
	target_link_options(flamelet_flags INTERFACE -fsanitize=fuzzer-no-link)
endif()
