#!/usr/bin/env bash
# Builds the image twice, from two folders, and fails unless both have the same digest. For this machine's architecture
# alone: compiling for another one takes minutes, and `make release` does it.
set -euo pipefail
cd "$(dirname "$0")/.."

root=$PWD
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
platform=linux/$(go env GOARCH)
export VERSION=check

(cd hack/release && go build -o "$scratch/release" .)

# digest builds program and image in a folder and prints the image's digest.
digest() {
  (cd "$1" && "$root/hack/build-program.sh" "$platform" ./cmd/rollcall "$1/rollcall")
  "$scratch/release" image -output "$1/image" -version "$VERSION" "$platform=$1/rollcall"
}

for copy in one two/elsewhere; do
  mkdir -p "$scratch/$copy"
  cp -r api cmd internal go.mod go.sum "$scratch/$copy/"
done
one=$(digest "$scratch/one")
two=$(digest "$scratch/two/elsewhere")
if [[ $one != "$two" ]]; then
  echo "The same sources made two images, $one and $two: the build is not reproducible." >&2
  exit 1
fi
"$scratch/release" sbom "$scratch/one/rollcall" >"$scratch/sbom.json"
grep -q '"name": "sigs.k8s.io/controller-runtime"' "$scratch/sbom.json"
echo "The image for $platform is reproducible: $one"
