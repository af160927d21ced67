package scenario

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/go-logr/logr"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/rollcall-dev/rollcall/internal/controller"
	"github.com/rollcall-dev/rollcall/internal/plan"
	"github.com/rollcall-dev/rollcall/test/cluster"
)

const (
	// OperatorUser is who the operator is to the API server.
	OperatorUser = "rollcall:operator"
	// logVariable names the environment variable with the file that the operator's
	// log goes to; without it there is no log.
	logVariable = "ROLLCALL_TEST_LOG"
)

// operator runs in this process, once for all its tests.
var operator struct {
	sync.Once
	err error
}

// RunOperator starts the operator unless it runs. It lives as long as the test
// binary, with no rights but those of config/rbac.
func RunOperator(t testing.TB, space *cluster.Space) {
	t.Helper()
	operator.Do(func() { operator.err = startOperator(space) })
	if operator.err != nil {
		t.Fatalf("starting the operator: %v", operator.err)
	}
}

func startOperator(space *cluster.Space) error {
	if err := startLogging(); err != nil {
		return err
	}
	if err := GrantRole(space); err != nil {
		return err
	}
	config := rest.CopyConfig(space.Config)
	config.QPS = -1
	config.Impersonate.UserName = OperatorUser
	options, err := controller.ManagerOptions(nil)
	if err != nil {
		return err
	}
	options.Metrics = metricsserver.Options{BindAddress: "0"}
	mgr, err := manager.New(config, options)
	if err != nil {
		return err
	}
	settings := controller.Options{Gates: plan.AllGates(), ConcurrentSyncs: controller.DefaultConcurrentSyncs()}
	if err := controller.Setup(context.Background(), mgr, settings); err != nil {
		return err
	}
	run(mgr)
	return nil
}

// run runs the operator until the control plane is about to be stopped.
func run(mgr manager.Manager) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := mgr.Start(ctx); err != nil {
			fmt.Fprintln(os.Stderr, "the operator under test ended:", err)
		}
	}()
	cluster.BeforeStop(func() {
		cancel()
		<-done
	})
}

func startLogging() error {
	path := os.Getenv(logVariable)
	if path == "" {
		ctrl.SetLogger(logr.Discard())
		return nil
	}
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	ctrl.SetLogger(zap.New(zap.WriteTo(file), zap.UseDevMode(true)))
	return nil
}

// GrantRole gives OperatorUser the rights that config/rbac gives the operator in
// the whole cluster.
func GrantRole(space *cluster.Space) error {
	for _, file := range []string{"controller.yaml", "metrics.yaml"} {
		role := &rbacv1.ClusterRole{}
		if err := readManifest(file, "ClusterRole", role); err != nil {
			return err
		}
		err := grant(space, role, &rbacv1.ClusterRoleBinding{
			ObjectMeta: metav1.ObjectMeta{Name: OperatorUser + ":" + role.Name},
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role.Name},
			Subjects:   operatorSubject,
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// GrantLeases gives OperatorUser the rights that config/rbac gives the operator
// in its own namespace, in the namespace of the test.
func GrantLeases(space *cluster.Space) error {
	role := &rbacv1.Role{}
	if err := readManifest("controller.yaml", "Role", role); err != nil {
		return err
	}
	role.Namespace = space.Name
	return grant(space, role, &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: space.Name, Name: OperatorUser},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: role.Name},
		Subjects:   operatorSubject,
	})
}

var operatorSubject = []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: OperatorUser}}

func grant(space *cluster.Space, objects ...client.Object) error {
	for _, object := range objects {
		if err := space.Client.Create(context.Background(), object); err != nil {
			return fmt.Errorf("creating the operator's %T: %w", object, err)
		}
	}
	return nil
}

// readManifest reads the first object of a kind in a file of config/rbac.
func readManifest(name, kind string, into client.Object) error {
	root, err := findRoot()
	if err != nil {
		return err
	}
	file, err := os.Open(filepath.Join(root, "config", "rbac", name))
	if err != nil {
		return err
	}
	defer file.Close()
	for decoder := yaml.NewYAMLOrJSONDecoder(file, 4096); ; {
		found := &unstructured.Unstructured{}
		if err := decoder.Decode(found); err != nil {
			return fmt.Errorf("looking for a %s in %s: %w", kind, file.Name(), err)
		}
		if found.GetKind() == kind {
			return runtime.DefaultUnstructuredConverter.FromUnstructured(found.Object, into)
		}
	}
}

// findRoot looks upwards from the test's folder for the repository; tests in other modules are below it, too.
func findRoot() (string, error) {
	dir, err := os.Getwd()
	for ; err == nil; dir = filepath.Dir(dir) {
		if _, statErr := os.Stat(filepath.Join(dir, "config", "rbac")); statErr == nil {
			return dir, nil
		}
		if dir == filepath.Dir(dir) {
			err = errors.New("no config/rbac in this folder or above it")
		}
	}
	return "", err
}
