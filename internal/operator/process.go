package operator

import (
	"flag"
	"fmt"
	"time"

	"github.com/spf13/pflag"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/rollcall-dev/rollcall/internal/features"
)

// gracePeriod is how long requests and reconciles under way have to finish when the process is told to end; shorter
// than the 30 s that Kubernetes gives a pod by default.
const gracePeriod = 20 * time.Second

// process is what the long-running subcommands have in common.
type process struct {
	kubeconfig   string
	metrics      metricsFlags
	probeAddress string
	pprofAddress string
	features     *features.Set
	logging      zap.Options
}

func (p *process) addFlags(flags *pflag.FlagSet) {
	p.features = features.New()
	p.features.AddFlag(flags)
	flags.StringVar(&p.kubeconfig, "kubeconfig", "",
		"Path of a kubeconfig file. Without it, $KUBECONFIG, ~/.kube/config and the pod's service account are tried, in this order.")
	p.metrics.add(flags)
	flags.StringVar(&p.pprofAddress, "pprof-bind-address", "",
		"Address at which profiles are served under /debug/pprof, without authentication: best one of this machine, as 127.0.0.1:6060. None by default.")
	flags.StringVar(&p.probeAddress, "health-probe-bind-address", ":8081",
		"Address at which /healthz and /readyz are served. \"0\" serves none.")
	logging := flag.NewFlagSet("zap", flag.ContinueOnError)
	p.logging.BindFlags(logging)
	flags.AddGoFlagSet(logging)
}

// connect sets logging up and returns the way to the API server.
func (p *process) connect() (*rest.Config, error) {
	ctrl.SetLogger(zap.New(zap.UseFlagOptions(&p.logging)))
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = p.kubeconfig
	config, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, nil).ClientConfig()
	if err != nil {
		return nil, fmt.Errorf("finding the API server (use --kubeconfig): %w", err)
	}
	return rest.AddUserAgent(config, "rollcall"), nil
}

// newManager completes the options with what every process serves: health, metrics and the state of the gates.
func (p *process) newManager(config *rest.Config, options manager.Options) (manager.Manager, error) {
	options.HealthProbeBindAddress = p.probeAddress
	options.PprofBindAddress = p.pprofAddress
	grace := gracePeriod
	options.GracefulShutdownTimeout = &grace
	var err error
	if options.Metrics, err = p.metrics.options(); err != nil {
		return nil, err
	}
	mgr, err := manager.New(config, options)
	if err != nil {
		return nil, fmt.Errorf("setting the process up: %w", err)
	}
	if err := mgr.AddHealthzCheck("ping", healthz.Ping); err != nil {
		return nil, fmt.Errorf("adding the health check: %w", err)
	}
	if err := metrics.Registry.Register(p.features.Collector()); err != nil {
		return nil, fmt.Errorf("registering the metric of the feature gates: %w", err)
	}
	return mgr, nil
}
