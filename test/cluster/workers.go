package cluster

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
)

// usualNodes hold every pod that the tests of one binary run at a time.
const usualNodes = 8

func (p *plane) nodeCount() int { return cmp.Or(p.settings.Nodes, usualNodes) }

// startWorkers starts what makes pods run: scheduler, controller-manager and simulated nodes.
func (p *plane) startWorkers() error {
	for _, start := range []func() error{p.startControllerManager, p.startScheduler, p.startNodes} {
		if err := start(); err != nil {
			return err
		}
	}
	return p.awaitNodes()
}

func (p *plane) startControllerManager() error {
	ca := filepath.Join(p.dir, "ca.crt")
	if err := os.WriteFile(ca, p.env.Config.CAData, 0o600); err != nil {
		return err
	}
	if err := p.client.Create(context.Background(), hostPathStorageClass()); err != nil {
		return fmt.Errorf("creating the default storage class: %w", err)
	}
	key := filepath.Join(p.env.ControlPlane.GetAPIServer().CertDir, "sa-signer.key")
	flags := []string{
		"--leader-elect=false", "--secure-port=0", "--kube-api-qps=-1",
		"--use-service-account-credentials", "--enable-hostpath-provisioner", "--root-ca-file=" + ca, "--service-account-private-key-file=" + key,
	}
	return p.start("kube-controller-manager", "system:kube-controller-manager", append(flags, p.settings.ControllerManager...)...)
}

func (p *plane) startScheduler() error {
	return p.start("kube-scheduler", "system:kube-scheduler",
		"--leader-elect=false", "--secure-port=0", "--kube-api-qps=-1", "--authentication-skip-lookup")
}

func (p *plane) startNodes() error {
	if err := p.bind(NodesUser, "system:node"); err != nil {
		return err
	}
	return p.start("node-simulator", NodesUser, "--nodes="+strconv.Itoa(p.nodeCount()))
}

// bind gives a user a role in the whole cluster.
func (p *plane) bind(user, role string) error {
	binding := &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: user + ":" + role},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: user}},
	}
	if err := p.client.Create(context.Background(), binding); err != nil {
		return fmt.Errorf("giving user %s the role %s: %w", user, role, err)
	}
	return nil
}

// start runs a program of bin/assets as a user of the API server.
func (p *plane) start(name, user string, args ...string) error {
	kubeconfig, err := p.kubeconfig(user)
	if err != nil {
		return err
	}
	args = append([]string{"--kubeconfig=" + kubeconfig}, args...)
	started, err := startProgram(filepath.Join(p.assets, name), filepath.Join(p.dir, name+".log"), args)
	if err != nil {
		return err
	}
	p.running = append(p.running, started)
	return nil
}

func (p *plane) addUser(user string) (*envtest.AuthenticatedUser, error) {
	added, err := p.env.AddUser(envtest.User{Name: user}, nil)
	if err != nil {
		return nil, fmt.Errorf("adding user %s: %w", user, err)
	}
	return added, nil
}

func (p *plane) kubeconfig(user string) (string, error) {
	added, err := p.addUser(user)
	if err != nil {
		return "", err
	}
	config, err := added.KubeConfig()
	if err != nil {
		return "", fmt.Errorf("writing a kubeconfig for user %s: %w", user, err)
	}
	file, err := os.CreateTemp(p.dir, "kubeconfig-")
	if err != nil {
		return "", err
	}
	defer file.Close()
	_, err = file.Write(config)
	return file.Name(), err
}

// awaitNodes returns when every node takes pods, or when one of the programs has ended.
func (p *plane) awaitNodes() error {
	return poll(context.Background(), startTimeout, func(ctx context.Context) error {
		for _, program := range p.running {
			if err := program.ended(); err != nil {
				return permanent{err}
			}
		}
		var nodes corev1.NodeList
		if err := p.client.List(ctx, &nodes); err != nil {
			return err
		}
		ready := 0
		for _, node := range nodes.Items {
			if len(node.Spec.Taints) == 0 {
				ready++
			}
		}
		if ready < p.nodeCount() {
			return fmt.Errorf("%d of %d nodes take pods", ready, p.nodeCount())
		}
		return nil
	})
}

func hostPathStorageClass() *storagev1.StorageClass {
	return &storagev1.StorageClass{
		ObjectMeta: metav1.ObjectMeta{
			Name:        "hostpath",
			Annotations: map[string]string{"storageclass.kubernetes.io/is-default-class": "true"},
		},
		Provisioner: "kubernetes.io/host-path",
	}
}
