package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestTheCounterOfOutOfMemoryKillsIsReadFromCgroupsOfBothVersions(t *testing.T) {
	const v1 = "oom_kill_disable 0\nunder_oom 0\noom_kill 3\n"
	const v2 = "low 0\nhigh 0\nmax 41\noom 5\noom_kill 2\noom_group_kill 1\n"
	for name, c := range map[string]struct {
		content string
		want    int64
	}{
		"version 2":                            {v2, 2},
		"version 1":                            {v1, 3},
		"version 1 before the counter was":     {"oom_kill_disable 0\nunder_oom 0\n", 0},
		"version 2 before the counter was":     {"low 0\nhigh 0\nmax 0\noom 0\n", 0},
		"a last line without its end":          {"oom_kill 7", 7},
		"a counter that is no number":          {"oom_kill many\n", 0},
		"a count of groups is not one of ours": {"oom_group_kill 9\n", 0},
		"a file that is not there":             {"", 0},
	} {
		t.Run(name, func(t *testing.T) {
			if got := oomKills(writeUnlessEmpty(t, c.content)); got != c.want {
				t.Errorf("%d kills, want %d", got, c.want)
			}
		})
	}
}

// writeUnlessEmpty makes a file unless it would be empty; the path is given either way.
func writeUnlessEmpty(t *testing.T, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "counter")
	if content != "" {
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return path
}

func TestAResultSaysOnlyWhereItHappenedThatMemoryRanOut(t *testing.T) {
	for _, killed := range []bool{false, true} {
		encoded := result{OOMKilled: killed}.encode()
		if got := strings.Contains(string(encoded), `"oom_killed":true`); got != killed {
			t.Errorf("%v in %s", killed, encoded)
		}
		var back result
		if err := json.Unmarshal(encoded, &back); err != nil || back.OOMKilled != killed {
			t.Errorf("%+v (%v)", back, err)
		}
	}
}

func TestTheRunnerComparesTheCounterBeforeAndAfterTheCommand(t *testing.T) {
	counter := writeUnlessEmpty(t, "oom_kill 4\n")
	for name, c := range map[string]struct {
		script string
		want   bool
	}{
		"kills before the step do not count": {"exit 3", false},
		"a kill during the step counts":      {"echo oom_kill 5 >" + counter + "; exit 137", true},
	} {
		t.Run(name, func(t *testing.T) {
			r := inMachine.start(t, "--oom-counter", counter, "--", "sh", "-c", c.script)
			if got := r.wait(t).result.OOMKilled; got != c.want {
				t.Errorf("oom_killed is %v, want %v", got, c.want)
			}
		})
	}
}
