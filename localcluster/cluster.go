package localcluster

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"k8s.io/component-base/version"
)

const (
	// startTimeout is how long one component may take to become ready, on a slow machine.
	startTimeout = 90 * time.Second
	// askEvery is how often a component is asked whether it is ready.
	askEvery = 50 * time.Millisecond

	admin = "admin"
)

// Options are what a person can choose.
type Options struct {
	// Dir is the folder that holds the cluster.
	Dir string
	// Port is the API server's; 0 takes any that is free.
	Port int
	// Nodes is how many nodes are simulated.
	Nodes int
	// Reset forgets what an earlier run left.
	Reset bool
	// Install are folders of manifests to apply, CRDs first.
	Install []string
	// Operator is the Rollcall program to run, or empty.
	Operator string
	// Webhook is the configuration by which the operator's admission webhook is registered; empty to run none.
	Webhook string
}

// Cluster is a control plane in the making, or running.
type Cluster struct {
	options Options
	layout  Layout
	ports   ports
	client  *http.Client
	running []*process
	report  *Reporter
	began   time.Time
}

// ports of the components, all on loopback.
type ports struct {
	apiserver, etcd, etcdPeer, controllerManager, scheduler string
	operatorProbes, webhook, webhookProbes                  string
}

// Run starts a cluster, calls ready, and keeps the cluster until the context ends or a component does.
// Whatever happens, no process is left behind.
func Run(ctx context.Context, options Options, report *Reporter, ready func(Layout)) error {
	c := &Cluster{options: options, layout: Layout{options.Dir}, report: report, began: time.Now()}
	if err := c.layout.Prepare(); err != nil {
		return err
	}
	held, err := c.layout.acquire()
	if err != nil {
		return err
	}
	defer held.release()
	if err := c.prepare(); err != nil {
		return err
	}
	report.Printf("Starting Kubernetes %s in %s\n", version.Get().GitVersion, c.layout.Dir)
	defer c.stop()
	if err := c.start(ctx); err != nil {
		return withoutCancel(ctx, err)
	}
	ready(c.layout)
	return c.watchOver(ctx)
}

// withoutCancel drops an error that only says that the user has had enough.
func withoutCancel(ctx context.Context, err error) error {
	if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		return nil
	}
	return err
}

// prepare makes everything that the components find on disk: keys, certificates and kubeconfigs.
func (c *Cluster) prepare() error {
	if c.options.Reset {
		if err := c.layout.forget(); err != nil {
			return err
		}
	}
	if err := c.choosePorts(); err != nil {
		return err
	}
	if err := c.issueCertificates(); err != nil {
		return err
	}
	client, err := c.layout.client(admin)
	c.client = client
	return err
}

func (c *Cluster) choosePorts() error {
	free := []*string{
		&c.ports.etcd, &c.ports.etcdPeer, &c.ports.controllerManager, &c.ports.scheduler,
		&c.ports.operatorProbes, &c.ports.webhook, &c.ports.webhookProbes,
	}
	if c.options.Port == 0 {
		free = append(free, &c.ports.apiserver)
	} else {
		c.ports.apiserver = fmt.Sprint(c.options.Port)
		if err := checkPort(c.ports.apiserver); err != nil {
			return err
		}
	}
	for _, port := range free {
		var err error
		if *port, err = freePort(); err != nil {
			return err
		}
	}
	return nil
}

// issueCertificates gives every component the identity that Kubernetes' own roles know it by.
func (c *Cluster) issueCertificates() error {
	ca, err := loadAuthority(c.layout)
	if err != nil {
		return err
	}
	err = errors.Join(
		loadServiceAccountKey(c.layout),
		ca.serve("etcd"),
		ca.serve("kube-apiserver", "kubernetes", "kubernetes.default", "kubernetes.default.svc"),
		ca.serve("server"),
		ca.identify(admin, "rollcall:admin", "system:masters"),
		ca.identify("kube-controller-manager", "system:kube-controller-manager"),
		ca.identify("kube-scheduler", "system:kube-scheduler"),
		ca.identify("nodes", nodesUser),
		ca.identify("operator", operatorUser),
		ca.identify("webhook", webhookUser),
	)
	if err != nil {
		return err
	}
	return c.writeKubeconfigs()
}

func (c *Cluster) writeKubeconfigs() error {
	server := url(c.ports.apiserver)
	errs := []error{writeKubeconfig(c.layout, c.layout.Kubeconfig(), server, admin)}
	for _, user := range []string{"kube-controller-manager", "kube-scheduler", "nodes", "operator", "webhook"} {
		errs = append(errs, writeKubeconfig(c.layout, c.layout.UserKubeconfig(user), server, user))
	}
	return errors.Join(errs...)
}

// start brings the components up, one that others need before those that need it.
func (c *Cluster) start(ctx context.Context) error {
	for _, next := range []component{c.etcd(), c.apiserver()} {
		if err := c.startComponent(ctx, next); err != nil {
			return err
		}
	}
	if err := c.report.Step("bootstrap objects", func() error { return c.bootstrap(ctx) }); err != nil {
		return err
	}
	rest := []component{c.controllerManager(), c.scheduler(), c.simulatedNodes()}
	if c.options.Operator != "" {
		rest = append(rest, c.operator())
	}
	if c.options.Operator != "" && c.options.Webhook != "" {
		rest = append(rest, c.webhook())
	}
	for _, next := range rest {
		if err := c.startComponent(ctx, next); err != nil {
			return err
		}
	}
	return nil
}

func (c *Cluster) startComponent(ctx context.Context, next component) error {
	return c.report.Step(next.name, func() error {
		command, err := next.command()
		if err != nil {
			return err
		}
		started, err := start(c.layout, next.name, command)
		if err != nil {
			return err
		}
		c.running = append(c.running, started)
		return started.await(ctx, next.ready)
	})
}

// await returns when the process is ready, has ended, or has used up its time.
func (p *process) await(ctx context.Context, ready func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	ticker := time.NewTicker(askEvery)
	defer ticker.Stop()
	for {
		err := ready(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-p.done:
			return p.failure()
		case <-ctx.Done():
			if errors.Is(ctx.Err(), context.DeadlineExceeded) {
				return fmt.Errorf("%s was not ready within %s (%w); see %s", p.name, startTimeout, err, p.log)
			}
			return ctx.Err()
		case <-ticker.C:
		}
	}
}

// watchOver returns nil when the context ends, and an error when a component ends before that.
func (c *Cluster) watchOver(ctx context.Context) error {
	ended := make(chan *process, len(c.running))
	for _, p := range c.running {
		go func() {
			<-p.done
			ended <- p
		}()
	}
	select {
	case <-ctx.Done():
		return nil
	case p := <-ended:
		return p.failure()
	}
}

// stop ends the components, the last one started first, so that none loses what it depends on.
func (c *Cluster) stop() {
	if len(c.running) == 0 {
		return
	}
	_ = c.report.Step("stopping", func() error {
		for i := len(c.running) - 1; i >= 0; i-- {
			c.running[i].stop(context.Background())
		}
		return nil
	})
}
