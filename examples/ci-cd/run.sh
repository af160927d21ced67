#!/usr/bin/env bash
# A pipeline deploys an image that does not exist, then the right one.
source "$(dirname "$0")/../lib.sh"

begin "CI/CD platform: EnforcedRollingUpdate"

step "Deploy version 1.28"
run apply --filename=set.yaml
await_ready app

step "Deploy an image that does not exist: app-2 is taken, and can't start"
run patch rsts/app --type=json --patch-file=break.yaml
await_broken app 1
run wait pod/app-2 --for='jsonpath={.status.containerStatuses[0].state.waiting.reason}=ImagePullBackOff' --timeout="$timeout"
show_pods

step "Deploy the right image: app-2 is replaced although it is broken, and the others follow"
run patch rsts/app --type=json --patch-file=fix.yaml
await_ready app
show_pods
show_events app

step "Recovered. Nobody deleted a pod."
