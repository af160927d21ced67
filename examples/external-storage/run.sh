#!/usr/bin/env bash
# An upgrade whose pods never get ready is corrected. Pods come and go, the claims with the data stay.
source "$(dirname "$0")/../lib.sh"

# claims prints the identity of every claim: one that was deleted and made anew has another.
claims() {
  "$kubectl" --namespace="$namespace" get persistentvolumeclaims \
    --output=jsonpath='{range .items[*]}{.metadata.name}{" "}{.metadata.uid}{"\n"}{end}'
}

begin "External storage: Recreate"

step "Create the set, with a claim for each pod"
run apply --filename=set.yaml
await_ready database
before=$(claims)
printf '%s\n' "$before"

step "Upgrade with a wrong probe: all pods stop, and database-0 never gets ready"
run patch rsts/database --type=json --patch-file=break.yaml
await_broken database 1
run wait pod/database-0 --for='jsonpath={.status.phase}=Running' --timeout="$timeout"
show_pods

step "Correct the probe: database-0 is cleared, and all start again"
run patch rsts/database --type=json --patch-file=fix.yaml
await_ready database
show_pods
show_events database

step "Compare the claims"
after=$(claims)
printf '%s\n' "$after"
[[ $after == "$before" ]] || fail "The claims are not the ones from before."

step "Recovered. Nobody deleted a pod, and every claim is the one from before."
