# SPDX-License-Identifier: Apache-2.0
# The agent's image. `docker build .` gives the runtime; `docker build --target test .` runs the checks and
# those tests that need no privileges (the others say SKIP).

FROM debian:12-slim AS build
WORKDIR /src
COPY packages.txt ./
COPY cmake/install-packages.sh cmake/
RUN cmake/install-packages.sh build && rm -rf /var/lib/apt/lists/*
COPY . .
RUN make && cmake/image-root.sh build/flamelet /image

FROM build AS test
RUN cmake/install-packages.sh build test check && rm -rf /var/lib/apt/lists/*
RUN make check test

# No shell, no package manager: the program, its libraries, the system's CAs.
FROM scratch
COPY --from=build /image /
COPY LICENSE /usr/share/doc/flamelet/
ENTRYPOINT ["/usr/bin/flamelet"]
CMD ["agent"]
