package certificate

import (
	"testing"
	"time"
)

func TestDecide(t *testing.T) {
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	at := func(days float64) time.Time { return start.Add(time.Duration(days * 24 * float64(time.Hour))) }
	term := func(from, to float64) Term { return Term{at(from), at(to)} }
	tests := map[string]struct {
		situation Situation
		want      Step
		wake      time.Time
	}{
		"nothing there":                          {Situation{Now: at(1)}, Begin, at(1)},
		"expired while everything was off":       {Situation{Now: at(91), Serving: term(0, 90), PublishedSince: at(91)}, Begin, at(91)},
		"expired, and the next one lies ready":   {Situation{Now: at(91), Serving: term(0, 90), Next: term(60, 150)}, Promote, at(91)},
		"from the future, by a clock set wrong":  {Situation{Now: at(1), Serving: term(2, 92)}, Begin, at(1)},
		"new and not known to the API server":    {Situation{Now: at(1), Serving: term(1, 91)}, Publish, at(1)},
		"new and known":                          {Situation{Now: at(1), Serving: term(1, 91), PublishedSince: at(1)}, Rest, at(1).Add(longestPause)},
		"about to be renewed":                    {Situation{Now: at(61).Add(-time.Second), Serving: term(1, 91), PublishedSince: at(1)}, Rest, at(61)},
		"a third is left":                        {Situation{Now: at(61), Serving: term(1, 91), PublishedSince: at(1)}, Prepare, at(61)},
		"the next is not known":                  {Situation{Now: at(61), Serving: term(1, 91), Next: term(61, 151)}, Publish, at(61)},
		"the next is known, not long enough":     {Situation{Now: at(61), Serving: term(1, 91), Next: term(61, 151), PublishedSince: at(61).Add(-time.Minute)}, Rest, at(61).Add(time.Minute)},
		"the next is known everywhere soon":      {Situation{Now: at(61), Serving: term(1, 91), Next: term(61, 151), PublishedSince: at(61).Add(time.Second - longestSettling)}, Rest, at(61).Add(time.Second)},
		"the next is known everywhere":           {Situation{Now: at(61), Serving: term(1, 91), Next: term(61, 151), PublishedSince: at(61).Add(-longestSettling)}, Promote, at(61)},
		"the next has expired before its turn":   {Situation{Now: at(80), Serving: term(1, 91), Next: term(61, 62), PublishedSince: at(61)}, Prepare, at(80)},
		"somebody emptied the configurations":    {Situation{Now: at(30), Serving: term(1, 91)}, Publish, at(30)},
		"short lives have short settling times":  {Situation{Now: at(61).Add(time.Second), Serving: Term{at(60), at(61).Add(time.Minute)}, Next: Term{at(61), at(61).Add(time.Minute)}, PublishedSince: at(61).Add(-2 * time.Second)}, Promote, at(61).Add(time.Second)},
		"other hosts than those of the next one": {Situation{Now: at(62), Serving: term(1, 91), Next: Term{}, PublishedSince: at(61)}, Prepare, at(62)},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			step, wake := Decide(test.situation)
			if step != test.want || !wake.Equal(test.wake) {
				t.Errorf("got %s, look again at %s; want %s, %s", step, wake, test.want, test.wake)
			}
		})
	}
}
