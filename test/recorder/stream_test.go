package recorder

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/rollcall-dev/rollcall/test/judge"
)

// past is an API server's store: the pods at each version, as UID to the version of their last change.
type past map[uint64]map[string]uint64

// at returns the pods that are stored at a version.
func (p past) at(version uint64) map[string]uint64 {
	for ; version > 0; version-- {
		if pods, isChange := p[version]; isChange {
			return pods
		}
	}
	return nil
}

// list answers as the API server does, which has forgotten what is older than the oldest version.
func (p past) list(oldest, newest uint64) client.WithWatch {
	return interceptor.NewClient(fake.NewClientBuilder().Build(), interceptor.Funcs{
		List: func(_ context.Context, _ client.WithWatch, into client.ObjectList, given ...client.ListOption) error {
			options := (&client.ListOptions{}).ApplyOptions(given)
			version := newest
			if options.Raw.ResourceVersion != "" {
				version, _ = strconv.ParseUint(options.Raw.ResourceVersion, 10, 64)
			}
			if version < oldest {
				return apierrors.NewResourceExpired("compacted")
			}
			list := into.(*corev1.PodList)
			list.ResourceVersion = strconv.FormatUint(version, 10)
			for uid, changed := range p.at(version) {
				list.Items = append(list.Items, corev1.Pod{ObjectMeta: metav1.ObjectMeta{
					Name: uid, UID: types.UID(uid), ResourceVersion: strconv.FormatUint(changed, 10),
				}})
			}
			return nil
		},
	})
}

// TestFill finds every change that happened while no watch was up, at its own version.
func TestFill(t *testing.T) {
	stored := past{
		10: {"a": 10}, 13: {"a": 10, "b": 13}, 14: {"a": 14, "b": 13}, 20: {"b": 13}, 21: {"b": 13, "c": 21}, 30: {"b": 30, "c": 21},
	}
	cases := map[string]struct {
		oldest   uint64
		want     []string
		wantGaps int
	}{
		"all is stored":               {0, []string{"10 a", "13 b", "14 a", "20 a gone", "21 c", "30 b"}, 0},
		"the first half is forgotten": {22, []string{"10 a", "21 c", "30 b", "32 a gone"}, 1},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			r := &Recorder{}
			s := &stream{recorder: r, newList: func() client.ObjectList { return &corev1.PodList{} }, known: map[types.UID]client.Object{}}
			for _, newest := range []uint64{11, 32} {
				oldest := min(tc.oldest, newest)
				s.client = stored.list(oldest, newest)
				if err := s.relist(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			if diff := cmp.Diff(tc.want, lines(r.entries)); diff != "" || r.gaps != tc.wantGaps {
				t.Errorf("%d gaps, want %d; entries (-want +got):\n%s", r.gaps, tc.wantGaps, diff)
			}
		})
	}
}

func lines(entries []judge.Entry) (all []string) {
	for _, entry := range entries {
		line := fmt.Sprintf("%d %s", entry.Version, entry.Object.GetName())
		if entry.Gone {
			line += " gone"
		}
		all = append(all, line)
	}
	slices.Sort(all)
	return all
}
