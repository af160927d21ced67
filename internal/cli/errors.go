package cli

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/url"
	"strings"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/tools/clientcmd"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
)

// Exit codes.
const (
	codeDone        = 0
	codeFailed      = 1
	codeTimedOut    = 2
	codeInterrupted = 130 // what shells expect of a program that Ctrl-C ended
)

// failure is an error whose text is ready to be read by people.
type failure struct {
	text string
	code int
}

func (f *failure) Error() string { return f.text }

// failf makes a failure with exit code 1. The text says what is wrong and what to do.
func failf(format string, args ...any) error {
	return &failure{text: fmt.Sprintf(format, args...), code: codeFailed}
}

// ended ends the process with a code when all that is to be said has been printed.
func ended(code int) error { return &failure{code: code} }

// usageError is the answer to flags that don't exist or can't be read.
func usageError(command *cobra.Command, err error) error {
	return failf("%v: see \"%s --help\"", err, command.CommandPath())
}

// codeOf returns the exit code that an error means.
func codeOf(err error) int {
	var known *failure
	switch {
	case errors.As(err, &known):
		return known.code
	case errors.Is(err, context.Canceled):
		return codeInterrupted
	default:
		return codeFailed
	}
}

// describe makes one line of an error; "" if nothing is left to say.
func describe(err error) string {
	if codeOf(err) == codeInterrupted {
		return ""
	}
	text := explain(err)
	if text == "" {
		return ""
	}
	return "error: " + oneLine(text)
}

func oneLine(text string) string {
	return strings.Join(strings.FieldsFunc(text, func(r rune) bool { return r == '\n' || r == '\r' }), "; ")
}

// explain says what is wrong and what to do: first match wins.
func explain(err error) string {
	var known *failure
	switch {
	case errors.As(err, &known):
		return known.text
	case meta.IsNoMatchError(err), isUnknownResource(err):
		return fmt.Sprintf("this cluster does not know StatefulSets of %s: install Rollcall first, or choose another cluster with --context", v1.GroupName)
	case errors.Is(err, clientcmd.ErrEmptyConfig):
		return "no cluster is configured: set KUBECONFIG, or use --kubeconfig"
	case apierrors.IsUnauthorized(err):
		return "the API server does not accept your credentials: log in again, or choose another --context"
	case apierrors.IsForbidden(err):
		return fmt.Sprintf("%v: ask an administrator of the cluster for this right", rootMessage(err))
	case apierrors.IsConflict(err):
		return fmt.Sprintf("%v: somebody else changed it at the same time; look again and repeat the command", err)
	case isUnreachable(err):
		return explainUnreachable(err)
	default:
		return err.Error()
	}
}

// rootMessage is what the API server said, without what we were doing.
func rootMessage(err error) string {
	if status := apierrors.APIStatus(nil); errors.As(err, &status) {
		return status.Status().Message
	}
	return err.Error()
}

// isUnknownResource tells whether the API server has no such kind, rather than no such object.
func isUnknownResource(err error) bool {
	status := apierrors.APIStatus(nil)
	if !apierrors.IsNotFound(err) || !errors.As(err, &status) {
		return false
	}
	details := status.Status().Details
	return details == nil || details.Name == ""
}

// isUnreachable tells whether no answer of the API server was had at all.
func isUnreachable(err error) bool {
	var request *url.Error
	var network net.Error
	var file *fs.PathError
	if errors.As(err, &file) {
		return false // a kubeconfig that is not there
	}
	return errors.As(err, &request) || errors.As(err, &network) || errors.Is(err, context.DeadlineExceeded)
}

func explainUnreachable(err error) string {
	where, why := "the API server", err
	var request *url.Error
	if errors.As(err, &request) {
		why = request.Err
		if address, parseErr := url.Parse(request.URL); parseErr == nil {
			where = fmt.Sprintf("the API server at %s://%s", address.Scheme, address.Host)
		}
	}
	return fmt.Sprintf("can't reach %s (%s): %s", where, reasonOf(why), adviceFor(why))
}

// reasonOf leaves of a network error what a person can do something about.
func reasonOf(err error) string {
	var operation *net.OpError
	if errors.As(err, &operation) && operation.Err != nil {
		text := operation.Err.Error()
		return strings.TrimPrefix(text, "connect: ")
	}
	return err.Error()
}

func adviceFor(err error) string {
	var certificate *tls.CertificateVerificationError
	var authority x509.UnknownAuthorityError
	if errors.As(err, &certificate) || errors.As(err, &authority) {
		return "the kubeconfig may be of another cluster; check --kubeconfig and --context"
	}
	return "check that the cluster runs, and --kubeconfig or --context"
}
