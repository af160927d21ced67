#!/usr/bin/env bash
# A developer gets a command wrong twice, and then right. Every edit is a clean reset.
source "$(dirname "$0")/../lib.sh"

begin "Development environment: Recreate"

step "Create the set"
run apply --filename=set.yaml
await_ready experiment

step "Get the command wrong: all pods are recreated, and crash"
run patch rsts/experiment --type=json --patch-file=break.yaml
await_broken experiment 3
run wait pods --all --for='jsonpath={.status.containerStatuses[0].state.waiting.reason}=CrashLoopBackOff' --timeout="$timeout"
show_pods

step "Get it wrong again, and right at once: the last edit counts"
run patch rsts/experiment --type=json --patch-file=break-again.yaml
run patch rsts/experiment --type=json --patch-file=fix.yaml
await_ready experiment
show_pods
show_events experiment

step "Recovered. Nobody deleted a pod."
