package faultproxy

import (
	"math/rand/v2"
	"net/http"
	"time"
)

// Fault is something that goes wrong with a request.
type Fault string

// The faults. Where the comment does not say otherwise, the API server never hears of the request.
const (
	// Reset resets the connection.
	Reset Fault = "connection reset"
	// Throttled answers 429 with Retry-After.
	Throttled Fault = "429"
	// Failed answers 500.
	Failed Fault = "500"
	// Conflicted answers a write with 409.
	Conflicted Fault = "409"
	// Lost has a write carried out and its answer replaced by a 500 or a reset: applied but failed.
	Lost Fault = "applied but failed"
	// Cut breaks a watch off after a while.
	Cut Fault = "watch cut"
	// Delayed holds a request up, and then all goes well.
	Delayed Fault = "delay"
)

// order makes a draw a function of the seed: maps have none.
var order = []Fault{Reset, Throttled, Failed, Conflicted, Lost, Cut, Delayed}

// Rates are how often each fault happens, as a share of the requests that it can happen to.
type Rates map[Fault]float64

// draw returns what happens to a request, nothing included, for a number in [0, 1).
func (r Rates) draw(request *http.Request, number float64) Fault {
	for _, fault := range order {
		if !fault.befalls(request) {
			continue
		}
		if number < r[fault] {
			return fault
		}
		number -= r[fault]
	}
	return ""
}

func (f Fault) befalls(request *http.Request) bool {
	switch f {
	case Conflicted, Lost:
		return isWrite(request)
	case Cut:
		return isWatch(request)
	default:
		return true
	}
}

func isWrite(request *http.Request) bool {
	return request.Method != http.MethodGet && request.Method != http.MethodHead
}

func isWatch(request *http.Request) bool {
	value := request.URL.Query().Get("watch")
	return value == "true" || value == "1"
}

// within returns a random share of a duration.
func within(most time.Duration, random *rand.Rand) time.Duration {
	return time.Duration(random.Int64N(int64(most)))
}
