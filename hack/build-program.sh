#!/usr/bin/env bash
# Builds a program so that the same sources make the same bytes, whoever builds them and where: no paths, no build ids, no
# state of the version control, no C.
# Usage: hack/build-program.sh OS/ARCH PACKAGE OUTPUT     (VERSION is linked in)
set -euo pipefail

if [[ $# -ne 3 ]]; then
  sed -n '2,4s/^# //p' "$0" >&2
  exit 2
fi
internal=github.com/rollcall-dev/rollcall/internal
version=${VERSION:-unknown}
CGO_ENABLED=0 GOOS=${1%/*} GOARCH=${1#*/} GOFLAGS= ${GO:-go} build -trimpath -buildvcs=false \
  -ldflags "-s -w -buildid= -X $internal/operator.version=$version -X $internal/cli.version=$version" -o "$3" "$2"
