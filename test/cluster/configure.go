package cluster

// Configure sets in what the control plane of this test binary differs from others. TestMain calls it, before Main.
func Configure(settings Settings) { shared.settings = settings }
