#!/usr/bin/env bash
# Fails when the operator calls code with a known vulnerability. Where the database (GOVULNDB, https://vuln.go.dev by
# default) can't be reached, nothing is checked, and it says so.
set -euo pipefail
cd "$(dirname "$0")/.."

code=0
output=$(bin/govulncheck ./cmd/... 2>&1) || code=$?
if [[ $code -ne 0 && $code -ne 3 && $output =~ (dial\ tcp|no\ such\ host|i/o\ timeout|connection\ refused|TLS\ handshake|403|502|503|504) ]]; then
  echo "NOT CHECKED for vulnerabilities: the database can't be reached (set GOVULNDB to one that can)."
  echo "$output" | tail -n 1
  exit 0
fi
echo "$output"
exit "$code"
