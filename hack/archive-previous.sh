#!/usr/bin/env bash
# Stores the sources of an operator for test/upgrade, which upgrades from it and downgrades to it. They are stored, not
# looked up in the history, because a clone may not have it. After a release, give its tag.
# Usage: hack/archive-previous.sh COMMIT
set -euo pipefail
cd "$(dirname "$0")/.."

commit=${1:?is missing: the commit or tag of the operator to upgrade from}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
git archive "$commit" api cmd/rollcall internal config/crd go.mod go.sum | tar -x -C "$scratch"
# What the operator is not made of stays out.
find "$scratch" -name '*_test.go' -delete
find "$scratch" -name testdata -type d -prune -exec rm -rf {} +
rm -rf "$scratch/internal/simulation" "$scratch/internal/testkit" "$scratch/internal/cli" "$scratch/internal/view"
git rev-parse "$commit" >"$scratch/COMMIT"
tar -C "$scratch" --sort=name --owner=0 --group=0 --numeric-owner --mtime='2026-01-01 00:00Z' -cf - . |
  gzip -9n >test/upgrade/testdata/previous.tar.gz
