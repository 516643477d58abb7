package fsop

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

func TestGrep(t *testing.T) {
	w := newWorld(t)
	w.file("a.txt", "alpha\r\nbeta\nalphabet")
	w.file("d/b.txt", "none\nalpha\n")
	w.file("binary", "alpha\x00")
	w.must(os.Symlink(w.other, w.inside+"/away"))
	in := w.inside
	t.Run("TOOL-FS-10 path, line number and line of every match", func(t *testing.T) {
		w.gives(w.ask("grep", ".", fields{"pattern": "^alpha"}), in+"/a.txt:1:alpha\n"+in+"/a.txt:3:alphabet\n"+in+"/d/b.txt:2:alpha")
	})
	t.Run("TOOL-FS-10 one file can be searched", func(t *testing.T) {
		w.gives(w.ask("grep", "d/b.txt", fields{"pattern": "a$"}), in+"/d/b.txt:2:alpha")
	})
	t.Run("TOOL-FS-10 no match is an empty answer", func(t *testing.T) { w.gives(w.ask("grep", ".", fields{"pattern": "zzz"}), "") })
	t.Run("TOOL-FS-10 links are not followed", func(t *testing.T) { w.gives(w.ask("grep", ".", fields{"pattern": "secret"}), "") })
	t.Run("TOOL-FS-10 a wrong expression is an error", func(t *testing.T) {
		for _, pattern := range []string{"(", "", "(?=x)", strings.Repeat("a", patternLimit+1)} {
			w.wants(w.ask("grep", ".", fields{"pattern": pattern}), "INVALID_PATTERN")
		}
	})
	t.Run("TOOL-FS-10 a missing folder is NOT_FOUND", func(t *testing.T) {
		w.wants(w.ask("grep", "no", fields{"pattern": "a"}), "NOT_FOUND")
	})
	t.Run("TOOL-FS-10 denied files are left out", func(t *testing.T) {
		w.gives(w.ask("grep", ".", fields{"pattern": "^alpha", "deny": []string{"a.txt"}}), in+"/d/b.txt:2:alpha")
	})
	t.Run("TOOL-FS-10 at most 1,000 matches, and the answer says so", func(t *testing.T) {
		for lines, notes := range map[int]int{mostMatches - 1: 0, mostMatches: 0, mostMatches + 1: 1} {
			w.file("many/f", strings.Repeat("x\n", lines))
			got := w.ask("grep", "many", fields{"pattern": "x"}).Content
			if strings.Count(got, "\n[not everything") != notes || strings.Count(got, ":x") != min(lines, mostMatches) {
				t.Errorf("%d lines: %d matches", lines, strings.Count(got, ":x"))
			}
		}
	})
	t.Run("TOOL-FS-10 long lines are cut", func(t *testing.T) {
		w.file("long/f", strings.Repeat("é", mostLine))
		got := w.ask("grep", "long", fields{"pattern": "é"}).Content
		if want := in + "/long/f:1:" + strings.Repeat("é", mostLine/2) + "…"; got != want {
			t.Errorf("%d bytes", len(got))
		}
	})
}

func TestGlob(t *testing.T) {
	w := newWorld(t)
	for _, name := range []string{"a.ts", "b.js", "d/a.ts", "d/e/c.ts", "d/e/x.md", "[x]"} {
		w.file(name, "")
	}
	w.must(os.Symlink(w.other, w.inside+"/away"))
	for pattern, want := range map[string]string{
		"*.ts":       "a.ts",
		"**/*.ts":    "a.ts\nd/a.ts\nd/e/c.ts",
		"d/**":       "d\nd/a.ts\nd/e\nd/e/c.ts\nd/e/x.md",
		"d/**/c.ts":  "d/e/c.ts",
		"d/**/a.ts":  "d/a.ts",
		"*.{ts,js}":  "a.ts\nb.js",
		"?.ts":       "a.ts",
		"[ab].ts":    "a.ts",
		"[!a].js":    "b.js",
		"[!a-b].js":  "",
		"[[]x]":      "[x]",
		"\\[x\\]":    "[x]",
		"*":          "[x]\na.ts\naway\nb.js\nd",
		"**/secret":  "",
		"none":       "",
		"./a.ts":     "a.ts",
		"a.ts/../..": "",
	} {
		t.Run("TOOL-FS-11 "+pattern, func(t *testing.T) { w.gives(w.ask("glob", ".", fields{"pattern": pattern}), want) })
	}
	t.Run("TOOL-FS-11 paths are relative to the folder", func(t *testing.T) {
		w.gives(w.ask("glob", "d", fields{"pattern": "*.ts"}), "a.ts")
	})
	t.Run("TOOL-FS-04 TOOL-FS-11 at most 10,000 names, and the answer says so", func(t *testing.T) {
		w.must(os.Mkdir(w.inside+"/many", 0o755))
		lines := func(op string) []string {
			return strings.Split(w.ask(op, "many", fields{"pattern": "*"}).Content, "\n")
		}
		for n := range mostEntries + 1 {
			if n == mostEntries && (len(lines("list")) != n || len(lines("glob")) != n) {
				t.Errorf("%d and %d lines", len(lines("list")), len(lines("glob")))
			}
			w.must(os.Link(w.inside+"/a.ts", fmt.Sprintf("%s/many/%d", w.inside, n)))
		}
		for _, op := range []string{"list", "glob"} {
			if got := lines(op); len(got) != mostEntries+1 || got[mostEntries][0] != '[' {
				t.Errorf("%s: %d lines", op, len(got))
			}
		}
	})
	t.Run("TOOL-FS-11 a hostile glob takes no time", func(t *testing.T) {
		w.file("deep/"+strings.Repeat("a", 200), "")
		if got := w.ask("glob", "deep", fields{"pattern": strings.Repeat("*a", 100) + "b"}); !got.OK {
			t.Errorf("%+v", got)
		}
	})
	t.Run("TOOL-FS-11 a glob without an end is an error", func(t *testing.T) {
		w.wants(w.ask("glob", ".", fields{"pattern": "{a"}), "INVALID_PATTERN")
		w.wants(w.ask("glob", ".", fields{"pattern": strings.Repeat("a", 1_025)}), "INVALID_PATTERN")
	})
}
