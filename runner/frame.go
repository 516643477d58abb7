package main

import (
	"bytes"
	"io"
	"sync"
)

// The three control bytes of the protocol (README.md). None of them, nor any
// escape below, is a printing character, so that a log reads normally.
const (
	markRecord = 0x1D // first byte of a line that the runner itself wrote
	markStderr = 0x1E // first byte of a line of standard error
	markStdout = 0x1F // first byte of an escaped line of standard output
)

// Inside a fragment, newline, carriage return and the escape byte itself are
// written as the escape byte and one more.
const (
	escape         = 0x1F
	escapedNewline = 0x1E
	escapedReturn  = 0x1D
	escapedEscape  = 0x1F
)

// textLines is how many lines a container may have passed on as lines of their own. The container runtime adds about 45
// bytes to each line of its log file and the kubelet drops the head of a file above containerLogMaxSize (10 MiB by
// default), so a mebibyte of very short lines must not become half a million log lines. Beyond the budget, output
// travels in packed fragments: the worst case is 65536 × 46 B + 2 × 2 MiB, about 7 MiB.
const textLines = 65536

// packedBytes is how much output a packed fragment collects. The container
// runtime splits its log lines at 16 KiB, so larger ones would gain nothing.
const packedBytes = 16 * 1024

// framer writes the lines of both streams to one writer, each whole, each
// marked with its stream. Safe for use by both streams at once.
type framer struct {
	mu        sync.Mutex
	w         io.Writer
	linesLeft int
	out       []byte
	err       error
}

func newFramer(w io.Writer) *framer {
	return &framer{w: w, linesLeft: textLines}
}

// channel is one stream's side of a framer.
type channel struct {
	f       *framer
	mark    byte
	pending []byte // bytes of a line (or of a packed fragment) not yet written
}

// pass takes the next bytes of the stream and writes what has become whole.
func (c *channel) pass(p []byte) {
	c.f.mu.Lock()
	defer c.f.mu.Unlock()
	for len(p) > 0 && c.f.linesLeft > 0 {
		i := bytes.IndexByte(p, '\n')
		if i < 0 {
			break
		}
		c.pending = append(c.pending, p[:i]...)
		p = p[i+1:]
		c.line()
	}
	c.pending = append(c.pending, p...)
	if c.f.linesLeft <= 0 && len(c.pending) >= packedBytes {
		c.fragment()
	}
	c.f.flush()
}

// finish writes the unterminated rest, if any. Nothing may be passed after it.
func (c *channel) finish() {
	c.f.mu.Lock()
	defer c.f.mu.Unlock()
	if len(c.pending) > 0 {
		c.fragment()
	}
	c.f.flush()
	c.pending = nil
}

// line writes the pending bytes as one line of text.
func (c *channel) line() {
	line := c.pending
	c.f.linesLeft--
	// Container runtimes treat CR LF as one line end and drop both.
	if len(line) > 0 && line[len(line)-1] == '\r' {
		c.pending = append(line, '\n')
		c.fragment()
		return
	}
	if c.mark == markStderr || len(line) > 0 && line[0] >= markRecord && line[0] <= markStdout {
		c.f.out = append(c.f.out, c.mark)
	}
	c.f.out = append(append(c.f.out, line...), '\n')
	c.pending = c.pending[:0]
}

// fragment writes the pending bytes, whatever they hold, as one log line that
// does not itself mean a line end.
func (c *channel) fragment() {
	out := append(c.f.out, markRecord, c.mark)
	for _, b := range c.pending {
		switch b {
		case '\n':
			out = append(out, escape, escapedNewline)
		case '\r':
			out = append(out, escape, escapedReturn)
		case escape:
			out = append(out, escape, escapedEscape)
		default:
			out = append(out, b)
		}
	}
	c.f.out = append(out, '\n')
	c.pending = c.pending[:0]
}

// trailer writes the last line of the container.
func (f *framer) trailer(json []byte) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.out = append(append(append(f.out, markRecord), json...), '\n')
	f.flush()
	return f.err
}

// flush hands everything collected to the writer. After a failed write the
// framer swallows: the command must be able to end as if its log had no reader.
func (f *framer) flush() {
	if len(f.out) > 0 && f.err == nil {
		_, f.err = f.w.Write(f.out)
	}
	f.out = f.out[:0]
}
