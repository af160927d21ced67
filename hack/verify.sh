#!/usr/bin/env bash
# Fails when regenerating would change a file, or when a module file is not tidy.
set -euo pipefail
cd "$(dirname "$0")/.."

# state names every file of the work tree with its contents, generated or not.
state() {
  git ls-files --cached --others --exclude-standard -z | sort -z | xargs -0 sha256sum 2>/dev/null
}

before=$(state)
hack/generate.sh
if ! changed=$(diff <(echo "$before") <(state)); then
  echo "These generated files were not fresh; they are now, commit them:" >&2
  echo "$changed" | awk '/^[<>]/ {print "  " $3}' | sort -u >&2
  exit 1
fi

for module in . localcluster test/monitoring hack/release; do
  if ! (cd "$module" && go mod tidy -diff); then
    echo "The module files of $module are not tidy; run \`go mod tidy\` there." >&2
    exit 1
  fi
done
echo "Generated files and module files are fresh."
