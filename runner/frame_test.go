package main

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"
)

func TestFraming(t *testing.T) {
	cases := map[string]struct {
		stdout, stderr []string
		want           string
	}{
		"WF-CR-19 a line of standard output passes unchanged":            {stdout: []string{"hello\n"}, want: "hello\n"},
		"WF-CR-19 a line of standard error is marked":                    {stderr: []string{"oh\n"}, want: "\x1eoh\n"},
		"WF-CR-19 an empty line stays a line on both streams":            {stdout: []string{"\n"}, stderr: []string{"\n"}, want: "\n\x1e\n"},
		"WF-CR-19 a stdout line cannot pose as a trailer":                {stdout: []string{"\x1d{}\n"}, want: "\x1f\x1d{}\n"},
		"WF-CR-19 a stdout line cannot pose as standard error":           {stdout: []string{"\x1ex\n"}, want: "\x1f\x1ex\n"},
		"WF-CR-19 a stdout line that begins with the escape is escaped":  {stdout: []string{"\x1fx\n"}, want: "\x1f\x1fx\n"},
		"WF-CR-19 the neighbours of the control bytes are not escaped":   {stdout: []string{"\x1cx\n\x20y\n"}, want: "\x1cx\n y\n"},
		"WF-CR-19 a control byte inside a line is left alone":            {stdout: []string{"a\x1d{}\n"}, want: "a\x1d{}\n"},
		"WF-CR-19 a stderr line cannot pose as a trailer":                {stderr: []string{"\x1d{}\n"}, want: "\x1e\x1d{}\n"},
		"WF-CR-19 a line that arrives in pieces is written whole":        {stdout: []string{"a", "b", "c\nd", "\n"}, want: "abc\nd\n"},
		"WF-CR-19 an unterminated last line is marked":                   {stdout: []string{"a\nb"}, stderr: []string{"c"}, want: "a\n\x1d\x1fb\n\x1d\x1ec\n"},
		"WF-CR-19 an unterminated last line hides no control byte":       {stdout: []string{"\x1d{}\x1f\r"}, want: "\x1d\x1f\x1d{}\x1f\x1f\x1f\x1d\n"},
		"WF-CR-19 a line that ends in CR survives runtimes that drop it": {stdout: []string{"a\r\n"}, stderr: []string{"\r\n"}, want: "\x1d\x1fa\x1f\x1d\x1f\x1e\n\x1d\x1e\x1f\x1d\x1f\x1e\n"},
		"WF-CR-19 a CR inside a line is left alone":                      {stdout: []string{"1%\r2%\n"}, want: "1%\r2%\n"},
		"WF-CR-19 NUL and invalid UTF-8 pass unchanged":                  {stdout: []string{"\x00\xff\xc3\n"}, want: "\x00\xff\xc3\n"},
		"WF-CR-19 a stream without output writes nothing":                {want: ""},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			var log bytes.Buffer
			f := newFramer(&log)
			out, err := channel{f: f, mark: markStdout}, channel{f: f, mark: markStderr}
			for _, p := range c.stdout {
				out.pass([]byte(p))
			}
			for _, p := range c.stderr {
				err.pass([]byte(p))
			}
			out.finish()
			err.finish()
			if got := log.String(); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestTextLineBudget(t *testing.T) {
	for _, extra := range []int{-1, 0, 1} {
		t.Run(fmt.Sprintf("WF-CR-20 after the budget of lines %+d, output is packed", extra), func(t *testing.T) {
			var log bytes.Buffer
			c := channel{f: newFramer(&log), mark: markStdout}
			c.pass(bytes.Repeat([]byte("y\n"), textLines+extra))
			c.finish()
			want := strings.Repeat("y\n", min(textLines, textLines+extra))
			if extra > 0 {
				want += "\x1d\x1fy\x1f\x1e\n"
			}
			if log.String() != want {
				t.Errorf("got %d bytes that end in %q, want %d", log.Len(), tail(log.Bytes()), len(want))
			}
		})
	}
}

// The kubelet drops the head of a container's log above 10 MiB.
func TestLogFileStaysBelowRotation(t *testing.T) {
	const limit, prefix, rotation = 1 << 20, 46, 10 << 20
	worst := map[string]string{"empty lines": "\n", "CR LF lines": "\r\n", "escapes": "\x1f\n", "one-byte lines": "y\n"}
	for name, line := range worst {
		t.Run("WF-CR-20 WF-CR-21 a full log of "+name+" is not rotated", func(t *testing.T) {
			var log bytes.Buffer
			f := newFramer(&log)
			for _, mark := range []byte{markStdout, markStderr} {
				s := newStream(f, mark, limit)
				for range 3 * limit / len(line) {
					s.write([]byte(line)) // one write a line: the least favourable pace
				}
				s.close()
			}
			size := 0
			for l := range bytes.Lines(log.Bytes()) {
				size += len(l) + prefix*(1+len(l)/packedBytes)
			}
			if size > rotation*8/10 {
				t.Errorf("%d bytes in the container's log file", size)
			}
		})
	}
}

type brokenWriter struct{ calls int }

func (w *brokenWriter) Write([]byte) (int, error) {
	w.calls++
	return 0, errors.New("no reader")
}

func TestBrokenLog(t *testing.T) {
	t.Run("WF-CR-19 a log that cannot be written to stops nothing and is not tried again", func(t *testing.T) {
		w := &brokenWriter{}
		f := newFramer(w)
		s := newStream(f, markStdout, 100)
		s.write([]byte("a\nb\n"))
		s.write([]byte("c\n"))
		s.close()
		if err := f.trailer([]byte("{}")); err == nil {
			t.Error("the trailer was reported as written")
		}
		if w.calls != 1 || s.total != 6 {
			t.Errorf("%d writes, %d bytes read", w.calls, s.total)
		}
	})
}

func tail(p []byte) []byte {
	return p[max(0, len(p)-20):]
}
