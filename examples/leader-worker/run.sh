#!/usr/bin/env bash
# Half of the leaders can't start. They are replaced on their own, and at once when there is a better template.
source "$(dirname "$0")/../lib.sh"

begin "LeaderWorkerSet style: Parallel RollingUpdate with maxUnavailable and podProgressTimeoutSeconds"

step "Create four leaders, all at once"
run apply --filename=set.yaml
await_ready leader

step "Update to an image that does not exist: two of four are taken, two keep serving"
run patch rsts/leader --type=json --patch-file=break.yaml
await_broken leader 2
show_pods

step "After 20 seconds the broken ones are replaced, in case it was a passing fault"
run wait rsts/leader --for='jsonpath={.status.conditions[?(@.type=="Progressing")].reason}=ProgressDeadlineExceeded' --timeout="$timeout"
show_pods

step "Correct the image: the broken ones are replaced at once, the others follow two at a time"
run patch rsts/leader --type=json --patch-file=fix.yaml
await_ready leader
show_pods
show_events leader

step "Recovered. Nobody deleted a pod."
