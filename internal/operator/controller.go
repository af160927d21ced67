package operator

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/rollcall-dev/rollcall/internal/controller"
)

// leaseName is the lease that the leader holds.
const leaseName = "rollcall-controller"

// controllerProcess is the controller with its own flags.
type controllerProcess struct {
	process
	leaderElect     bool
	leaseNamespace  string
	concurrentSyncs int
	namespaces      []string
}

func newControllerCommand() *cobra.Command {
	var p controllerProcess
	command := &cobra.Command{
		Use:   "controller",
		Short: "Run the controller of StatefulSets",
		Long: "Run the controller: it creates, scales, heals and updates the pods of StatefulSets of apps.rollcall.dev.\n" +
			"It runs in a cluster as well as outside of one with a kubeconfig. It needs the CRD, but no webhook.",
		Example: "  # Try it against the cluster that kubectl talks to\n" +
			"  rollcall controller --leader-elect=false\n\n" +
			"  # Look after two namespaces only, without the EnforcedRollingUpdate strategy\n" +
			"  rollcall controller --watch-namespaces=databases,queues \\\n" +
			"    --feature-gates=EnforcedRollingUpdateInStatefulSet=false",
		Args: cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error { return p.run(command.Context()) },
	}
	flags := command.Flags()
	p.addFlags(flags)
	flags.BoolVar(&p.leaderElect, "leader-elect", true,
		"Act only while holding the lease "+leaseName+", so that of several replicas one acts and the others stand by.")
	flags.StringVar(&p.leaseNamespace, "leader-elect-namespace", "",
		"Namespace of the lease. In a cluster it is the pod's own by default; outside of one it must be given.")
	flags.IntVar(&p.concurrentSyncs, "concurrent-syncs", controller.DefaultConcurrentSyncs(),
		"How many sets are worked on at a time. The default follows from the number of processors.")
	flags.StringSliceVar(&p.namespaces, "watch-namespaces", nil,
		"Namespaces to look after, separated by commas. All by default.")
	return command
}

func (p *controllerProcess) run(ctx context.Context) error {
	if err := p.check(); err != nil {
		return err
	}
	config, err := p.connect()
	if err != nil {
		return err
	}
	// The API server shares itself out fairly among its clients; throttling here only adds delay.
	config.QPS = -1
	mgr, err := p.newControllerManager(config)
	if err != nil {
		return err
	}
	options := controller.Options{Gates: p.features.Gates(), ConcurrentSyncs: p.concurrentSyncs, Registerer: metrics.Registry}
	if err := controller.Setup(ctx, mgr, options); err != nil {
		return err
	}
	if err := mgr.Start(ctx); err != nil {
		return fmt.Errorf("running the controller: %w", err)
	}
	return nil
}

// inClusterNamespace is the file in which a pod finds the name of its namespace; tests run in pods, too, and look elsewhere.
var inClusterNamespace = "/var/run/secrets/kubernetes.io/serviceaccount/namespace"

// check refuses flags that can't work, before anything is started.
func (p *controllerProcess) check() error {
	if p.concurrentSyncs < 1 {
		return fmt.Errorf("--concurrent-syncs is %d, but must be 1 or more", p.concurrentSyncs)
	}
	if _, err := os.Stat(inClusterNamespace); err != nil && p.leaderElect && p.leaseNamespace == "" {
		return errors.New("outside of a cluster, leader election needs a namespace: set --leader-elect-namespace, or --leader-elect=false to do without")
	}
	return nil
}

func (p *controllerProcess) newControllerManager(config *rest.Config) (manager.Manager, error) {
	options, err := controller.ManagerOptions(p.namespaces)
	if err != nil {
		return nil, err
	}
	options.LeaderElection = p.leaderElect
	options.LeaderElectionID = leaseName
	options.LeaderElectionNamespace = p.leaseNamespace
	// The process ends right after the controller has, so the next leader need not wait for the lease to lapse.
	options.LeaderElectionReleaseOnCancel = true
	options.LeaseDuration, options.RenewDeadline = ptr.To(leaseDuration), ptr.To(renewDeadline)
	if p.leaderElect {
		config.Wrap((&fence{now: time.Now}).before)
	}
	mgr, err := p.newManager(config, options)
	if meta.IsNoMatchError(err) {
		return nil, fmt.Errorf("the cluster does not know StatefulSets of apps.rollcall.dev; install the CRD first: %w", err)
	}
	return mgr, err
}
