package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"syscall"
	"time"
)

// Reasons that a result can carry. None means: the command ended by itself.
const (
	reasonTimeout       = "timeout"        // --timeout passed
	reasonTerminated    = "terminated"     // the container was stopped
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
	OOMKilled  bool         `json:"oom_killed,omitempty"`
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

// encode never fails on a result: all its fields are plain.
func (r result) encode() []byte {
	r.Error = strings.ToValidUTF8(r.Error[:min(len(r.Error), maxError)], "")
	out, _ := json.Marshal(r)
	return out
}

// The signals from 1 on, as Linux numbers them on every machine that Kubernetes runs on.
var signalNames = strings.Fields(`HUP INT QUIT ILL TRAP ABRT BUS FPE KILL USR1 SEGV USR2 PIPE ALRM TERM STKFLT
	CHLD CONT STOP TSTP TTIN TTOU URG XCPU XFSZ VTALRM PROF WINCH IO PWR SYS`)

func signalName(s syscall.Signal) string {
	if n := int(s); n > 0 && n <= len(signalNames) {
		return "SIG" + signalNames[n-1]
	}
	return fmt.Sprintf("SIG%d", int(s))
}
