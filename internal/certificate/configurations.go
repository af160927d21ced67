package certificate

import (
	"context"
	"fmt"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// configuration is a webhook configuration of either kind, with what its webhooks trust.
type configuration struct {
	object  client.Object
	bundles []*[]byte
}

// trusts is true when every webhook of the configuration trusts exactly the bundle.
func (c configuration) trusts(bundle string) bool {
	for _, trusted := range c.bundles {
		if string(*trusted) != bundle {
			return false
		}
	}
	return true
}

// readConfigurations reads the configurations of our name. One that does not exist is left out: it may not have been
// wanted, and if it comes later, it is seen then.
func (k *Keeper) readConfigurations(ctx context.Context) ([]configuration, error) {
	mutating, validating := &admissionv1.MutatingWebhookConfiguration{}, &admissionv1.ValidatingWebhookConfiguration{}
	var found []configuration
	for _, object := range []client.Object{mutating, validating} {
		err := k.options.Client.Get(ctx, types.NamespacedName{Name: k.options.Configurations}, object)
		if apierrors.IsNotFound(err) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("reading the webhook configuration %s: %w", k.options.Configurations, err)
		}
		found = append(found, configuration{object, bundlesOf(object)})
	}
	return found, nil
}

func bundlesOf(object client.Object) []*[]byte {
	var bundles []*[]byte
	switch object := object.(type) {
	case *admissionv1.MutatingWebhookConfiguration:
		for i := range object.Webhooks {
			bundles = append(bundles, &object.Webhooks[i].ClientConfig.CABundle)
		}
	case *admissionv1.ValidatingWebhookConfiguration:
		for i := range object.Webhooks {
			bundles = append(bundles, &object.Webhooks[i].ClientConfig.CABundle)
		}
	}
	return bundles
}

// publish has the API server trust the bundle, unless somebody else has written the configuration since it was read.
func (k *Keeper) publish(ctx context.Context, configurations []configuration, bundle []byte) error {
	for _, configuration := range configurations {
		if configuration.trusts(string(bundle)) {
			continue
		}
		for _, trusted := range configuration.bundles {
			*trusted = bundle
		}
		if err := k.options.Client.Update(ctx, configuration.object); err != nil {
			return fmt.Errorf("publishing the authorities in the webhook configuration %s: %w", k.options.Configurations, err)
		}
	}
	return nil
}
