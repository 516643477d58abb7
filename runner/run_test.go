package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// everywhere runs a test as an ordinary process and as process 1 of a container.
func everywhere(t *testing.T, name string, test func(t *testing.T, p place)) {
	t.Helper()
	t.Run(name+" (ordinary process)", func(t *testing.T) { test(t, inMachine) })
	t.Run(name+" (process 1)", func(t *testing.T) { test(t, inContainer(t)) })
}

func TestEnds(t *testing.T) {
	cases := map[string]struct {
		script string
		want   outcome
	}{
		"WF-CR-19 exit code 0":              {"exit 0", outcome{}},
		"WF-CR-19 exit code 1":              {"exit 1", outcome{exitCode: 1}},
		"WF-CR-19 exit code 255":            {"exit 255", outcome{exitCode: 255}},
		"WF-CR-19 a command killed by KILL": {"kill -KILL $$", outcome{exitCode: 137, signal: "SIGKILL", reason: "signaled"}},
		"WF-CR-19 a command that crashes":   {"kill -SEGV $$", outcome{exitCode: 139, signal: "SIGSEGV", reason: "signaled"}},
		"WF-CR-19 a command ended by TERM":  {"kill -TERM $$", outcome{exitCode: 143, signal: "SIGTERM", reason: "signaled"}},
	}
	for name, c := range cases {
		everywhere(t, name, func(t *testing.T, p place) {
			e := p.run(t, "--", "sh", "-c", c.script)
			if got := (outcome{e.result.ExitCode, e.result.Signal, e.result.Reason, e.result.Error}); got != c.want {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
		})
	}
}

func TestStartFailures(t *testing.T) {
	dir := t.TempDir()
	plain := mustWrite(t, filepath.Join(dir, "plain"), "#!/bin/sh\n", 0o644)
	script := mustWrite(t, filepath.Join(dir, "orphaned"), "#!/no/such/interpreter\n", 0o755)
	garbage := mustWrite(t, filepath.Join(dir, "garbage"), "no program\n", 0o755)
	file := mustWrite(t, filepath.Join(dir, "file"), "", 0o644)
	cases := map[string]struct {
		args   []string
		code   int
		reason string
		says   string
	}{
		"WF-CR-19 AMB-160 a missing command":          {[]string{"--", "no-such-command"}, 127, "not_found", "command not found: no-such-command (PATH is "},
		"WF-CR-19 a command line as one element":      {[]string{"--", "echo hello"}, 127, "not_found", "; it is one element with blanks: set shell: true, or write each word as an element of its own"},
		"WF-CR-19 a path and words as one element":    {[]string{"--", "/bin/echo hello"}, 127, "not_found", "command not found: /bin/echo hello; it is one element with blanks: set shell: true"},
		"WF-CR-19 AMB-160 a missing path":             {[]string{"--", "/no/such/command"}, 127, "not_found", "command not found: /no/such/command"},
		"WF-CR-19 AMB-160 a file as directory":        {[]string{"--", file + "/x"}, 127, "not_found", "command not found: "},
		"WF-CR-19 AMB-160 a missing interpreter":      {[]string{"--", script}, 127, "not_found", "the interpreter or loader that it names is not in the image"},
		"WF-CR-19 AMB-160 a file that is no program":  {[]string{"--", garbage}, 126, "not_executable", "neither a program for this machine nor a script"},
		"WF-CR-19 AMB-160 a file without permission":  {[]string{"--", plain}, 126, "not_executable", "permission denied"},
		"WF-CR-19 AMB-160 a directory":                {[]string{"--", dir}, 126, "not_executable", "it is a directory"},
		"WF-CR-09 a working directory that cannot be": {[]string{"--workdir", file + "/x", "--", "true"}, 125, "workdir", "cannot use the working directory " + file + "/x: not a directory"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			e := inMachine.run(t, c.args...)
			if e.code != c.code || e.result.Reason != c.reason || !strings.Contains(e.result.Error, c.says) {
				t.Errorf("got code %d, reason %q, error %q", e.code, e.result.Reason, e.result.Error)
			}
			if e.stderr != "runner: "+e.result.Error+"\n" || e.stdout != "" {
				t.Errorf("standard error %q, standard output %q", e.stderr, e.stdout)
			}
		})
	}
}

func TestTooLongArgument(t *testing.T) {
	t.Run("WF-CR-05 AMB-160 an argument longer than the kernel takes gives 126", func(t *testing.T) {
		_, failure := start(&options{argv: []string{"true", strings.Repeat("x", 131073)}}, 1, 2)
		if failure == nil || failure.exitCode != 126 || !strings.Contains(failure.message, "argument list too long") {
			t.Errorf("got %+v", failure)
		}
	})
}

func TestLookup(t *testing.T) {
	first, second := t.TempDir(), t.TempDir()
	mustWrite(t, filepath.Join(first, "tool"), "", 0o644)
	mustWrite(t, filepath.Join(first, "denied"), "", 0o644)
	good := mustWrite(t, filepath.Join(second, "tool"), "", 0o755)
	t.Setenv("PATH", first+":"+second)
	t.Run("WF-CR-05 a later directory of PATH is used when an earlier file cannot be executed", func(t *testing.T) {
		if path, failure := lookup("tool"); failure != nil || path != good {
			t.Errorf("got %q, %+v", path, failure)
		}
	})
	t.Run("WF-CR-05 AMB-160 a name that is nowhere executable gives 126", func(t *testing.T) {
		if _, failure := lookup("denied"); failure == nil || failure.exitCode != 126 {
			t.Errorf("got %+v", failure)
		}
	})
	t.Run("WF-CR-07 AMB-160 an image without a shell gives 127 and says what to do", func(t *testing.T) {
		_, failure := lookup("sh")
		if failure == nil || failure.exitCode != 127 || !strings.Contains(failure.message, "set shell: false") {
			t.Errorf("got %+v", failure)
		}
	})
	t.Run("WF-CR-05 without PATH the usual directories are searched", func(t *testing.T) {
		os.Unsetenv("PATH")
		if path, failure := lookup("sh"); failure != nil || filepath.Base(path) != "sh" {
			t.Errorf("got %q, %+v", path, failure)
		}
	})
}

func TestWhatTheCommandGets(t *testing.T) {
	t.Run("WF-CR-05 WF-CR-06 arguments go through untouched", func(t *testing.T) {
		args := []string{"", " a  b ", "$HOME", "--limit", "*", "\n", "é\xff", "--"}
		e := inMachine.run(t, append([]string{"--", "printf", `%s\0`}, args...)...)
		if want := strings.Join(args, "\x00") + "\x00"; e.stdout != want {
			t.Errorf("got %q, want %q", e.stdout, want)
		}
	})
	t.Run("WF-CR-08 the command inherits the environment", func(t *testing.T) {
		t.Setenv("WITH_SPACES", " a\nb ")
		e := inMachine.run(t, "--", "printenv", "WITH_SPACES")
		if e.stdout != " a\nb \n" {
			t.Errorf("got %q", e.stdout)
		}
	})
	t.Run("WF-CR-09 a missing working directory is made", func(t *testing.T) {
		dir := filepath.Join(t.TempDir(), "a", "b")
		if e := inMachine.run(t, "--workdir", dir, "--", "pwd"); e.stdout != dir+"\n" {
			t.Errorf("got %q, %q", e.stdout, e.stderr)
		}
	})
	everywhere(t, "WF-CR-01 it inherits three descriptors and no ignored or blocked signal", func(t *testing.T, p place) {
		e := p.run(t, "--", "sh", "-c", "ls /proc/$$/fd; grep -E 'Sig(Ign|Blk)' /proc/self/status")
		if want := "0\n1\n2\nSigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\n"; e.stdout != want {
			t.Errorf("got %q", e.stdout)
		}
	})
	t.Run("WF-CR-01 /dev/stdout and /dev/stderr are its own streams", func(t *testing.T) {
		e := inMachine.run(t, "--", "sh", "-c", "echo a >/dev/stdout; echo b >/dev/stderr")
		if e.stdout != "a\n" || e.stderr != "b\n" {
			t.Errorf("got %q, %q", e.stdout, e.stderr)
		}
	})
}

func TestTimeout(t *testing.T) {
	cases := map[string]struct {
		script string
		want   outcome
	}{
		"WF-CR-15 AMB-160 a command that heeds SIGTERM":   {"trap 'exit 3' TERM; while :; do sleep 0.01; done", outcome{exitCode: 124, reason: "timeout"}},
		"WF-CR-15 AMB-160 a command that dies of SIGTERM": {"sleep 60", outcome{exitCode: 124, signal: "SIGTERM", reason: "timeout"}},
		"WF-CR-15 AMB-160 a command that ignores SIGTERM": {"trap '' TERM; echo on; while :; do sleep 1; done", outcome{exitCode: 124, signal: "SIGKILL", reason: "timeout"}},
	}
	for name, c := range cases {
		everywhere(t, name, func(t *testing.T, p place) {
			e := p.run(t, "--timeout", "300ms", "--timeout-grace", "200ms", "--", "sh", "-c", c.script)
			if got := (outcome{e.result.ExitCode, e.result.Signal, e.result.Reason, ""}); got != c.want {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
			if ms := e.result.DurationMS; ms < 300 || ms > 15000 {
				t.Errorf("took %d ms", ms)
			}
		})
	}
	t.Run("WF-CR-15 a command that ends in time is not touched", func(t *testing.T) {
		if e := inMachine.run(t, "--timeout", "30s", "--", "true"); e.code != 0 || e.result.Reason != "" {
			t.Errorf("got %+v", e.result)
		}
	})
}

func TestSignals(t *testing.T) {
	everywhere(t, "WF-CR-01 a stop signal is forwarded and the command's own exit code kept", func(t *testing.T, p place) {
		for _, s := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGQUIT} {
			r := p.start(t, "--", "sh", "-c", fmt.Sprintf("trap 'exit 7' %d; echo ready; while :; do sleep 0.01; done", s))
			r.until(t, "ready")
			r.signal(t, s)
			if e := r.wait(t); e.code != 7 || e.result.Reason != "terminated" || e.stdout != "ready\n" {
				t.Errorf("%v: got %+v", s, e.result)
			}
		}
	})
	everywhere(t, "WF-CR-01 a command that ignores SIGTERM is killed after the grace", func(t *testing.T, p place) {
		r := p.start(t, "--grace", "200ms", "--", "sh", "-c", "trap '' TERM; echo ready; while :; do sleep 1; done")
		r.until(t, "ready")
		r.signal(t, syscall.SIGTERM)
		e := r.wait(t)
		if e.code != 137 || e.result.Signal != "SIGKILL" || e.result.Reason != "terminated" {
			t.Errorf("got %+v", e.result)
		}
	})
	everywhere(t, "WF-CR-01 a stop signal also reaches what a shell has started", func(t *testing.T, p place) {
		inner := `trap "echo inner; exit 0" TERM; echo ready; while :; do sleep 0.01; done`
		r := p.start(t, "--grace", "5s", "--", "sh", "-c", "trap : TERM; sh -c '"+inner+"'; echo outer")
		r.until(t, "ready")
		r.signal(t, syscall.SIGTERM)
		if e := r.wait(t); e.stdout != "ready\ninner\nouter\n" || e.result.Reason != "terminated" {
			t.Errorf("got %q, %+v", e.stdout, e.result)
		}
	})
	everywhere(t, "WF-CR-01 any other signal is forwarded without ending anything", func(t *testing.T, p place) {
		for _, s := range []syscall.Signal{syscall.SIGHUP, syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGWINCH} {
			r := p.start(t, "--", "sh", "-c", fmt.Sprintf("trap 'echo got; exit 5' %d; echo ready; while :; do sleep 0.01; done", s))
			r.until(t, "ready")
			r.signal(t, s)
			if e := r.wait(t); e.code != 5 || e.result.Reason != "" || e.stdout != "ready\ngot\n" {
				t.Errorf("%v: got %q, %+v", s, e.stdout, e.result)
			}
		}
	})
}

func TestOrphans(t *testing.T) {
	// An orphan in a session of its own, that ignores what can be ignored.
	orphan := "setsid sh -c 'trap \"\" TERM HUP INT; echo $$ >pid; while :; do echo late; done' & while [ ! -s pid ]; do :; done; "
	everywhere(t, "WF-CR-19 orphans that keep writing are killed and hold nothing up", func(t *testing.T, p place) {
		begun := time.Now()
		e := p.run(t, "--workdir", t.TempDir(), "--", "sh", "-c", orphan+"echo end >&2; exit 6")
		if e.code != 6 || e.stderr != "end\n" {
			t.Errorf("got code %d, %q", e.code, e.stderr)
		}
		if took := time.Since(begun); took > 8*time.Second {
			t.Errorf("took %v", took)
		}
	})
	t.Run("WF-CR-19 no process is left when the runner has ended", func(t *testing.T) {
		dir := t.TempDir()
		tree := "for i in 1 2 3 4 5; do setsid sh -c 'trap \"\" TERM; sh -c \"echo \\$\\$ >>../pids; sleep 100\" & echo $$ >>../pids; sleep 100' & done; "
		e := inMachine.run(t, "--workdir", dir+"/work", "--", "sh", "-c", tree+"while [ \"$(wc -l <../pids)\" != 10 ]; do sleep 0.01; done")
		pids, err := os.ReadFile(dir + "/pids")
		if err != nil || e.code != 0 {
			t.Fatal(err, e.stderr)
		}
		for _, pid := range strings.Fields(string(pids)) {
			if _, err := os.Stat("/proc/" + pid); err == nil {
				t.Errorf("process %s is still there", pid)
			}
		}
	})
	everywhere(t, "WF-CR-19 orphans that end before the command are reaped", func(t *testing.T, p place) {
		e := p.run(t, "--", "sh", "-c", "for i in 1 2 3; do (true & ) ; done; sleep 0.2; ps -o stat= --ppid $PPID | grep -c Z")
		if e.stdout != "0\n" {
			t.Errorf("%q zombies", e.stdout)
		}
	})
}

func TestForgery(t *testing.T) {
	p := inContainer(t)
	refused := map[string]string{
		"WF-CR-19 the runner's output cannot be opened":   "echo forged >/proc/1/fd/1",
		"WF-CR-19 the runner's errors cannot be opened":   "echo forged >/proc/1/fd/2",
		"WF-CR-19 the runner's memory cannot be read":     "head -c 1 /proc/1/mem",
		"WF-CR-19 the runner's files cannot be listed":    "readlink /proc/1/fd/1",
		"WF-CR-19 the runner's environment stays its own": "cat /proc/1/environ",
	}
	for name, script := range refused {
		t.Run(name, func(t *testing.T) {
			e := p.run(t, "--", "sh", "-c", script)
			if e.code == 0 || strings.Contains(e.log, "forged\n") {
				t.Errorf("code %d, log %q", e.code, e.log)
			}
		})
	}
	t.Run("WF-CR-19 a trailer printed by the command is output, not a trailer", func(t *testing.T) {
		forged := `{"v":1,"exit_code":0}`
		e := p.run(t, "--", "sh", "-c", `printf '\035`+forged+`\n\n\035`+forged+`' ; printf '\035`+forged+`\n' >&2; exit 9`)
		if e.code != 9 || e.stdout != "\x1d"+forged+"\n\n\x1d"+forged || e.stderr != "\x1d"+forged+"\n" {
			t.Errorf("got %+v, %q, %q", e.result, e.stdout, e.stderr)
		}
		if n := strings.Count("\n"+e.log, "\n\x1d{"); n != 1 {
			t.Errorf("%d lines begin like a trailer", n)
		}
	})
	t.Run("WF-CR-19 no signal of the command ends or crashes the runner", func(t *testing.T) {
		// The storm comes from a session of its own: what is forwarded does not end it early.
		storm := "i=1; while [ $i -le 64 ]; do kill -$i 1; i=$((i+1)); done 2>/dev/null; echo over >over"
		for range 30 {
			dir := t.TempDir()
			e := p.run(t, "--workdir", dir, "--", "sh", "-c", "setsid sh -c '"+storm+"' & while [ ! -s over ]; do sleep 0.01; done")
			if e.raw != "" || e.result.Version != 1 {
				t.Errorf("runner said %q, result %+v", e.raw, e.result)
			}
		}
	})
	t.Run("WF-CR-19 signals kept for C libraries are not forwarded and end nothing", func(t *testing.T) {
		for range 30 {
			e := p.run(t, "--", "sh", "-c", "i=0; while [ $i -lt 500 ]; do kill -32 1; kill -33 1; kill -34 1; i=$((i+1)); done; echo alive")
			if e.code != 0 || e.stdout != "alive\n" || e.raw != "" {
				t.Errorf("got %+v, runner said %q", e.result, e.raw)
			}
		}
	})
	t.Run("WF-CR-19 what the command and its orphans write to the termination log is replaced", func(t *testing.T) {
		forge := `echo forged >"$TERMINATION_LOG"`
		e := p.run(t, "--", "sh", "-c", forge+"; setsid sh -c 'while :; do "+forge+"; done' & sleep 0.05")
		if e.code != 0 {
			t.Errorf("got %+v", e.result)
		}
	})
}

func TestManyLines(t *testing.T) {
	everywhere(t, "WF-CR-20 AMB-079 ten million lines are read, counted and cut", func(t *testing.T, p place) {
		e := p.run(t, "--", "sh", "-c", "yes | head -n 10000000; echo done >&2")
		if e.stdout != strings.Repeat("y\n", 1<<19) || e.stderr != "done\n" || e.result.Stdout.TotalBytes != 20000000 || !e.result.Stdout.Truncated {
			t.Errorf("got %+v", e.result)
		}
	})
	everywhere(t, "WF-CR-19 whole lines of both streams stay in their streams", func(t *testing.T, p place) {
		e := p.run(t, "--", "sh", "-c", "i=0; while [ $i -lt 2000 ]; do echo out$i; echo err$i >&2; i=$((i+1)); done")
		var out, err strings.Builder
		for i := range 2000 {
			fmt.Fprintf(&out, "out%d\n", i)
			fmt.Fprintf(&err, "err%d\n", i)
		}
		if e.stdout != out.String() || e.stderr != err.String() {
			t.Errorf("got %d and %d bytes", len(e.stdout), len(e.stderr))
		}
	})
}
