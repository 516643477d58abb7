package agent

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

func exe(t *testing.T, a answer) resultRequest {
	t.Helper()
	a.Action = "exec"
	return (&commands{workspace: t.TempDir()}).run(context.Background(), a)
}

func sh(script string) answer {
	return answer{DispatchID: "d", Command: "/bin/sh", Args: []string{"-c", script}, TimeoutSecs: 30, MaxOutputBytes: 1000}
}

func TestCommandEnds(t *testing.T) {
	for name, c := range map[string]struct {
		a    answer
		code int
		says string
	}{
		"TOOL-CMD-03 its own code":              {sh("exit 7"), 7, ""},
		"TOOL-CMD-03 a signal":                  {sh("kill -9 $$"), 137, ""},
		"TOOL-CMD-01 a name that is not there":  {answer{Command: "no-such-command"}, 127, "command not found: no-such-command"},
		"TOOL-CMD-01 an empty name":             {answer{}, 127, "the command is empty"},
		"TOOL-CMD-01 a path that is not there":  {answer{Command: "/no/such"}, 127, "command not found: /no/such"},
		"TOOL-CMD-01 a directory":               {answer{Command: "/bin/"}, 126, "it is a directory"},
		"TOOL-CMD-01 a file that is no program": {answer{Command: "/etc/passwd"}, 126, "no execute permission"},
		"TOOL-CMD-02 a folder that is not there": {answer{Command: "true", Cwd: "/no/such"}, 125,
			"cannot use the working directory /no/such"},
	} {
		t.Run(name, func(t *testing.T) {
			got := exe(t, c.a)
			if got.ExitCode != c.code || !strings.Contains(got.Stderr, c.says) {
				t.Errorf("%+v", got)
			}
		})
	}
	t.Run("DISPATCH an unknown action is answered and not run", func(t *testing.T) {
		got := (&commands{}).run(context.Background(), answer{Action: "upload", Command: "true"})
		if got.ExitCode != exitStartFailed || !strings.Contains(got.Stderr, "upload") {
			t.Errorf("%+v", got)
		}
	})
	t.Run("TOOL-CMD-01 no shell reads the arguments", func(t *testing.T) {
		got := exe(t, answer{Command: "echo", Args: []string{"$HOME", ";", "*"}, MaxOutputBytes: 100})
		if got.Stdout != "$HOME ; *\n" {
			t.Errorf("%+v", got)
		}
	})
}

func TestCommandTimeout(t *testing.T) {
	t.Run("TOOL-CMD-10 the timeout ends the command and what it started", func(t *testing.T) {
		a := sh("trap '' TERM; sleep 60 & sleep 60; sleep 60")
		a.TimeoutSecs = 1
		begun := time.Now()
		got := exe(t, a)
		if got.ExitCode != 124 || time.Since(begun) > 20*time.Second || got.DurationMS < 1000 {
			t.Errorf("%+v", got)
		}
	})
	t.Run("TOOL-CMD-02 what a command left in its group ends with it", func(t *testing.T) {
		begun := time.Now()
		got := exe(t, sh("sleep 60 & echo $!"))
		if got.ExitCode != 0 || time.Since(begun) > 20*time.Second {
			t.Errorf("%+v", got)
		}
		reap()
	})
}

func TestCommandOutput(t *testing.T) {
	for name, c := range map[string]struct {
		bytes, limit, kept int
		truncated          bool
	}{
		"below": {999, 1000, 999, false}, "at": {1000, 1000, 1000, false}, "above": {1001, 1000, 1000, true},
		"far above": {5_000_000, 1000, 1000, true},
	} {
		t.Run("TOOL-CMD-09 output "+name+" the limit", func(t *testing.T) {
			got := exe(t, answer{Command: "head", Args: []string{"-c", strconv.Itoa(c.bytes), "/dev/zero"}, MaxOutputBytes: c.limit})
			if len(got.Stdout) != c.kept || got.Truncated != c.truncated || got.ExitCode != 0 {
				t.Errorf("%d bytes, truncated %v, code %d", len(got.Stdout), got.Truncated, got.ExitCode)
			}
		})
	}
	t.Run("TOOL-CMD-09 the limit holds for both streams together", func(t *testing.T) {
		got := exe(t, sh("head -c 700 /dev/zero; head -c 700 /dev/zero >&2"))
		if len(got.Stdout)+len(got.Stderr) != 1000 || !got.Truncated {
			t.Errorf("%d %d", len(got.Stdout), len(got.Stderr))
		}
	})
	t.Run("TOOL-CMD-09 a character that the limit cuts is left out", func(t *testing.T) {
		a := sh("printf 'aaé€'")
		for limit, want := range map[int]string{3: "aa", 4: "aaé", 5: "aaé", 6: "aaé", 7: "aaé€"} {
			a.MaxOutputBytes = limit
			if got := exe(t, a); got.Stdout != want {
				t.Errorf("limit %d: %q", limit, got.Stdout)
			}
		}
	})
	t.Run("AMB-017 a command does not see the runner's settings", func(t *testing.T) {
		t.Setenv("WINDLASS_TOKEN_FILE", "/secret")
		t.Setenv("KEPT", "old")
		a := answer{Command: "env", MaxOutputBytes: 100_000, EnvAdditions: map[string]string{"KEPT": "new"}}
		got := exe(t, a).Stdout
		if strings.Contains(got, "WINDLASS_") || strings.Contains(got, "KEPT=old") || !strings.Contains(got, "KEPT=new\n") {
			t.Error(got)
		}
	})
	t.Run("TOOL-CMD-02 a command runs in the folder that is named", func(t *testing.T) {
		dir, _ := filepath.EvalSymlinks(t.TempDir())
		got := exe(t, answer{Command: "pwd", Cwd: dir, MaxOutputBytes: 1000})
		if got.Stdout != dir+"\n" {
			t.Error(got.Stdout)
		}
		_ = os.Remove(dir)
	})
}

func TestResultFits(t *testing.T) {
	for name, c := range map[string]struct {
		text      string
		truncated bool
	}{
		"characters of one byte": {strings.Repeat("a", resultLimit/2-3), false},
		"bytes that are escaped": {strings.Repeat("\x00", resultLimit/2-3), true},
		"characters of more":     {strings.Repeat("€", resultLimit/2), true},
	} {
		t.Run("DISPATCH a result fits the body that the API takes: "+name, func(t *testing.T) {
			got := resultRequest{Stdout: c.text, Stderr: c.text}.fitted()
			if size(got.Stdout)+size(got.Stderr) > resultLimit || got.Truncated != c.truncated || !utf8.ValidString(got.Stdout) {
				t.Errorf("%d bytes, truncated %v", len(got.Stdout), got.Truncated)
			}
			if !c.truncated && got.Stdout != c.text {
				t.Error("it was changed")
			}
		})
	}
}
