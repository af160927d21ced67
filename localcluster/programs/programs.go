// Package programs holds the programs of a Kubernetes cluster, linked into this
// one binary. Like busybox, the binary becomes the program whose name
// it is started under, so one build, one file and one page cache serve all.
package programs

import (
	"os"
	"runtime/debug"

	"github.com/spf13/cobra"
	"go.etcd.io/etcd/server/v3/etcdmain"
	_ "k8s.io/client-go/plugin/pkg/client/auth" // kubectl's credential plugins
	"k8s.io/component-base/cli"
	_ "k8s.io/component-base/logs/json/register"          // --logging-format=json
	_ "k8s.io/component-base/metrics/prometheus/clientgo" // client metrics on /metrics
	_ "k8s.io/component-base/metrics/prometheus/version"  // build information on /metrics
	kubectl "k8s.io/kubectl/pkg/cmd"
	kubectlutil "k8s.io/kubectl/pkg/cmd/util"
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	controllermanager "k8s.io/kubernetes/cmd/kube-controller-manager/app"
	scheduler "k8s.io/kubernetes/cmd/kube-scheduler/app"

	"github.com/rollcall-dev/rollcall/localcluster/nodes"
)

// byName maps the name a program is started under to its main function.
var byName = map[string]func(){
	"etcd":                    func() { preferSpeed(); etcdmain.Main(os.Args) },
	"kube-apiserver":          func() { preferSpeed(); run(apiserver.NewAPIServerCommand()) },
	"kube-controller-manager": func() { run(controllermanager.NewControllerManagerCommand()) },
	"kube-scheduler":          func() { preferSpeed(); run(scheduler.NewSchedulerCommand()) },
	"kubectl":                 runKubectl,
	nodes.Program:             func() { preferSpeed(); run(nodes.NewCommand()) },
}

// Find returns the main function of the named program.
func Find(name string) (main func(), found bool) {
	main, found = byName[name]
	return main, found
}

// generousGC is the growth of the heap, in percent, after which programs collect garbage that prefer speed.
const generousGC = 400

// preferSpeed trades memory for processor time, unless GOGC says otherwise: the heaps of a small cluster are small, and a
// fifth of the API server's time would go into collecting their garbage.
func preferSpeed() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(generousGC)
	}
}

func run(command *cobra.Command) {
	os.Exit(cli.Run(command))
}

// runKubectl prints errors the way kubectl's users know them.
func runKubectl() {
	if err := cli.RunNoErrOutput(kubectl.NewDefaultKubectlCommand()); err != nil {
		kubectlutil.CheckErr(err)
	}
}
