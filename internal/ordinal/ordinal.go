// Package ordinal relates the pods of a set to numbers.
//
//	pod name   = <set>-<ordinal>
//	slots      = the ordinals in [start, start+replicas)
//
// The relation is exact in both directions: a name with leading zeros, a sign
// or an ordinal beyond 32 bits is the name of no pod.
package ordinal

import (
	"math"
	"strconv"
	"strings"

	v1 "github.com/rollcall-dev/rollcall/api/v1"
)

// PodName returns the name of the pod of a set at an ordinal.
func PodName(set string, ordinal int) string {
	return set + "-" + strconv.Itoa(ordinal)
}

// Parse returns the ordinal of a pod of the set from its name, and whether the
// name is that of a pod of the set at all.
func Parse(set, podName string) (int, bool) {
	digits, ok := strings.CutPrefix(podName, set)
	if !ok || len(digits) < 2 || digits[0] != '-' {
		return 0, false
	}
	return parseCanonical(digits[1:])
}

// parseCanonical reads a decimal number that is written the one way strconv
// writes it, so that two names never claim the same ordinal.
func parseCanonical(digits string) (int, bool) {
	if digits[0] == '0' && len(digits) > 1 {
		return 0, false
	}
	n := 0
	for _, digit := range []byte(digits) {
		if digit < '0' || digit > '9' {
			return 0, false
		}
		n = n*10 + int(digit-'0')
		if n > math.MaxInt32 {
			return 0, false
		}
	}
	return n, true
}

// Range is the slots of a set: Count ordinals from Start up.
type Range struct {
	Start int
	Count int
}

// RangeOf returns the slots that a set asks for. Numbers below zero, which
// validation refuses, count as zero.
func RangeOf(set *v1.StatefulSet) Range {
	r := Range{Count: 1}
	if set.Spec.Replicas != nil {
		r.Count = max(0, int(*set.Spec.Replicas))
	}
	if set.Spec.Ordinals != nil {
		r.Start = max(0, int(set.Spec.Ordinals.Start))
	}
	return r
}

// End is the ordinal after the last slot.
func (r Range) End() int { return r.Start + r.Count }

// Contains tells whether the ordinal is that of a slot.
func (r Range) Contains(ordinal int) bool {
	return ordinal >= r.Start && ordinal < r.End()
}
