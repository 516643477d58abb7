package main

import (
	"cmp"
	"errors"
	"flag"
	"os"
	"runtime"
	"sync"
	"syscall"
	"time"
)

// processors is what the runner needs: one to read each stream. More would
// only cost memory on a large node.
const processors = 2

// drainPatience bounds the wait for output of processes that cannot be killed.
const drainPatience = time.Second

func runMain(args []string) int {
	o, err := parseOptions(args)
	if errors.Is(err, flag.ErrHelp) {
		printHelp()
		return 0
	}
	if err == nil {
		err = protect()
	}
	if err != nil {
		return usageError(err.Error() + "; try: runner help")
	}
	runtime.GOMAXPROCS(min(processors, runtime.NumCPU()))
	return run(o, os.Stdout)
}

// run is the life of a step container: start, wait, kill what is left, drain,
// report. It returns the exit code that the container shall have.
func run(o *options, log *os.File) int {
	signals := catchSignals()
	f := newFramer(log)
	streams := [2]*stream{newStream(f, markStdout, o.limit), newStream(f, markStderr, o.limit)}

	killed, begun := oomKills(o.oomCounter), time.Now()
	end := supervise(o, streams, signals)
	finished := time.Now()

	r := result{
		Version:    1,
		ExitCode:   end.exitCode,
		Signal:     end.signal,
		Reason:     end.reason,
		Error:      end.message,
		OOMKilled:  oomKills(o.oomCounter) > killed,
		StartedAt:  begun.UTC(),
		FinishedAt: finished.UTC(),
		DurationMS: finished.Sub(begun).Milliseconds(),
		Stdout:     streams[0].report(),
		Stderr:     streams[1].report(),
	}
	message := r.encode()
	// The termination message comes first: a reader of the trailer finds the
	// same result in the container's status. Either is enough if the other fails.
	if o.terminationLog != "" {
		_ = os.WriteFile(o.terminationLog, message, 0o644)
	}
	_ = f.trailer(message)
	return end.exitCode
}

// supervise returns when the command has ended, no process is left, and both
// streams are complete.
func supervise(o *options, streams [2]*stream, signals <-chan os.Signal) outcome {
	var sources [2]*source
	var ends [2]int
	for i := range sources {
		var err error
		if sources[i], ends[i], err = newPipe(); err != nil {
			return fail(streams, *startFailure("pipe", syscall.EMFILE))
		}
	}
	pid, failure := start(o, ends[0], ends[1])
	for _, fd := range ends {
		_ = syscall.Close(fd)
	}
	if failure != nil {
		return fail(streams, *failure)
	}

	var drained sync.WaitGroup
	for i := range sources {
		drained.Go(func() { sources[i].drainInto(streams[i]) })
	}
	end := watch(o, adopt(pid), signals)
	for _, s := range sources {
		_ = s.file.SetReadDeadline(time.Now().Add(drainPatience))
	}
	drained.Wait()
	return end
}

// fail reports a command that never began, in its own standard error, as a
// shell would.
func fail(streams [2]*stream, o outcome) outcome {
	streams[1].write([]byte("runner: " + o.message + "\n"))
	for _, s := range streams {
		s.close()
	}
	return o
}

// watch forwards signals and enforces the deadlines until the command has
// ended, then ends every process that it has left behind.
//
//	running --timeout--> SIGTERM --timeout-grace--> SIGKILL to all
//	running --stop signal--> forwarded --grace--> SIGKILL to all
func watch(o *options, f *family, signals <-chan os.Signal) outcome {
	var timeout, kill <-chan time.Time
	if o.timeout > 0 {
		timeout = time.After(o.timeout)
	}
	reason := ""
	for {
		select {
		case s := <-signals:
			if stops(s) && reason == "" {
				reason, kill = reasonTerminated, time.After(o.grace)
			}
			f.forward(s)
		case <-timeout:
			reason, kill = reasonTimeout, time.After(o.timeoutGrace)
			f.forward(syscall.SIGTERM)
		case <-kill:
			f.kill()
		case ws := <-f.ended:
			f.killAll()
			return concluded(ws, reason)
		}
	}
}

func concluded(ws syscall.WaitStatus, reason string) outcome {
	end := outcome{exitCode: ws.ExitStatus(), reason: reason}
	if ws.Signaled() {
		end.exitCode = 128 + int(ws.Signal())
		end.signal = signalName(ws.Signal())
		end.reason = cmp.Or(reason, reasonSignaled)
	}
	if reason == reasonTimeout {
		end.exitCode = exitTimeout
	}
	return end
}
