package process

import "testing"

// Run runs the operator with these arguments and no others until the test ends.
func Run(t testing.TB, args ...string) *Operator {
	t.Helper()
	return RunProgram(t, "", args...)
}

// RunProgram runs another program as the operator; see Become.
func RunProgram(t testing.TB, program string, args ...string) *Operator {
	t.Helper()
	o := &Operator{t: t, program: program, log: createLog(t), flags: args}
	o.start(nil)
	t.Cleanup(func() {
		o.Kill()
		o.closeLog()
	})
	return o
}

// FreeAddress is an address on loopback at which nobody listened a moment ago.
func FreeAddress(t testing.TB) string {
	t.Helper()
	return freeAddress(t)
}

// Become makes the operator another program from its next start on. The program must end when its standard input does.
func (o *Operator) Become(program string) { o.program = program }
