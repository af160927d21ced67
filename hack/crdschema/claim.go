package main

// adjustClaims gives claim templates the defaults that apps/v1 stores with them, and demands what no claim can do
// without. Claim templates can't be changed: without the defaults a manifest dumped from the cluster and its original
// would count as different, and without the demands a mistake could only be mended by deleting the set.
func adjustClaims(root *schema) error {
	return alter(root, []string{"spec", "volumeClaimTemplates", "[]"}, []alteration{
		{[]string{"apiVersion"}, setDefault("v1")},
		{[]string{"kind"}, setDefault("PersistentVolumeClaim")},
		{[]string{"status"}, setDefault(map[string]any{"phase": "Pending"})},
		{[]string{"status", "phase"}, setDefault("Pending")},
		{[]string{"spec", "volumeMode"}, setDefault("Filesystem")},
		{nil, require("spec")},
		{[]string{"spec"}, require("accessModes", "resources")},
		{[]string{"spec", "accessModes"}, func(s *schema) { s.MinItems = pointerTo(int64(1)) }},
		{[]string{"spec", "resources"}, require("requests")},
		{[]string{"spec", "resources", "requests"}, func(s *schema) { s.MinProperties = pointerTo(int64(1)) }},
	})
}
