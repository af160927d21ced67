package main

// adjustClaim gives a claim template the defaults that apps/v1 stores with it, and demands what no claim can do without.
// Claim templates can't be changed: without the defaults a manifest dumped from the cluster and its original would count
// as different, and without the demands a mistake could only be mended by deleting the set.
func adjustClaim(claim *schema) {
	setDefault(claim, "apiVersion", "v1")
	setDefault(claim, "kind", "PersistentVolumeClaim")
	setDefault(claim, "status", map[string]any{"phase": "Pending"})
	change(claim, "status", func(status *schema) { setDefault(status, "phase", "Pending") })
	claim.Required = []string{"spec"}
	change(claim, "spec", func(spec *schema) {
		setDefault(spec, "volumeMode", "Filesystem")
		spec.Required = []string{"accessModes", "resources"}
		change(spec, "accessModes", func(modes *schema) { modes.MinItems = pointerTo(int64(1)) })
		change(spec, "resources", func(resources *schema) {
			resources.Required = []string{"requests"}
			change(resources, "requests", func(requests *schema) { requests.MinProperties = pointerTo(int64(1)) })
		})
	})
}

func setDefault(s *schema, name string, value any) {
	change(s, name, func(property *schema) { property.Default = encoded(value) })
}

// change edits a property that is known to be there.
func change(s *schema, name string, with func(*schema)) {
	property := s.Properties[name]
	with(&property)
	s.Properties[name] = property
}
