package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestLimit(t *testing.T) {
	const limit = 1048576
	fill := func(n int) string { return strings.Repeat("a", n) }
	cases := map[string]struct {
		in        string
		want      int
		truncated bool
	}{
		"AMB-079 one byte below the limit passes whole":                    {fill(limit - 1), limit - 1, false},
		"AMB-079 exactly the limit passes whole":                           {fill(limit), limit, false},
		"AMB-079 one byte above the limit is cut":                          {fill(limit + 1), limit, true},
		"AMB-079 a two-byte character across the limit is left out":        {fill(limit-1) + "é", limit - 1, true},
		"AMB-079 a three-byte character across the limit is left out at 1": {fill(limit-1) + "€", limit - 1, true},
		"AMB-079 a three-byte character across the limit is left out at 2": {fill(limit-2) + "€", limit - 2, true},
		"AMB-079 a four-byte character across the limit is left out at 1":  {fill(limit-1) + "😀", limit - 1, true},
		"AMB-079 a four-byte character across the limit is left out at 2":  {fill(limit-2) + "😀", limit - 2, true},
		"AMB-079 a four-byte character across the limit is left out at 3":  {fill(limit-3) + "😀", limit - 3, true},
		"AMB-079 a character that ends at the limit stays":                 {fill(limit-4) + "😀", limit, false},
		"AMB-079 a character that ends at the limit stays when cut there":  {fill(limit-4) + "😀" + "b", limit, true},
		"AMB-079 a stream that ends inside a character keeps it":           {fill(limit-2) + "\xe2\x82", limit, false},
		"AMB-079 bytes that are no UTF-8 are cut at the limit":             {fill(limit-3) + "\x80\x80\x80\x80", limit, true},
		"AMB-079 a lone byte 0xff at the limit stays":                      {fill(limit-1) + "\xff" + "b", limit, true},
		"AMB-079 a lead byte with a wrong successor stays":                 {fill(limit-2) + "\xe2a" + "b", limit, true},
	}
	for name, c := range cases {
		for _, chunk := range []int{1, 4096, 65536, len(c.in)} {
			t.Run(fmt.Sprintf("%s (writes of %d)", name, chunk), func(t *testing.T) {
				s := newStream(newFramer(&bytes.Buffer{}), markStdout, limit)
				for p := []byte(c.in); len(p) > 0; {
					n := min(chunk, len(p))
					s.write(p[:n])
					p = p[n:]
				}
				s.close()
				sum := sha256.Sum256([]byte(c.in[:c.want]))
				want := streamReport{int64(c.want), int64(len(c.in)), hex.EncodeToString(sum[:]), c.truncated}
				if got := s.report(); got != want {
					t.Errorf("got %+v, want %+v", got, want)
				}
			})
		}
	}
}

func TestTinyLimits(t *testing.T) {
	for limit := range int64(5) {
		t.Run(fmt.Sprintf("AMB-079 a limit of %d passes no more", limit), func(t *testing.T) {
			var log bytes.Buffer
			s := newStream(newFramer(&log), markStdout, limit)
			s.write([]byte("abcdef"))
			s.close()
			want := "abcdef"[:limit]
			if got := strings.TrimSuffix(strings.TrimPrefix(log.String(), "\x1d\x1f"), "\n"); got != want {
				t.Errorf("got %q, want %q", got, want)
			}
			if r := s.report(); r.Bytes != limit || r.TotalBytes != 6 || !r.Truncated {
				t.Errorf("report %+v", r)
			}
		})
	}
}

func TestDrain(t *testing.T) {
	t.Run("WF-CR-19 a writer that cannot be killed does not hold the runner", func(t *testing.T) {
		r, w, err := newPipe()
		if err != nil {
			t.Fatal(err)
		}
		defer syscall.Close(w)
		s := newStream(newFramer(&bytes.Buffer{}), markStdout, 100)
		if _, err := syscall.Write(w, []byte("in the pipe\n")); err != nil {
			t.Fatal(err)
		}
		if err := r.file.SetReadDeadline(time.Now()); err != nil {
			t.Fatal(err)
		}
		r.drainInto(s)
		if s.total != 12 {
			t.Errorf("read %d bytes of 12", s.total)
		}
	})
	t.Run("WF-CR-19 the command's end of a pipe blocks, the runner's does not", func(t *testing.T) {
		r, w, err := newPipe()
		if err != nil {
			t.Fatal(err)
		}
		defer os.NewFile(uintptr(w), "w").Close()
		if !nonblocking(t, r.fd) || nonblocking(t, w) {
			t.Errorf("non-blocking: reading end %v, writing end %v", nonblocking(t, r.fd), nonblocking(t, w))
		}
	})
}

func nonblocking(t *testing.T, fd int) bool {
	t.Helper()
	flags, _, errno := syscall.Syscall(syscall.SYS_FCNTL, uintptr(fd), syscall.F_GETFL, 0)
	if errno != 0 {
		t.Fatal(errno)
	}
	return flags&syscall.O_NONBLOCK != 0
}
