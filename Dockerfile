# syntax=docker/dockerfile:1

# The build runs on the builder's own architecture and compiles for the target's: Go crosses, emulation crawls.
FROM --platform=$BUILDPLATFORM golang:1.26-bookworm AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN --mount=type=cache,target=/go/pkg/mod go mod download
COPY . .
ARG TARGETOS
ARG TARGETARCH
# .git is in the context, so that `sundry version` knows its revision. /data is made here because the final image has
# no shell to make it with.
RUN --mount=type=cache,target=/go/pkg/mod \
    --mount=type=cache,target=/root/.cache/go-build \
    CGO_ENABLED=0 GOOS=$TARGETOS GOARCH=$TARGETARCH go build -trimpath -ldflags='-s -w' -o /out/sundry . \
    && mkdir /out/data

# Static: certificates, time zones and an unprivileged user; no shell, no package manager.
FROM gcr.io/distroless/static-debian12:nonroot
COPY --from=build /out/sundry /usr/bin/sundry
COPY --from=build --chown=65532:65532 /out/data /data
ENV ADDR=0.0.0.0:8080 \
    DATA_DIR=/data \
    LOG_FORMAT=json
USER 65532:65532
VOLUME /data
EXPOSE 8080
# Asks /readyz at METRICS_ADDR, where a worker listens too, or else at ADDR.
HEALTHCHECK --interval=10s --timeout=3s --start-period=15s --retries=3 CMD ["/usr/bin/sundry", "healthcheck"]
ENTRYPOINT ["/usr/bin/sundry"]
