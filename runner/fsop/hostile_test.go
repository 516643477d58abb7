package fsop

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// every operation, with arguments that would succeed.
var every = map[string]fields{
	"read": {}, "write": {"content": "x"}, "list": {}, "create_dir": {}, "delete": {"recursive": true},
	"edit": {"target_content": "secret", "replacement_content": "x"}, "multi_edit": {"edits": []edit{{"secret", "x"}}},
	"grep": {"pattern": "."}, "glob": {"pattern": "**"},
}

func TestBoundary(t *testing.T) {
	for op, with := range every {
		w := newWorld(t)
		w.must(os.Symlink(w.other, w.inside+"/away"))
		w.must(os.Symlink("../out", w.inside+"/up"))
		w.must(os.Symlink("/", w.inside+"/root"))
		w.must(os.Symlink("/proc/self/root", w.inside+"/proc"))
		for name, path := range map[string]string{
			"the folder beside": w.other, "dots": w.inside + "/../out/secret", "a link": "away/secret", "a link up": "up/secret",
			"a link to the root": "root" + w.other + "/secret", "a link of the kernel": "proc" + w.other + "/secret",
			"a longer name": w.inside + "side", "the root": "/", "above": filepath.Dir(w.inside),
		} {
			t.Run("TOOL-FS-01 "+op+" does not leave by "+name, func(t *testing.T) {
				w.wants(w.ask(op, path, with), "PathOutsideBoundary")
			})
		}
		t.Run("TOOL-FS-01 "+op+" changed nothing outside", func(t *testing.T) {
			entries, _ := os.ReadDir(w.other)
			if raw, _ := os.ReadFile(w.other + "/secret"); string(raw) != "secret" || len(entries) != 1 {
				t.Errorf("%q %v", raw, entries)
			}
		})
		t.Run("TOOL-FS-01 "+op+" obeys the deny list, through links too", func(t *testing.T) {
			w.file("private/key", "secret")
			w.must(os.Symlink("private/key", w.inside+"/public"))
			denied := fields{"deny": []string{"private"}}
			for name, value := range with {
				denied[name] = value
			}
			w.wants(w.ask(op, "private/key", denied), "PERMISSION_DENIED")
			if op != "delete" {
				w.wants(w.ask(op, "public", denied), "PERMISSION_DENIED")
			}
		})
		t.Run("TOOL-FS-01 without a boundary "+op+" may touch nothing", func(t *testing.T) {
			nothing := fields{"boundaries": []boundary{}}
			for name, value := range with {
				nothing[name] = value
			}
			w.wants(w.ask(op, "private/key", nothing), "PathOutsideBoundary")
		})
	}
	t.Run("TOOL-FS-01 links that stay inside are followed, loops end", func(t *testing.T) {
		w := newWorld(t)
		w.file("real/f", "text")
		w.must(os.Symlink("real", w.inside+"/a"))
		w.must(os.Symlink(w.inside+"/a/f", w.inside+"/b"))
		w.must(os.Symlink("loop", w.inside+"/loop"))
		w.gives(w.ask("read", "b", nil), "text")
		w.wants(w.ask("read", "loop", nil), "NOT_FOUND")
	})
	t.Run("TOOL-FS-01 globs are boundaries too", func(t *testing.T) {
		w := newWorld(t)
		w.file("src/a.ts", "a")
		w.file("src/a.env", "b")
		w.must(os.Symlink("a.env", w.inside+"/src/c.ts"))
		only := fields{"boundaries": []boundary{{w.inside + "/src/*.ts", false}}}
		w.gives(w.ask("read", "src/a.ts", only), "a")
		w.wants(w.ask("read", "src/a.env", only), "PathOutsideBoundary")
		w.wants(w.ask("read", "src/c.ts", only), "PathOutsideBoundary")
	})
}

func TestSpecialFiles(t *testing.T) {
	w := newWorld(t)
	w.must(syscall.Mkfifo(w.inside+"/pipe", 0o666))
	for op, with := range every {
		if op == "delete" || op == "create_dir" || op == "list" || op == "glob" || op == "grep" {
			continue
		}
		t.Run("TOOL-FS-01 "+op+" does not wait for a pipe", func(t *testing.T) { w.wants(w.ask(op, "pipe", with), "NOT_A_FILE") })
	}
	t.Run("TOOL-FS-10 grep leaves pipes out", func(t *testing.T) {
		w.file("f", "text")
		w.gives(w.ask("grep", ".", fields{"pattern": "e"}), w.inside+"/f:1:text")
	})
	t.Run("TOOL-FS-02 a device is not read", func(t *testing.T) {
		got := w.ask("read", "/dev/zero", fields{"boundaries": []boundary{{"/dev", true}}})
		w.wants(got, "NOT_A_FILE")
	})
	t.Run("TOOL-FS-02 a file of a tebibyte is refused at once", func(t *testing.T) {
		w.must(os.Truncate(w.file("huge", ""), 1<<40))
		w.wants(w.ask("read", "huge", nil), "TOO_LARGE")
	})
}

func TestDeepTree(t *testing.T) {
	w := newWorld(t)
	folder, err := os.OpenRoot(w.inside)
	w.must(err)
	for range 1_000 {
		w.must(folder.Mkdir("d", 0o755))
		inner, err := folder.OpenRoot("d")
		w.must(err)
		_ = folder.Close()
		folder = inner
	}
	_ = folder.Close()
	t.Run("TOOL-FS-11 a tree of 1,000 levels is searched to a depth, and the answer says so", func(t *testing.T) {
		got := w.ask("glob", ".", fields{"pattern": "**"})
		lines := strings.Split(got.Content, "\n")
		if !got.OK || len(lines) != mostDepth+1 || !strings.HasPrefix(lines[mostDepth], "[") {
			t.Errorf("%d lines, %q", len(lines), got.Message)
		}
	})
	t.Run("TOOL-FS-06 it can be deleted", func(t *testing.T) {
		if got := w.ask("delete", "d", fields{"recursive": true}); !got.OK {
			t.Errorf("%+v", got)
		}
	})
}

// TestSwap exchanges a folder for a link to the folder outside, 10,000 times, while requests go through it.
func TestSwap(t *testing.T) {
	w := newWorld(t)
	w.file("d/secret", "mine")
	w.file("d2/secret", "mine")
	w.must(os.Symlink(w.other, w.inside+"/link"))
	stop := make(chan struct{})
	var swapping sync.WaitGroup
	swapping.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
				_ = os.Rename(w.inside+"/d", w.inside+"/aside")
				_ = os.Rename(w.inside+"/link", w.inside+"/d")
				_ = os.Rename(w.inside+"/d", w.inside+"/link")
				_ = os.Rename(w.inside+"/aside", w.inside+"/d")
			}
		}
	})
	g, err := newGuard([]boundary{{w.inside, true}}, nil)
	w.must(err)
	for n := range 10_000 {
		if n%2 == 0 {
			_, _ = write(g, &request{Path: w.inside + "/d/secret", Content: "mine"})
			continue
		}
		op := read
		if n%4 == 1 {
			op = readBytes
		}
		text, err := op(g, &request{Path: w.inside + "/d/secret"})
		if err == nil && text != "mine" {
			t.Fatalf("TOOL-FS-01 read %q", text)
		}
	}
	close(stop)
	swapping.Wait()
	t.Run("TOOL-FS-01 no request of 10,000 went through a link that was swapped in", func(t *testing.T) {
		entries, _ := os.ReadDir(w.other)
		if raw, _ := os.ReadFile(w.other + "/secret"); string(raw) != "secret" || len(entries) != 1 {
			t.Errorf("%q %v", raw, entries)
		}
	})
}
