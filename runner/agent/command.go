package agent

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
)

// Exit codes of a command that did not end by itself; the same as those of `runner run`.
const (
	exitTimeout       = 124
	exitStartFailed   = 125
	exitNotExecutable = 126
	exitNotFound      = 127
)

const (
	// timeoutGrace lies between SIGTERM and SIGKILL after the timeout.
	timeoutGrace = time.Second
	// drainPatience bounds the wait for output of processes that left the command's group.
	drainPatience  = time.Second
	defaultTimeout = 300
	longestTimeout = 7 * 24 * 3600
	defaultOutput  = 524_288
)

// commands runs one command at a time, each as the leader of a process group of its own.
type commands struct {
	workspace string
	group     atomic.Int64 // the group that runs, 0: none
}

// run runs a command without a shell. The answer says how it ended: there is no error.
func (c *commands) run(ctx context.Context, a answer) resultRequest {
	limit := &budget{left: positive(a.MaxOutputBytes, defaultOutput)}
	stdout, stderr := &capped{budget: limit}, &capped{budget: limit}
	begun := time.Now()
	code := c.execute(ctx, a, stdout, stderr)
	return resultRequest{
		Type:       "dispatch_result",
		DispatchID: a.DispatchID,
		ExitCode:   code,
		Stdout:     stdout.text(),
		Stderr:     stderr.text(),
		DurationMS: time.Since(begun).Milliseconds(),
		Truncated:  limit.truncated,
	}
}

func positive(n, fallback int) int {
	if n > 0 {
		return n
	}
	return fallback
}

func (c *commands) execute(ctx context.Context, a answer, stdout, stderr *capped) int {
	say := func(code int, words string) int {
		_, _ = stderr.Write([]byte("runner: " + words + "\n"))
		return code
	}
	if a.Action != "exec" {
		return say(exitStartFailed, "the action "+a.Action+" is unknown; exec is the only one")
	}
	env := commandEnvironment(a.EnvAdditions)
	path, code, words := find(a.Command, env)
	if code != 0 {
		return say(code, words)
	}
	cwd := a.Cwd
	if cwd == "" {
		cwd = c.workspace
	}
	if info, err := os.Stat(cwd); err != nil || !info.IsDir() {
		return say(exitStartFailed, "cannot use the working directory "+cwd)
	}
	cmd := &exec.Cmd{Path: path, Args: append([]string{a.Command}, a.Args...), Env: env, Dir: cwd}
	cmd.Stdout, cmd.Stderr = stdout, stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.WaitDelay = drainPatience
	if err := cmd.Start(); err != nil {
		return say(exitNotExecutable, "cannot execute "+path+": "+cause(err))
	}
	timeout := min(positive(a.TimeoutSecs, defaultTimeout), longestTimeout)
	return c.supervise(ctx, cmd, time.Duration(timeout)*time.Second)
}

// supervise returns when the command has ended; what it left behind in its group is killed.
func (c *commands) supervise(ctx context.Context, cmd *exec.Cmd, timeout time.Duration) int {
	pid := cmd.Process.Pid
	c.group.Store(int64(pid))
	defer c.group.Store(0)
	stop := time.AfterFunc(timeout, func() { _ = syscall.Kill(-pid, syscall.SIGTERM) })
	kill := time.AfterFunc(timeout+timeoutGrace, func() { _ = syscall.Kill(-pid, syscall.SIGKILL) })
	state, err := cmd.Process.Wait()
	timedOut := !stop.Stop()
	kill.Stop()
	_ = syscall.Kill(-pid, syscall.SIGKILL)
	// Wait a second time: Cmd closes the pipes, after drainPatience at the latest.
	_ = cmd.Wait()
	switch {
	case timedOut:
		return exitTimeout
	case err != nil || ctx.Err() != nil:
		return exitStartFailed
	}
	if status, is := state.Sys().(syscall.WaitStatus); is && status.Signaled() {
		return 128 + int(status.Signal())
	}
	return state.ExitCode()
}

// stop ends the command that runs.
func (c *commands) stop() {
	if group := c.group.Load(); group > 0 {
		_ = syscall.Kill(-int(group), syscall.SIGKILL)
	}
}

// find looks a command up as a shell does, in the PATH that the command will have.
func find(name string, env []string) (path string, code int, words string) {
	if name == "" {
		return "", exitNotFound, "the command is empty"
	}
	if strings.Contains(name, "/") {
		return checked(name)
	}
	search := "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
	for _, entry := range env {
		if value, is := strings.CutPrefix(entry, "PATH="); is {
			search = value
		}
	}
	for _, dir := range filepath.SplitList(search) {
		candidate := filepath.Join(dir, name)
		if _, failed, _ := checked(candidate); failed == 0 && filepath.IsAbs(candidate) {
			return candidate, 0, ""
		}
	}
	return "", exitNotFound, "command not found: " + name
}

func checked(path string) (string, int, string) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", exitNotFound, "command not found: " + path
	case err != nil:
		return "", exitNotExecutable, "cannot execute " + path + ": " + cause(err)
	case info.IsDir():
		return "", exitNotExecutable, "cannot execute " + path + ": it is a directory"
	case info.Mode()&0o111 == 0:
		return "", exitNotExecutable, "cannot execute " + path + ": it has no execute permission"
	}
	return path, 0, ""
}

// cause is the last error of a chain, without the paths that our own words name.
func cause(err error) string {
	if p, is := errors.AsType[*fs.PathError](err); is {
		return p.Err.Error()
	}
	return err.Error()
}

// reap takes orphans over that have ended; it must not run while a command does.
func reap() {
	for {
		var status syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &status, syscall.WNOHANG, nil)
		if errors.Is(err, syscall.EINTR) {
			continue
		}
		if err != nil || pid <= 0 {
			return
		}
	}
}
