package nodes

import (
	"fmt"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// Program is the name under which the multi-call binary plays nodes.
const Program = "node-simulator"

// NewCommand is the program that plays nodes for the API server of a kubeconfig.
func NewCommand() *cobra.Command {
	var kubeconfig string
	simulator := &Simulator{}
	command := &cobra.Command{
		Use:          Program,
		Short:        "Play the nodes of a cluster: real API objects, no containers",
		Args:         cobra.NoArgs,
		SilenceUsage: true,
		RunE: func(command *cobra.Command, _ []string) error {
			client, err := connect(kubeconfig)
			if err != nil {
				return err
			}
			ctx, stop := signal.NotifyContext(command.Context(), syscall.SIGINT, syscall.SIGTERM)
			defer stop()
			simulator.Client = client
			return simulator.Run(ctx)
		},
	}
	flags := command.Flags()
	flags.StringVar(&kubeconfig, "kubeconfig", "", "kubeconfig of the API server")
	flags.IntVar(&simulator.Nodes, "nodes", 3, "number of nodes")
	flags.DurationVar(&simulator.Delays.Start, "start-delay", 200*time.Millisecond, "how long a pod takes to start that does not say so itself")
	flags.DurationVar(&simulator.Delays.Stop, "stop-delay", 100*time.Millisecond, "how long a pod takes to stop that does not say so itself")
	return command
}

// connect makes a client that talks protobuf and is not throttled: thousands of pods change at a time.
func connect(kubeconfig string) (kubernetes.Interface, error) {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return nil, fmt.Errorf("reading kubeconfig %s: %w", kubeconfig, err)
	}
	config.QPS = -1
	config.ContentType = runtime.ContentTypeProtobuf
	config.AcceptContentTypes = runtime.ContentTypeProtobuf + "," + runtime.ContentTypeJSON
	return kubernetes.NewForConfig(rest.AddUserAgent(config, Program))
}
