package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// feed runs `runner run -- runner feed ARGS` in an empty folder.
func feedIn(t *testing.T, dir string, args ...string) ended {
	t.Helper()
	// The test program becomes a runner where its variable says so, which the one before has unset.
	inner := append([]string{"--workdir", dir, "--", "env", asRunner + "=1", os.Args[0], "feed"}, args...)
	return inMachine.run(t, inner...)
}

func TestFeedGivesTheStandardInputByteForByte(t *testing.T) {
	long := strings.Repeat("é\n", 32_000) + "--stdin"
	for _, text := range []string{"", "a b\n", "--file", "--", "$(id) `id` 'x' \"y\" \\", long} {
		e := feedIn(t, t.TempDir(), "--stdin", text, "--", "cat")
		if e.code != 0 || e.stdout != text {
			t.Errorf("cat of %d bytes gave %d, %d bytes and %q", len(text), e.code, len(e.stdout), e.stderr)
		}
	}
}

func TestFeedLeavesTheStandardInputAloneWithoutOne(t *testing.T) {
	if e := feedIn(t, t.TempDir(), "--", "cat"); e.code != 0 || e.stdout != "" {
		t.Errorf("cat gave %d %q", e.code, e.stdout)
	}
}

func TestFeedWritesFilesBelowTheWorkingDirectory(t *testing.T) {
	dir := t.TempDir()
	e := feedIn(t, dir, "--file", "a/b/c.txt", "one", "--file", "a/.d", "--", "--file", "e", "", "--", "cat", "a/b/c.txt", "a/.d", "e")
	if e.code != 0 || e.stdout != "one--" {
		t.Errorf("cat gave %d %q %q", e.code, e.stdout, e.stderr)
	}
}

func TestFeedTouchesNothingOutside(t *testing.T) {
	outside := t.TempDir()
	cases := map[string]func(dir string) string{
		"a path upwards":               func(string) string { return "../x" },
		"a path upwards within":        func(string) string { return "a/../../x" },
		"an absolute path":             func(string) string { return filepath.Join(outside, "x") },
		"the folder itself":            func(string) string { return "." },
		"an empty path":                func(string) string { return "" },
		"a path with an empty name":    func(string) string { return "a//x" },
		"a folder that is a link":      func(dir string) string { link(t, outside, filepath.Join(dir, "l")); return "l/x" },
		"a file that is a link":        func(dir string) string { link(t, filepath.Join(outside, "x"), filepath.Join(dir, "x")); return "x" },
		"a folder that is a file":      func(dir string) string { put(t, filepath.Join(dir, "f")); return "f/x" },
		"a file that is there already": func(dir string) string { put(t, filepath.Join(dir, "x")); return "x" },
	}
	for name, pathIn := range cases {
		dir := t.TempDir()
		e := feedIn(t, dir, "--file", pathIn(dir), "text", "--", "echo", "ran")
		if e.code != exitRunnerFailed || e.stdout != "" || !strings.Contains(e.stderr, "runner: cannot write the file") {
			t.Errorf("%s: %d %q %q", name, e.code, e.stdout, e.stderr)
		}
		if left, _ := os.ReadDir(outside); len(left) > 0 {
			t.Fatalf("%s: made %s", name, left[0].Name())
		}
	}
}

func link(t *testing.T, target, name string) {
	t.Helper()
	if err := os.Symlink(target, name); err != nil {
		t.Fatal(err)
	}
}

func put(t *testing.T, name string) {
	t.Helper()
	if err := os.WriteFile(name, []byte("old"), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestFeedSaysWhyNoCommandBegins(t *testing.T) {
	cases := []struct {
		args []string
		code int
		says string
	}{
		{[]string{"--", "no-such-command"}, exitNotFound, "command not found: no-such-command"},
		{[]string{"--", "/etc/passwd"}, exitNotExecutable, "cannot execute /etc/passwd"},
		{[]string{"--stdin", "x"}, exitUsage, "no command"},
		{[]string{"--"}, exitUsage, "no command"},
		{[]string{"--stdin", "x", "--stdin", "y", "--", "cat"}, exitUsage, "--stdin takes one text, once"},
		{[]string{"--file", "x"}, exitUsage, "--file takes a path and a text"},
		{[]string{"cat"}, exitUsage, `unknown flag "cat"`},
	}
	for _, c := range cases {
		if e := feedIn(t, t.TempDir(), c.args...); e.code != c.code || !strings.Contains(e.stderr, c.says) {
			t.Errorf("%q gave %d %q", c.args, e.code, e.stderr)
		}
	}
}

func TestFeedPassesSignalsAndTheExitCodeOn(t *testing.T) {
	if e := feedIn(t, t.TempDir(), "--stdin", "exit 7", "--", "sh"); e.code != 7 {
		t.Errorf("sh gave %d %q", e.code, e.stderr)
	}
}
