# SPDX-License-Identifier: Apache-2.0
if(FLAMELET_SANITIZE)
	target_compile_options(flamelet_flags INTERFACE
		-fsanitize=${FLAMELET_SANITIZE} -fno-sanitize-recover=all)
	target_link_options(flamelet_flags INTERFACE -fsanitize=${FLAMELET_SANITIZE})
endif()
