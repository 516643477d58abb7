package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// startAgent starts `runner agent` against a server that hands out one command, and returns when that command runs.
func startAgent(t *testing.T, command string) *running {
	t.Helper()
	started := make(chan struct{})
	var once sync.Once
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "attest") {
			_, _ = io.WriteString(w, `{"session_id":"s"}`)
			return
		}
		_, _ = io.WriteString(w, `{"type":"dispatch","dispatch_id":"d","action":"exec","command":"/bin/sh","args":["-c","`+
			command+`"],"env_additions":{},"timeout_secs":60,"max_output_bytes":100}`)
		once.Do(func() { close(started) })
	}))
	t.Cleanup(server.Close)
	r := &running{cmd: inMachine.command("agent")}
	r.cmd.Stdout, r.cmd.Stderr = &r.log, &r.raw
	r.cmd.Env = append(r.cmd.Env, "WINDLASS_GATEWAY="+server.URL, "WINDLASS_AGENT_ID=a", "WINDLASS_EXECUTION_ID=e",
		"WINDLASS_POD_UID=p", "WINDLASS_MODEL_ALIAS=m", "WINDLASS_WORKSPACE="+t.TempDir(),
		"WINDLASS_TOKEN_FILE="+mustWrite(t, filepath.Join(t.TempDir(), "token"), "t", 0o600))
	if err := r.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	<-started
	return r
}

func TestAgentStops(t *testing.T) {
	for _, s := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT} {
		t.Run("WF-AGENT-04 "+s.String()+" ends the command and the runner", func(t *testing.T) {
			r := startAgent(t, "sleep 60")
			r.signal(t, s)
			_ = r.cmd.Wait()
			if code := r.cmd.ProcessState.ExitCode(); code != 143 {
				t.Errorf("exit code %d, %s", code, r.raw.String())
			}
		})
	}
	t.Run("WF-AGENT-04 a command cannot end the runner by a signal that is not for it", func(t *testing.T) {
		r := startAgent(t, "kill -QUIT $PPID; kill -HUP $PPID; kill -USR1 $PPID; kill -ABRT $PPID; kill -TERM $PPID; sleep 60")
		_ = r.cmd.Wait()
		if code := r.cmd.ProcessState.ExitCode(); code != 143 {
			t.Errorf("exit code %d, %s", code, r.raw.String())
		}
	})
}
