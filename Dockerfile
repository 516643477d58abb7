# The image of every Windlass process. The result holds Node, the libraries it links with and the bundled programs:
# no shell, no package manager, no build tool. It needs no writable path.
#
#   docker build -t windlass .
#   docker run --rm windlass --help

ARG NODE_IMAGE=docker.io/library/node:24-bookworm-slim

FROM ${NODE_IMAGE} AS build
# Path of a CA bundle, mounted into the build, for networks whose proxy ends TLS.
ARG NODE_EXTRA_CA_CERTS
WORKDIR /src
COPY package.json package-lock.json .npmrc ./
# No install script is needed to bundle, and the node package's would fetch the runtime that is already here.
RUN npm ci --ignore-scripts
COPY dev/build dev/build
RUN dev/build/minimal-root /root-fs
COPY crds crds
COPY proto proto
COPY lib lib
COPY controllers controllers
COPY api api
COPY gateway gateway
COPY relay relay
COPY edge edge
COPY client client
COPY cli cli
RUN node dev/build/main.ts /root-fs/app && echo '{"type":"module"}' >/root-fs/app/package.json

FROM scratch
ARG VERSION=0.1.0
ARG REVISION=unknown
LABEL org.opencontainers.image.title="windlass" \
      org.opencontainers.image.description="Controllers, API and command line of Windlass, a Kubernetes operator for workflows" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}"
COPY --from=build /root-fs /
# Each thread of the allocator's own pools keeps what it once needed; two serve all of them.
ENV PATH=/usr/local/bin NODE_ENV=production MALLOC_ARENA_MAX=2
USER 65532:65532
WORKDIR /app
ENTRYPOINT ["/usr/local/bin/node", "/app/windlass.js"]
CMD ["--help"]
