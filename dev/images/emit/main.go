// Command emit writes exactly what a capture test asks for, then exits.
//
//	emit [flags]    e.g. emit -lines 1000000 -width 20 -seconds 10 -stream both
//
// With -seconds the lines are spread evenly over that time; without, they come as fast as the reader takes them.
package main

import (
	"bufio"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"
)

type options struct {
	lines, width, bytes, code int
	seconds                   float64
	stream, text              string
	ignoreTerm                bool
	sleep                     time.Duration
}

func main() {
	o := parse()
	if o.ignoreTerm {
		signal.Ignore(syscall.SIGTERM)
	}
	for _, w := range writers(o.stream) {
		io.WriteString(w, o.text)
		io.WriteString(w, strings.Repeat("x", o.bytes))
		w.Flush()
	}
	writeLines(o)
	time.Sleep(o.sleep)
	os.Exit(o.code)
}

func parse() options {
	var o options
	flag.IntVar(&o.lines, "lines", 0, "how many lines to write")
	flag.IntVar(&o.width, "width", 16, "bytes of a line, its newline included")
	flag.IntVar(&o.bytes, "bytes", 0, "write so many bytes without a newline, before the lines")
	flag.IntVar(&o.code, "code", 0, "exit code")
	flag.Float64Var(&o.seconds, "seconds", 0, "spread the lines over so many seconds")
	flag.StringVar(&o.stream, "stream", "stdout", "stdout, stderr or both (lines alternate)")
	flag.StringVar(&o.text, "text", "", "write this first, as it is")
	flag.BoolVar(&o.ignoreTerm, "ignore-term", false, "ignore SIGTERM")
	flag.DurationVar(&o.sleep, "sleep", 0, "wait so long before exiting")
	flag.Parse()
	return o
}

func writers(stream string) []*bufio.Writer {
	out, err := bufio.NewWriterSize(os.Stdout, 1<<16), bufio.NewWriterSize(os.Stderr, 1<<16)
	switch stream {
	case "stdout":
		return []*bufio.Writer{out}
	case "stderr":
		return []*bufio.Writer{err}
	case "both":
		return []*bufio.Writer{out, err}
	}
	fmt.Fprintf(os.Stderr, "emit: -stream %q is not one of stdout, stderr, both\n", stream)
	os.Exit(2)
	return nil
}

// writeLines numbers the lines from 0 and pads each with dots to the asked width.
func writeLines(o options) {
	ws := writers(o.stream)
	start := time.Now()
	// A hundred waits a second are enough for an even flow.
	batch := o.lines
	if o.seconds > 0 {
		batch = max(1, int(float64(o.lines)/(o.seconds*100)))
	}
	for i := range o.lines {
		if o.seconds > 0 && i%batch == 0 {
			flush(ws)
			due := time.Duration(float64(i) / float64(o.lines) * o.seconds * float64(time.Second))
			time.Sleep(time.Until(start.Add(due)))
		}
		number := fmt.Sprint(i)
		pad := max(0, o.width-1-len(number))
		ws[i%len(ws)].WriteString(number + strings.Repeat(".", pad) + "\n")
	}
	flush(ws)
}

func flush(ws []*bufio.Writer) {
	for _, w := range ws {
		w.Flush()
	}
}
