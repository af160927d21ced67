// Package config gives programs the manifests of this folder that they need at
// run time.
package config

import _ "embed"

// CRD is the CustomResourceDefinition of sets.
//
//go:embed crd/apps.rollcall.dev_statefulsets.yaml
var CRD []byte
