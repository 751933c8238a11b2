# SPDX-License-Identifier: Apache-2.0
enable_testing()
pkg_check_modules(CMOCKA REQUIRED IMPORTED_TARGET cmocka)

# An allocation that cannot succeed is an error path to test, not an error of the test.
set(FLAMELET_TEST_ENVIRONMENT
	ASAN_OPTIONS=allocator_may_return_null=1:detect_stack_use_after_return=1
	TSAN_OPTIONS=allocator_may_return_null=1)

# It only bounds a hang: on a busy machine, a test of seconds takes minutes.
set(FLAMELET_UNIT_SECONDS 600)

# flamelet_unit_test(name MODULES module …): <name>.c below tests/unit as a cmocka program of that name.
# Fixtures are found through FIXTURES_DIR. The global property FLAMELET_UNIT_TESTS has the names of all.
function(flamelet_unit_test name)
	cmake_parse_arguments(T "" "" "MODULES" ${ARGN})
	add_executable(${name} ${name}.c)
	target_include_directories(${name} PRIVATE ${CMAKE_SOURCE_DIR}/tests/unit/support)
	target_link_libraries(${name} PRIVATE ${T_MODULES} PkgConfig::CMOCKA)
	target_compile_definitions(${name} PRIVATE
		FIXTURES_DIR="${CMAKE_SOURCE_DIR}/tests/fixtures")
	set_property(GLOBAL APPEND PROPERTY FLAMELET_UNIT_TESTS ${name})
	add_test(NAME unit/${name} COMMAND ${name})
	set_tests_properties(unit/${name} PROPERTIES LABELS unit SKIP_RETURN_CODE 77
		TIMEOUT ${FLAMELET_UNIT_SECONDS}
		ENVIRONMENT "${FLAMELET_TEST_ENVIRONMENT}")
endfunction()

# Areas whose tests look at what the whole machine does, or take all of it: each of them runs alone.
set(FLAMELET_SERIAL_AREAS e2e collector unwind bpf_kernel runtime)

# flamelet_script_test(area/name COMMAND … [TIMEOUT s]): a test that says SKIP by exit status 77. Its
# label is the area: unit, corpus, lint, e2e.
function(flamelet_script_test name)
	cmake_parse_arguments(T "" "TIMEOUT" "COMMAND" ${ARGN})
	add_test(NAME ${name} COMMAND ${T_COMMAND})
	string(REGEX REPLACE "/.*" "" area ${name})
	set_tests_properties(${name} PROPERTIES LABELS ${area} SKIP_RETURN_CODE 77)
	if(area IN_LIST FLAMELET_SERIAL_AREAS)
		set_tests_properties(${name} PROPERTIES RUN_SERIAL TRUE)
	endif()
	if(T_TIMEOUT)
		set_tests_properties(${name} PROPERTIES TIMEOUT ${T_TIMEOUT})
	endif()
endfunction()

# flamelet_fuzz_target(name [SOURCE file.c] MODULES module …): tests/fuzz/<name>.c, or SOURCE, with libFuzzer; run
# on its corpus as a plain test in every build.
function(flamelet_fuzz_target name)
	cmake_parse_arguments(T "" "SOURCE" "MODULES" ${ARGN})
	if(NOT T_SOURCE)
		set(T_SOURCE ${name}.c)
	endif()
	if(FLAMELET_FUZZ)
		add_executable(${name} ${T_SOURCE})
		target_compile_options(${name} PRIVATE -fsanitize=fuzzer)
		target_link_options(${name} PRIVATE -fsanitize=fuzzer)
	else()
		add_executable(${name} ${T_SOURCE} replay_corpus.c)
		add_test(NAME corpus/${name} COMMAND ${name} ${CMAKE_SOURCE_DIR}/tests/corpus/${name})
		set_tests_properties(corpus/${name} PROPERTIES LABELS corpus TIMEOUT ${FLAMELET_UNIT_SECONDS})
	endif()
	target_link_libraries(${name} PRIVATE ${T_MODULES})
endfunction()

# flamelet_logs_requests(test …): tests that export, to receivers that keep what they are sent
# (tests/conformance/request_log.py). After the last of them conformance/all_requests checks it. To be called in the
# directory of the tests, after their other properties are set.
set(FLAMELET_OTLP_LOG ${CMAKE_BINARY_DIR}/otlp-requests)
function(flamelet_logs_requests)
	set_property(TEST ${ARGN} APPEND PROPERTY ENVIRONMENT FLAMELET_OTLP_LOG=${FLAMELET_OTLP_LOG})
	set_property(TEST ${ARGN} APPEND PROPERTY FIXTURES_REQUIRED otlp_requests)
endfunction()
