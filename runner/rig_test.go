package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// The test program is also the runner under test: it becomes one when this is set.
const asRunner = "RUNNER_UNDER_TEST"

func TestMain(m *testing.M) {
	if os.Getenv(asRunner) != "" {
		os.Unsetenv(asRunner)
		main()
	}
	os.Exit(m.Run())
}

// ended is what a run has left behind.
type ended struct {
	code           int
	log            string
	stdout, stderr string
	result         result
	raw            string // standard error of the runner itself
}

// place says where the runner runs: as a child like any other, or as process 1
// of a process namespace, without capabilities, as in a container.
type place []string

var inMachine = place{}

func inContainer(t *testing.T) place {
	t.Helper()
	p := place{"unshare", "--pid", "--fork", "--mount-proc"}
	if os.Getuid() != 0 {
		p = place{"unshare", "--user", "--map-root-user", "--pid", "--fork", "--mount-proc"}
	}
	p = append(p, "setpriv", "--bounding-set=-all", "--inh-caps=-all", "--no-new-privs")
	if out, err := exec.Command(p[0], append(p[1:], "true")...).CombinedOutput(); err != nil {
		t.Skipf("this machine gives no process namespace: %v %s", err, out)
	}
	return p
}

func (p place) command(args ...string) *exec.Cmd {
	argv := append(append([]string{}, p...), os.Args[0])
	argv = append(argv, args...)
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Env = append(os.Environ(), asRunner+"=1")
	return cmd
}

// run runs `runner run ARGS` to its end and reads its log.
func (p place) run(t *testing.T, args ...string) ended {
	t.Helper()
	return p.start(t, args...).wait(t)
}

type running struct {
	cmd         *exec.Cmd
	log, raw    lockedBuffer
	termination string
}

func (p place) start(t *testing.T, args ...string) *running {
	t.Helper()
	r := &running{termination: filepath.Join(t.TempDir(), "termination-log")}
	r.cmd = p.command(append([]string{"run", "--termination-log", r.termination}, args...)...)
	r.cmd.Env = append(r.cmd.Env, "TERMINATION_LOG="+r.termination)
	r.cmd.Stdout, r.cmd.Stderr = &r.log, &r.raw
	// A descriptor that a container runtime might leak.
	r.cmd.ExtraFiles = []*os.File{os.Stdin}
	if err := r.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return r
}

func (r *running) wait(t *testing.T) ended {
	t.Helper()
	err := r.cmd.Wait()
	if _, isExit := errors.AsType[*exec.ExitError](err); err != nil && !isExit {
		t.Fatal(err)
	}
	e := ended{code: r.cmd.ProcessState.ExitCode(), log: r.log.String(), raw: r.raw.String()}
	trailer := e.decode(t)
	message, err := os.ReadFile(r.termination)
	if err != nil || string(message) != trailer {
		t.Errorf("termination message %q (%v) is not the trailer %q", message, err, trailer)
	}
	if len(message) > 4096 {
		t.Errorf("termination message of %d bytes", len(message))
	}
	e.verify(t)
	return e
}

// decode splits a log again, independently of the framer.
func (e *ended) decode(t *testing.T) (trailer string) {
	t.Helper()
	lines := strings.SplitAfter(e.log, "\n")
	if n := len(lines); n < 2 || lines[n-1] != "" || !strings.HasPrefix(lines[n-2], "\x1d{") {
		t.Fatalf("the log does not end in a trailer: %q, runner said %q", tail([]byte(e.log)), e.raw)
	}
	trailer = strings.TrimSuffix(lines[len(lines)-2][1:], "\n")
	if err := json.Unmarshal([]byte(trailer), &e.result); err != nil {
		t.Fatal(err)
	}
	unescape := strings.NewReplacer("\x1f\x1e", "\n", "\x1f\x1d", "\r", "\x1f\x1f", "\x1f")
	for _, l := range lines[:len(lines)-2] {
		switch {
		case strings.HasPrefix(l, "\x1d\x1f"):
			e.stdout += unescape.Replace(strings.TrimSuffix(l[2:], "\n"))
		case strings.HasPrefix(l, "\x1d\x1e"):
			e.stderr += unescape.Replace(strings.TrimSuffix(l[2:], "\n"))
		case strings.HasPrefix(l, "\x1d"):
			t.Fatalf("unknown record %q", l)
		case strings.HasPrefix(l, "\x1e"):
			e.stderr += l[1:]
		case strings.HasPrefix(l, "\x1f"):
			e.stdout += l[1:]
		default:
			e.stdout += l
		}
	}
	return trailer
}

func (e *ended) verify(t *testing.T) {
	t.Helper()
	for name, s := range map[string]struct {
		got    string
		report streamReport
	}{"stdout": {e.stdout, e.result.Stdout}, "stderr": {e.stderr, e.result.Stderr}} {
		sum := sha256.Sum256([]byte(s.got))
		if s.report.SHA256 != hex.EncodeToString(sum[:]) || s.report.Bytes != int64(len(s.got)) {
			t.Errorf("%s: %d bytes with another hash than reported %+v", name, len(s.got), s.report)
		}
	}
	if e.result.ExitCode != e.code {
		t.Errorf("reported exit code %d, real one %d", e.result.ExitCode, e.code)
	}
}

// runnerPID finds the runner's process id as this process sees it.
func (r *running) runnerPID(t *testing.T) int {
	t.Helper()
	if r.cmd.Args[0] != "unshare" {
		return r.cmd.Process.Pid
	}
	pid := strconv.Itoa(r.cmd.Process.Pid)
	list, err := os.ReadFile("/proc/" + pid + "/task/" + pid + "/children")
	if err != nil {
		t.Fatal(err)
	}
	child, err := strconv.Atoi(strings.TrimSpace(string(list)))
	if err != nil {
		t.Fatal(err)
	}
	return child
}

func (r *running) signal(t *testing.T, s syscall.Signal) {
	t.Helper()
	if err := syscall.Kill(r.runnerPID(t), s); err != nil {
		t.Fatal(err)
	}
}

// until waits for text in the log.
func (r *running) until(t *testing.T, text string) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); time.Sleep(2 * time.Millisecond) {
		if strings.Contains(r.log.String(), text) {
			return
		}
	}
	t.Fatalf("%q never appeared in %q", text, r.log.String())
}

func mustWrite(t *testing.T, path, text string, mode os.FileMode) string {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
	return path
}

// lockedBuffer can be read while a process still writes to it.
type lockedBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}
