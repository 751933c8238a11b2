# SPDX-License-Identifier: Apache-2.0
# The agent's image. `docker build .` gives the runtime; `docker build --target test .` runs the checks and
# those tests that need no privileges (the others say SKIP). `make image` does the same with git's version.
#
# For linux/amd64 and linux/arm64: `docker buildx build --platform linux/amd64,linux/arm64 .` A platform that is
# not the builder's own is cross-built, without emulation; where there is no cross compiler for it,
# `--build-arg BUILDPLATFORM=linux/amd64` has it emulated.

# The project's own version, where nothing else is said.
ARG VERSION=0.1.0
ARG REVISION=unknown

FROM --platform=$BUILDPLATFORM docker.io/library/debian:12-slim AS build
ARG TARGETARCH
WORKDIR /src
COPY packages.txt ./
COPY cmake/install-packages.sh cmake/arm64-sysroot.sh cmake/image-program.sh cmake/
RUN cmake/image-program.sh packages "$TARGETARCH" && rm -rf /var/lib/apt/lists/*
COPY . .
ARG VERSION
RUN cmake/image-program.sh build "$TARGETARCH" -DFLAMELET_VERSION="$VERSION"
# The date in the bill of materials: now, unless it is given.
ARG SOURCE_DATE_EPOCH
RUN cmake/image-root.sh build/flamelet /image

FROM build AS test
RUN cmake/install-packages.sh build test check && rm -rf /var/lib/apt/lists/*
RUN make check test

# No shell, no package manager, nothing that can be written to: the program, its libraries, the system's CAs,
# licences and the bill of materials.
FROM scratch
ARG VERSION
ARG REVISION
LABEL org.opencontainers.image.title="Flamelet" \
	org.opencontainers.image.description="Whole-node CPU profiler for Kubernetes, by eBPF" \
	org.opencontainers.image.source="https://github.com/flamelet/flamelet" \
	org.opencontainers.image.licenses="Apache-2.0 AND (GPL-2.0-only OR BSD-2-Clause)" \
	org.opencontainers.image.version="$VERSION" \
	org.opencontainers.image.revision="$REVISION"
COPY --from=build /image /
ENTRYPOINT ["/usr/bin/flamelet"]
CMD ["agent"]
