package localcluster

import (
	"fmt"
	"io"
	"sync"
	"time"
)

// Reporter tells a person what is going on, a line at a time.
type Reporter struct {
	mu  sync.Mutex
	out io.Writer
}

// NewReporter writes to out.
func NewReporter(out io.Writer) *Reporter { return &Reporter{out: out} }

// Step does a piece of work and says which and, when it is done, how long it took.
func (r *Reporter) Step(name string, work func() error) error {
	begin := time.Now()
	r.Printf("  %-26s", name)
	err := work()
	outcome := "ok"
	if err != nil {
		outcome = "failed"
	}
	r.Printf("%-7s%5.1fs\n", outcome, time.Since(begin).Seconds())
	return err
}

// Printf writes a text as it is.
func (r *Reporter) Printf(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	fmt.Fprintf(r.out, format, args...)
}
