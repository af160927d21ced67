# What the stories share. Every run.sh sources this file and is made of these:
#
#   begin "Title"           open a namespace for the story; it is removed at the end
#   step "Break it"         a headline
#   run get pods            print a kubectl command and run it there
#   await_broken SET N      until the update has made N pods and they leave the set not ready
#   await_ready SET         until the set is ready again, at the template it has now
#   fail "why"              give up
#
# A command that fails ends the story, which then shows the state it ended in.
# shellcheck shell=bash

set -euo pipefail

kubectl=${KUBECTL:-kubectl}
timeout=${TIMEOUT:-120s}
here=$(cd "$(dirname "$0")" && pwd)
namespace=${NAMESPACE:-rollcall-example-$(basename "$here")}

# begin takes a namespace that is given, and leaves it as it is in the end; one
# of its own it removes.
begin() {
  printf '%s\nEverything happens in namespace %s.\n' "$1" "$namespace"
  cd "$here"
  trap 'finish $?' EXIT
  if [[ -z ${NAMESPACE:-} ]]; then
    "$kubectl" create namespace "$namespace"
    is_ours=yes
  fi
}

# finish shows what there is if the story failed, and removes what it made.
finish() {
  if [[ $1 -ne 0 ]]; then
    step "FAILED: the set did not recover, or a command above went wrong. This is how it stands:" >&2
    run get rsts,pods --output=wide >&2 || true
    run describe rsts >&2 || true
  fi
  if [[ -n ${is_ours:-} ]]; then
    step "Clean up"
    "$kubectl" delete namespace "$namespace" --timeout="$timeout"
  fi
  exit "$1"
}

step() { printf '\n== %s\n' "$*"; }

run() {
  printf '$ kubectl%s\n' "$(quoted "$@")"
  "$kubectl" --namespace="$namespace" "$@"
}

# quoted prints arguments as one would type them.
quoted() {
  local argument
  for argument in "$@"; do
    case $argument in
      *[!A-Za-z0-9_./:=,@%+-]*) printf " '%s'" "$argument" ;;
      *) printf ' %s' "$argument" ;;
    esac
  done
}

# await_broken waits for the set's own word first: before that, the counts in its
# status are about the template before.
await_broken() {
  run wait "rsts/$1" --for=condition=Ready=false --timeout="$timeout"
  run wait "rsts/$1" --for="jsonpath={.status.updatedReplicas}=$2" --timeout="$timeout"
}

await_ready() { run wait "rsts/$1" --for=condition=Ready --timeout="$timeout"; }

# show_pods shows which pod is at which revision.
show_pods() { run get pods --label-columns=controller-revision-hash; }

# show_events shows what the operator did, and why.
show_events() { run events --for="statefulset.apps.rollcall.dev/$1"; }

fail() {
  printf '%s\n' "$*" >&2
  exit 1
}
