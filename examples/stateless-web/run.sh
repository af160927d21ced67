#!/usr/bin/env bash
# A typo in the resources leaves a pod Pending; the progress timeout clears it for the corrected template.
source "$(dirname "$0")/../lib.sh"

begin "Stateless web application: RollingUpdate with podProgressTimeoutSeconds"

step "Create the set"
run apply --filename=set.yaml
await_ready web

step "Ask for 100k CPUs instead of 100m: web-2 is taken, and no node has room for it"
run patch rsts/web --type=json --patch-file=break.yaml
await_broken web 1
run wait pod/web-2 --for=condition=PodScheduled=false --timeout="$timeout"
show_pods

step "Correct the typo: web-2 is replaced when its 20 seconds are over, and the others follow"
run patch rsts/web --type=json --patch-file=fix.yaml
await_ready web
show_pods
show_events web

step "Recovered. Nobody deleted a pod."
