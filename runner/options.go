package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"time"
)

// options is what the controller tells the runner about one step.
type options struct {
	argv           []string
	workdir        string
	timeout        time.Duration
	timeoutGrace   time.Duration
	grace          time.Duration
	limit          int64
	terminationLog string
	oomCounter     string
}

func newFlags() (*flag.FlagSet, *options) {
	o := &options{}
	f := flag.NewFlagSet("run", flag.ContinueOnError)
	f.SetOutput(io.Discard)
	f.StringVar(&o.workdir, "workdir", "", "directory to run in; made when it is missing (default: the container's)")
	f.DurationVar(&o.timeout, "timeout", 0, "stop the command after this long, exit code 124 (0: never)")
	f.DurationVar(&o.timeoutGrace, "timeout-grace", time.Second, "time between SIGTERM and SIGKILL after the timeout")
	f.DurationVar(&o.grace, "grace", 20*time.Second, "time between a forwarded stop signal and SIGKILL; keep it below the pod's grace period")
	f.Int64Var(&o.limit, "limit", 1048576, "bytes of each stream to pass on; the rest is read and dropped")
	f.StringVar(&o.terminationLog, "termination-log", "/dev/termination-log", "file for the result (empty: none)")
	f.StringVar(&o.oomCounter, "oom-counter", "", "file with a line oom_kill NUMBER (default: the container's cgroup, version 2 or 1)")
	return f, o
}

// parseOptions reads the arguments of run. flag.ErrHelp means help was asked for.
func parseOptions(args []string) (*options, error) {
	f, o := newFlags()
	if err := f.Parse(args); err != nil {
		return nil, err
	}
	o.argv = f.Args()
	switch {
	case len(o.argv) == 0:
		return nil, errors.New("no command; write it after --")
	case o.argv[0] == "":
		return nil, errors.New("the command is an empty string")
	case o.limit < 0:
		return nil, fmt.Errorf("--limit %d: must be 0 or more", o.limit)
	case o.timeout < 0 || o.timeoutGrace < 0 || o.grace < 0:
		return nil, errors.New("--timeout, --timeout-grace and --grace must not be negative")
	}
	return o, nil
}
