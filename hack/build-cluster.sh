#!/usr/bin/env bash
# Builds the control plane into one multi-call binary and shows what is being compiled meanwhile.
# Usage: build-cluster.sh KUBERNETES_VERSION LDFLAGS OUTPUT
set -euo pipefail
version=$1 ldflags=$2 output=$3
cd "$(dirname "$0")/../localcluster"

echo "Building etcd and Kubernetes $version from the Go module proxy into one program."
echo "The first time this compiles some 2,300 packages: about 9 minutes on 2 cores. Later builds take seconds."

# progress shows every package on a terminal, on one line, and every 250th in a log.
progress() {
  awk -v terminal="$([ -t 1 ] && echo 1 || echo 0)" '
    / / { print; fflush(); next }               # not a package: an error or a download
    { n++ }
    terminal == 1 { printf "\r\033[K  %5d  %.70s", n, $0; fflush() }
    terminal == 0 && n % 250 == 0 { printf "  %5d packages compiled, now %s\n", n, $0; fflush() }
    END { if (terminal == 1 && n > 0) printf "\r\033[K"; if (n > 0) printf "  %5d packages compiled\n", n }'
}

go mod download
go build -v -ldflags "$ldflags" -o "$output.new" ./cmd/rollcall-local 2>&1 | progress
mv "$output.new" "$output"
