package faultproxy

import (
	"bufio"
	"bytes"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"
)

// A client whose clock is ahead by d sees the API server's times d too early, and the times that it writes are d too late
// for everybody else. So times in answers are moved back and times in requests ahead, and the client, whose clock is
// right, can't tell the difference.

// moment is a field with a time, as JSON has it: what comes before the time, the time in whole seconds, and the rest.
var moment = regexp.MustCompile(`("[A-Za-z]*[tT]ime(?:stamp)?":")([0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2})((?:\.[0-9]+)?Z")`)

const wholeSeconds = "2006-01-02T15:04:05"

// shift moves all times in a JSON text.
func shift(text []byte, by time.Duration) []byte {
	return moment.ReplaceAllFunc(text, func(field []byte) []byte {
		parts := moment.FindSubmatch(field)
		at, err := time.Parse(wholeSeconds, string(parts[2]))
		if err != nil {
			return field
		}
		return slices.Concat(parts[1], []byte(at.Add(by).Format(wholeSeconds)), parts[3])
	})
}

// shiftQuestion moves the times in a request, and has it answered in JSON, where times can be found.
func (p *Proxy) shiftQuestion(r *http.Request) error {
	if p.ahead == 0 {
		return nil
	}
	if strings.Contains(r.Header.Get("Accept"), "protobuf") {
		r.Header.Set("Accept", "application/json")
	}
	r.Header.Del("Accept-Encoding")
	if !strings.Contains(r.Header.Get("Content-Type"), "json") {
		return nil // creates of built-in kinds, which have no times in them
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return err
	}
	body = shift(body, p.ahead)
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	return nil
}

// shiftAnswer moves the times in an answer, line by line: a watch sends an event in each.
func (p *Proxy) shiftAnswer(response *http.Response) error {
	if p.ahead == 0 || !strings.Contains(response.Header.Get("Content-Type"), "json") {
		return nil
	}
	response.Header.Del("Content-Length")
	response.ContentLength = -1
	response.Body = &shifted{lines: bufio.NewReader(response.Body), Closer: response.Body, by: -p.ahead}
	return nil
}

// shifted is a body with its times moved.
type shifted struct {
	io.Closer
	lines *bufio.Reader
	by    time.Duration
	ready []byte
}

func (s *shifted) Read(into []byte) (int, error) {
	if len(s.ready) == 0 {
		line, err := s.lines.ReadBytes('\n')
		if len(line) == 0 {
			return 0, err
		}
		s.ready = shift(line, s.by)
	}
	n := copy(into, s.ready)
	s.ready = s.ready[n:]
	return n, nil
}
