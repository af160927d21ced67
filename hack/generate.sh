#!/usr/bin/env bash
# Regenerates what is made from the types in api/v1:
#   api/v1/zz_generated.deepcopy.go                   deep copies
#   config/crd/apps.rollcall.dev_statefulsets.yaml    the CRD, adjusted by hack/crdschema
#   docs/api.md                                       the reference, between its "generated" marks, by hack/apidocs
#   charts/rollcall/manifests/                        copies of what is in config/ and of the alerts: a chart must have its files with it
# Usage: hack/generate.sh        (CONTROLLER_GEN names the controller-gen to use; bin/controller-gen by default)
set -euo pipefail

cd "$(dirname "$0")/.."
controller_gen=${CONTROLLER_GEN:-bin/controller-gen}
crd=config/crd/apps.rollcall.dev_statefulsets.yaml

"$controller_gen" object paths=./api/...
mkdir -p "$(dirname "$crd")"
generated=$("$controller_gen" crd:generateEmbeddedObjectMeta=true paths=./api/... output:crd:stdout)
adjusted=$(go run ./hack/crdschema <<<"$generated")
printf '%s\n' "$adjusted" >"$crd"
go run ./hack/apidocs "$crd" docs/api.md

rm -f charts/rollcall/manifests/*.yaml
cp "$crd" charts/rollcall/manifests/crd.yaml
cp config/rbac/*.yaml config/webhook/*.yaml monitoring/alerts.yaml charts/rollcall/manifests/
