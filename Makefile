# SPDX-License-Identifier: Apache-2.0
# A short index of commands; the build itself is CMake's (CMakeLists.txt, CMakePresets.json).

SECONDS ?= 60
JOBS := $(shell nproc)

# CTest does not show what a test prints that passes; this table is worth to be seen, as it grows.
ORACLE_TABLE := build-dev/tests/oracle/unwind/oracle.txt

# Where arm64 is cross-built, the sections of packages.txt for that. `make test-kernels ARM64=` leaves it out.
ARM64 := $(if $(filter x86_64,$(shell uname -m)),arm64 arm64-kernels)

# $(call build,PRESET,DIRECTORY[,TARGET]): configures and builds. A directory keeps the generator it has.
ninja = $(if $(shell command -v ninja),-G Ninja)
# `make UI=off` leaves out the viewer of pages of HTML (ui/), which needs esbuild.
ui = -DFLAMELET_UI=$(if $(filter off,$(UI)),OFF,ON)
build = cmake --preset $(1) $(ui) $(if $(wildcard $(2)/CMakeCache.txt),,$(ninja)) >/dev/null && \
	cmake --build $(2) -j $(JOBS) $(if $(3),--target $(3))

# $(call ctest,DIRECTORY,LABELS): runs its tests. In CI, a test that failed runs once more, as a virtual machine
# can stand still for seconds; CTest prints both runs.
ctest = ctest --test-dir $(1) --output-on-failure $(2) -j $(JOBS) $(if $(CI),--repeat until-pass:2)

# $(call optimized,TARGETS): builds what the release build leaves out, with its flags, in its directory.
optimized = cmake --preset release -DFLAMELET_TESTS=ON $(ui) $(if $(wildcard build/CMakeCache.txt),,$(ninja)) >/dev/null && \
	cmake --build build -j $(JOBS) --target $(1)

.PHONY: all deps demo test test-kernels test-runtimes check bench soak fuzz e2e cluster image clean help

all: ## build build/flamelet (optimized, with debug information); UI=off leaves out the viewer
	$(call build,release,build)

deps: ## install the Debian packages that are missing, for everything below
	@cmake/install-packages.sh build test check

demo: ## install what the build needs, build, and profile this machine, or on an idle one three small programs, for ten seconds
	@cmake/install-packages.sh build
	@$(MAKE) --no-print-directory all
	@demo/run build/flamelet build/demo flamelet-demo.html

test: deps ## install what is missing (root), build with warnings as errors and run all tests but those on a real Kubernetes and on other kernels
	$(call build,dev,build-dev)
	@: >$(ORACLE_TABLE)
	@tail -f $(ORACLE_TABLE) & tail=$$!; trap "kill $$tail" EXIT; \
		$(call ctest,build-dev,-LE '^(cluster|kernels)$$')

test-kernels: ## try Flamelet on other kernels, in virtual machines, and print the table of docs/platforms.md
	@cmake/install-packages.sh build test kernels $(ARM64)
	$(call build,dev,build-dev)
	ctest --test-dir build-dev --verbose -L '^kernels$$'
ifdef ARM64
	$(call build,arm64,build-arm64,arm64_guest)
	ctest --test-dir build-arm64 --verbose -L '^kernels$$'
endif

test-runtimes: ## record programs in many versions of Python, Node and Java whose stacks are known; downloads 1 GB the first time (root)
	@cmake/install-packages.sh build test
	$(call build,release,build)
	/usr/bin/python3 -B tests/runtime/matrix.py build/flamelet --hz 997 --seconds 2.2
	/usr/bin/python3 -B tests/runtime/check_starts.py build/flamelet
	$(call optimized,python_lines python_names runtime_stacks probe)
	/usr/bin/python3 -B tests/oracle/python/compare.py lines build/tests/oracle/python/python_lines --versions
	/usr/bin/python3 -B tests/oracle/python/compare.py names build/tests/oracle/python/python_names --versions
	/usr/bin/python3 -B tests/oracle/python/compare_places.py build/tests/runtime/probe/probe --versions
	/usr/bin/python3 -B tests/oracle/python/compare_stacks.py build/tests/oracle/runtimes/runtime_stacks --versions
	/usr/bin/python3 -B tests/oracle/java/compare_shares.py build/flamelet
	/usr/bin/python3 -B tests/oracle/java/compare_stacks.py build/tests/oracle/runtimes/runtime_stacks --versions
	/usr/bin/python3 -B tests/oracle/node/compare_map.py build/tests/oracle/runtimes/runtime_stacks --versions

check: ## both compilers, unit tests under ASan and UBSan, lint, clang-tidy
	@cmake/install-packages.sh -c build test check
	$(call build,dev,build-dev)
	$(call build,asan,build-asan)
	$(call ctest,build-asan,-L '^(unit|corpus)$$')
	$(call build,clang,build-clang)
	$(call ctest,build-dev,-L '^lint$$')
	tests/lint/check_tidy build-clang

bench: deps ## print what a sample costs: BPF, agent, memory, unwind tables (root)
	$(call optimized,bench)

soak: SECONDS = 600
soak: deps ## run the agent beside churning processes for SECONDS=600, and watch its memory (root)
	$(call optimized,flamelet soak_loads)
	/usr/bin/python3 tests/soak/soak.py build/flamelet build/tests/soak $(SECONDS)

fuzz: deps ## run every fuzz target for SECONDS=60 on its corpus, about an hour in all
	$(call build,fuzz,build-fuzz)
	tests/fuzz/run build-fuzz $(SECONDS)

e2e: deps ## run all end-to-end tests, with what they print; the first run builds Kubernetes (root)
	$(call build,dev,build-dev)
	ctest --test-dir build-dev --verbose -L '^e2e$$'

cluster: deps ## a real Kubernetes on this machine to try things on, with pods to profile (root)
	$(if $(FLAMELET),,$(call build,release,build))
	@/usr/bin/python3 e2e/cluster/sandbox.py up $(or $(FLAMELET),build/flamelet)

image: ## build the container image, with git's version (docker, podman or buildah); PLATFORM=linux/arm64 for another one
	cmake/image-build.sh $(if $(PLATFORM),--platform $(PLATFORM))

clean: ## remove everything that was built
	rm -rf build build-dev build-asan build-tsan build-clang build-fuzz build-arm64 flamelet-demo.html

help: ## this list
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "%-13s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)
