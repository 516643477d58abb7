package main

import (
	"encoding/json"
	"fmt"
	"os"
	"syscall"
	"time"
	"unicode/utf8"
)

// Reasons that a result can carry. None means: the command ended by itself.
const (
	reasonTimeout       = "timeout"        // --timeout passed
	reasonTerminated    = "terminated"     // the container was told to stop
	reasonSignaled      = "signaled"       // a signal that the runner did not send ended the command
	reasonNotFound      = "not_found"      // the command does not exist
	reasonNotExecutable = "not_executable" // the command exists and cannot be executed
	reasonWorkdir       = "workdir"        // the working directory could not be entered
	reasonStartFailed   = "start_failed"   // the machine could not start a process
)

// maxError keeps the result below the 4096 bytes of a termination message:
// JSON writes up to six bytes for one of a string.
const maxError = 512

// result is the trailer, and the termination message, as JSON.
type result struct {
	Version    int          `json:"v"`
	ExitCode   int          `json:"exit_code"`
	Signal     string       `json:"signal,omitempty"`
	Reason     string       `json:"reason,omitempty"`
	Error      string       `json:"error,omitempty"`
	StartedAt  time.Time    `json:"started_at"`
	FinishedAt time.Time    `json:"finished_at"`
	DurationMS int64        `json:"duration_ms"`
	Stdout     streamReport `json:"stdout"`
	Stderr     streamReport `json:"stderr"`
}

// streamReport says what of a stream was passed on. SHA256 is of those bytes,
// as the command wrote them, before any framing.
type streamReport struct {
	Bytes      int64  `json:"bytes"`
	TotalBytes int64  `json:"total_bytes"`
	SHA256     string `json:"sha256"`
	Truncated  bool   `json:"truncated"`
}

// outcome is how a command ended, or why it never began.
type outcome struct {
	exitCode int
	signal   string
	reason   string
	message  string // one line for the user; only when the command never began
}

func outcomeOf(ws syscall.WaitStatus) outcome {
	if ws.Signaled() {
		return outcome{
			exitCode: 128 + int(ws.Signal()),
			signal:   signalName(ws.Signal()),
			reason:   reasonSignaled,
		}
	}
	return outcome{exitCode: ws.ExitStatus()}
}

// encode never fails on a result: all its fields are plain.
func (r result) encode() []byte {
	r.Error = shorten(r.Error)
	out, err := json.Marshal(r)
	if err != nil {
		panic(err)
	}
	return out
}

func shorten(s string) string {
	for n := maxError; len(s) > n; n-- {
		if utf8.RuneStart(s[n]) {
			return s[:n] + "…"
		}
	}
	return s
}

// writeTerminationMessage is done before the trailer is written: whoever saw
// the trailer finds the same result in the container's status. A container
// without the file still has the trailer, so failing is no reason to fail.
func writeTerminationMessage(path string, message []byte) {
	if path == "" {
		return
	}
	_ = os.WriteFile(path, message, 0o644)
}

var signalNames = [...]string{
	1: "SIGHUP", 2: "SIGINT", 3: "SIGQUIT", 4: "SIGILL", 5: "SIGTRAP", 6: "SIGABRT", 7: "SIGBUS", 8: "SIGFPE",
	9: "SIGKILL", 10: "SIGUSR1", 11: "SIGSEGV", 12: "SIGUSR2", 13: "SIGPIPE", 14: "SIGALRM", 15: "SIGTERM",
	16: "SIGSTKFLT", 17: "SIGCHLD", 18: "SIGCONT", 19: "SIGSTOP", 20: "SIGTSTP", 21: "SIGTTIN", 22: "SIGTTOU",
	23: "SIGURG", 24: "SIGXCPU", 25: "SIGXFSZ", 26: "SIGVTALRM", 27: "SIGPROF", 28: "SIGWINCH", 29: "SIGIO",
	30: "SIGPWR", 31: "SIGSYS",
}

func signalName(s syscall.Signal) string {
	if n := int(s); n > 0 && n < len(signalNames) {
		return signalNames[n]
	}
	return fmt.Sprintf("SIG%d", int(s))
}
