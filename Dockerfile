# The operator's image, for those who build with a container engine:
#
#   docker buildx build --platform linux/amd64,linux/arm64 --build-arg VERSION=v0.1.0 --tag rollcall .
#
# `make release` makes an image with the same program without one (hack/release).

# The compiler runs on the machine that builds, whatever it builds for.
FROM --platform=$BUILDPLATFORM golang:1.26 AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY api api
COPY cmd cmd
COPY internal internal
COPY hack/build-program.sh hack/
ARG TARGETOS TARGETARCH VERSION=unknown
RUN VERSION=$VERSION hack/build-program.sh $TARGETOS/$TARGETARCH ./cmd/rollcall /rollcall

FROM gcr.io/distroless/static:nonroot
COPY --from=build /rollcall /rollcall
USER 65532:65532
ENTRYPOINT ["/rollcall"]
