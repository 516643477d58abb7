package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func TestUsage(t *testing.T) {
	cases := map[string]struct {
		args []string
		code int
		says string
	}{
		"WF-CR-01 no subcommand":               {nil, 2, "no subcommand"},
		"WF-CR-01 an unknown subcommand":       {[]string{"walk"}, 2, `unknown subcommand "walk"`},
		"WF-CR-01 run without a command":       {[]string{"run", "--"}, 2, "no command; write it after --"},
		"WF-CR-01 run with an empty command":   {[]string{"run", "--", ""}, 2, "the command is an empty string"},
		"WF-CR-01 run with an unknown flag":    {[]string{"run", "--wings", "--", "true"}, 2, "-wings"},
		"WF-CR-15 a timeout that is none":      {[]string{"run", "--timeout", "soon", "--", "true"}, 2, `invalid value "soon"`},
		"WF-CR-15 a negative timeout":          {[]string{"run", "--timeout", "-1s", "--", "true"}, 2, "must not be negative"},
		"WF-CR-20 a negative limit":            {[]string{"run", "--limit", "-1", "--", "true"}, 2, "--limit -1"},
		"WF-CR-01 copy without a destination":  {[]string{"copy"}, 2, "exactly one destination"},
		"WF-CR-01 copy to nowhere":             {[]string{"copy", "/no/such/place/runner"}, 1, "cannot copy to /no/such/place/runner"},
		"WF-CR-01 help":                        {[]string{"help"}, 0, "-timeout-grace duration"},
		"WF-CR-01 help of run":                 {[]string{"run", "--help"}, 0, "-timeout-grace duration"},
		"WF-AGENT-04 agent with an argument":   {[]string{"agent", "x"}, 2, "agent takes no arguments"},
		"WF-AGENT-04 agent without settings":   {[]string{"agent"}, 2, "the environment lacks WINDLASS_GATEWAY, WINDLASS_AGENT_ID"},
		"TOOL-FS-01 fs without a request":      {[]string{"fs"}, 2, "fs needs one request as JSON"},
		"TOOL-FS-01 fs answers what it cannot": {[]string{"fs", "{"}, 0, `{"ok":false,"error":"INVALID_REQUEST"`},
		"WF-CR-01 version":                     {[]string{"version"}, 0, "dev"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			cmd := inMachine.command(c.args...)
			out, _ := cmd.CombinedOutput()
			if cmd.ProcessState.ExitCode() != c.code || !strings.Contains(string(out), c.says) {
				t.Errorf("code %d, said %q", cmd.ProcessState.ExitCode(), out)
			}
		})
	}
}

func TestCopy(t *testing.T) {
	dir := t.TempDir()
	old := mustWrite(t, filepath.Join(dir, "old"), "something else", 0o600)
	for name, c := range map[string]struct{ to, path string }{
		"WF-CR-01 copy to a directory makes the file runner": {dir, filepath.Join(dir, "runner")},
		"WF-CR-01 copy to a path makes that file":            {filepath.Join(dir, "new"), filepath.Join(dir, "new")},
		"WF-CR-01 copy replaces what is there":               {old, old},
	} {
		t.Run(name, func(t *testing.T) {
			if out, err := inMachine.command("copy", c.to).CombinedOutput(); err != nil {
				t.Fatalf("%v %s", err, out)
			}
			cmd := exec.Command(c.path, "version")
			cmd.Env = append(os.Environ(), asRunner+"=1")
			if out, err := cmd.Output(); err != nil || string(out) != "dev\n" {
				t.Errorf("the copy said %q, %v", out, err)
			}
		})
	}
	t.Run("WF-CR-01 copy leaves no other file", func(t *testing.T) {
		entries, err := os.ReadDir(dir)
		if err != nil || len(entries) != 3 {
			t.Errorf("%v %v", entries, err)
		}
	})
}

func TestResult(t *testing.T) {
	for name, message := range map[string]string{
		"control characters":          strings.Repeat("\x01", 100000),
		"bytes that are no UTF-8":     strings.Repeat("\xff", 100000),
		"characters of several bytes": strings.Repeat("😀", 100000),
		"quotes and line ends":        strings.Repeat("\"\n", 100000),
	} {
		t.Run("WF-CR-19 a result fits the termination message and one line: "+name, func(t *testing.T) {
			r := result{Error: message, Stdout: streamReport{SHA256: strings.Repeat("f", 64)}, Stderr: streamReport{SHA256: strings.Repeat("f", 64)}}
			got := string(r.encode())
			if len(got) > 4096 || strings.Contains(got, "\n") {
				t.Errorf("%d bytes", len(got))
			}
		})
	}
	t.Run("WF-CR-19 a signal without a name has a number", func(t *testing.T) {
		if got := signalName(64) + signalName(15); got != "SIG64SIGTERM" {
			t.Errorf("got %s", got)
		}
	})
}
