package main

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"hash"
	"os"
	"syscall"
	"unicode/utf8"
)

// utf8Window is how many bytes of an unfinished UTF-8 character there can be.
const utf8Window = utf8.UTFMax - 1

// maxPipe is the largest pipe that an unprivileged process can make.
const maxPipe = 1 << 20

// stream passes on the first bytes of one output stream and counts the rest.
//
// The last three bytes before the limit are held back until it is known whether the stream ends there: only then can a
// character that the limit would cut in two be left out, while a stream that ends within the limit is passed on whole.
type stream struct {
	ch        channel
	limit     int64
	passed    int64
	total     int64
	held      []byte
	truncated bool
	digest    hash.Hash
}

func newStream(f *framer, mark byte, limit int64) *stream {
	return &stream{ch: channel{f: f, mark: mark}, limit: limit, digest: sha256.New()}
}

// write takes the next bytes that the command has written.
func (s *stream) write(p []byte) {
	s.total += int64(len(p))
	if s.truncated {
		return
	}
	free := max(s.limit-utf8Window-s.passed, 0)
	n := min(int64(len(p)), free)
	s.forward(p[:n])
	p = p[n:]
	room := s.limit - s.passed - int64(len(s.held))
	n = min(int64(len(p)), room)
	s.held = append(s.held, p[:n]...)
	if int64(len(p)) > room {
		s.truncated = true
		s.forward(wholeCharacters(s.held))
		s.ch.finish()
	}
}

// close passes on what was held back. Nothing may be written after it.
func (s *stream) close() {
	if !s.truncated {
		s.forward(s.held)
		s.ch.finish()
	}
}

func (s *stream) forward(p []byte) {
	if len(p) == 0 {
		return
	}
	s.passed += int64(len(p))
	s.digest.Write(p)
	s.ch.pass(p)
}

// wholeCharacters drops the beginning of a UTF-8 character from the end of p.
// Bytes that are no UTF-8 at all stay.
func wholeCharacters(p []byte) []byte {
	for i := range p {
		if !utf8.FullRune(p[i:]) {
			return p[:i]
		}
	}
	return p
}

func (s *stream) report() streamReport {
	return streamReport{s.passed, s.total, hex.EncodeToString(s.digest.Sum(nil)), s.truncated}
}

// source is the reading end of the pipe that the command writes to.
type source struct {
	file *os.File
	fd   int
}

// newPipe returns a pipe's reading end, under the runtime's poller, and the descriptor of its writing end, which stays
// blocking as a program expects of its standard output. The pipe keeps the default size of 64 KiB: larger ones are
// charged to the user, all pods together, and beyond the user's allowance the kernel makes every new pipe tiny.
func newPipe() (*source, int, error) {
	var p [2]int
	if err := syscall.Pipe2(p[:], syscall.O_CLOEXEC); err != nil {
		return nil, 0, err
	}
	if err := syscall.SetNonblock(p[0], true); err != nil {
		return nil, 0, err
	}
	return &source{file: os.NewFile(uintptr(p[0]), "pipe"), fd: p[0]}, p[1], nil
}

// drainInto feeds the stream until every writer is gone, or, once a deadline is
// set on the file, until the pipe is empty.
func (r *source) drainInto(s *stream) {
	defer s.close()
	buf := make([]byte, 64*1024)
	for {
		n, err := r.file.Read(buf)
		s.write(buf[:n])
		if errors.Is(err, os.ErrDeadlineExceeded) {
			r.drainRest(s, buf)
			return
		}
		if err != nil {
			return
		}
	}
}

// drainRest reads what a pipe can hold without ever waiting for a writer.
func (r *source) drainRest(s *stream, buf []byte) {
	for left := maxPipe; left > 0; {
		n, err := syscall.Read(r.fd, buf)
		if err == syscall.EINTR {
			continue
		}
		if n <= 0 || err != nil {
			return
		}
		s.write(buf[:n])
		left -= n
	}
}
