package explain

import (
	"fmt"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/duration"
)

// Text writes the answer for people, as of a time.
func (a Answer) Text(now time.Time) string {
	var b strings.Builder
	fmt.Fprintf(&b, "statefulset.apps.rollcall.dev/%s %s.\n", a.Name, a.Summary)
	for i, cause := range a.Causes {
		if i == 0 {
			b.WriteString("\nWhy\n")
		}
		cause.write(&b, now)
	}
	section(&b, "Rule", a.Rule)
	section(&b, "The controller says", a.Controller)
	if len(a.Next) > 0 {
		section(&b, "The controller's next steps", strings.Join(a.Next, "\n  "))
	}
	writeRemedies(&b, "\nWays out\n", "  ", a.Remedies)
	return b.String()
}

func section(b *strings.Builder, title, text string) {
	if text != "" {
		fmt.Fprintf(b, "\n%s\n  %s\n", title, text)
	}
}

func (c Cause) write(b *strings.Builder, now time.Time) {
	fmt.Fprintf(b, "  %s%s\n", c.Text, c.when(now))
	for _, detail := range c.Details {
		fmt.Fprintf(b, "    %s\n", detail)
	}
	writeRemedies(b, "", "    ", c.Remedies)
}

// when says since when and until when.
func (c Cause) when(now time.Time) string {
	var words []string
	if c.Since != nil {
		words = append(words, "since "+clock(c.Since, now)+", "+duration.HumanDuration(now.Sub(c.Since.Time))+" ago")
	}
	switch {
	case c.Until == nil:
	case c.Until.After(now):
		words = append(words, c.end()+clock(c.Until, now)+", in "+duration.HumanDuration(c.Until.Sub(now)))
	default:
		words = append(words, c.end()+clock(c.Until, now)+", any moment now")
	}
	if len(words) == 0 {
		return ""
	}
	return " (" + strings.Join(words, "; ") + ")"
}

// end says what happens at the end: what does not pass is acted upon.
func (c Cause) end() string {
	if c.Passes {
		return "until "
	}
	return "to be replaced at "
}

// clock names a time of this day by the clock, any other with its date.
func clock(t *metav1.Time, now time.Time) string {
	at := t.UTC()
	if at.Format(time.DateOnly) == now.UTC().Format(time.DateOnly) {
		return at.Format("15:04:05 UTC")
	}
	return at.Format("2006-01-02 15:04:05 UTC")
}

// writeRemedies writes each command on a line of its own, to be copied.
func writeRemedies(b *strings.Builder, title, indent string, remedies []Remedy) {
	if len(remedies) == 0 {
		return
	}
	b.WriteString(title)
	for _, remedy := range remedies {
		fmt.Fprintf(b, "%s%s:\n%s  %s\n", indent, remedy.Text, indent, remedy.Command)
	}
}
