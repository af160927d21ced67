#!/usr/bin/env bash
# Makes a release in dist/:
#   install.yaml                 everything to apply, for `kubectl apply --server-side`
#   rollcall-*.tgz               the chart
#   image/                       the image for linux/amd64 and linux/arm64, as an OCI layout
#   kubectl-rollcall-OS-ARCH     the plugin
#   sbom.cdx.json                what the operator is made of
#   SHA256SUMS
# Usage: VERSION=v0.1.0 hack/release.sh
set -euo pipefail
cd "$(dirname "$0")/.."

: "${VERSION:?is the version to release, as v0.1.0}"
export VERSION
dist=$PWD/dist
mkdir -p "$dist"
rm -rf "$dist"/{image,install.yaml,sbom.cdx.json,SHA256SUMS} "$dist"/rollcall-* "$dist"/kubectl-rollcall-*

programs=()
for arch in amd64 arm64; do
  echo "Building the operator for linux/$arch"
  hack/build-program.sh "linux/$arch" ./cmd/rollcall "$dist/rollcall-linux-$arch"
  programs+=("linux/$arch=$dist/rollcall-linux-$arch")
done
for platform in ${PLUGIN_PLATFORMS:-linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64}; do
  echo "Building the plugin for $platform"
  hack/build-program.sh "$platform" ./cmd/kubectl-rollcall "$dist/kubectl-rollcall-${platform/\//-}$([[ $platform == windows/* ]] && echo .exe || true)"
done

(cd hack/release && go build -o "$dist/.release" .)
digest=$("$dist/.release" image -output "$dist/image" -version "$VERSION" -revision "$(git rev-parse HEAD 2>/dev/null || true)" "${programs[@]}")
"$dist/.release" sbom "$dist/rollcall-linux-amd64" >"$dist/sbom.cdx.json"
rm "$dist/.release"

bin/helm template rollcall charts/rollcall --namespace rollcall-system \
  --set createNamespace=true --set "image.tag=$VERSION" --set "image.digest=$digest" >"$dist/install.yaml"
bin/helm package charts/rollcall --app-version "$VERSION" --destination "$dist" >/dev/null

(cd "$dist" && sha256sum install.yaml sbom.cdx.json rollcall-* kubectl-rollcall-* >SHA256SUMS)
echo "The release $VERSION is in dist/; its image is $digest."
