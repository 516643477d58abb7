package fsop

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

type fields = map[string]any

func TestRead(t *testing.T) {
	w := newWorld(t)
	w.file("a.txt", "text\n")
	w.file("binary", "\xff\xfe")
	for n := range 3 {
		w.file(fmt.Sprintf("size%d", n), strings.Repeat("x", contentLimit-1+n))
	}
	t.Run("TOOL-FS-02 read gives the content", func(t *testing.T) { w.gives(w.ask("read", "a.txt", nil), "text\n") })
	t.Run("TOOL-FS-02 a missing file is NOT_FOUND", func(t *testing.T) { w.wants(w.ask("read", "b/c", nil), "NOT_FOUND") })
	t.Run("TOOL-FS-02 a folder is no file", func(t *testing.T) { w.wants(w.ask("read", ".", nil), "NOT_A_FILE") })
	t.Run("TOOL-FS-02 a file as a folder", func(t *testing.T) { w.wants(w.ask("read", "a.txt/b", nil), "NOT_A_DIRECTORY") })
	t.Run("TOOL-FS-02 bytes that are no text are refused, not changed", func(t *testing.T) {
		w.wants(w.ask("read", "binary", nil), "NOT_TEXT")
	})
	t.Run("TOOL-FS-02 a mebibyte is read, one byte more is refused", func(t *testing.T) {
		for n, ok := range []bool{true, true, false} {
			if got := w.ask("read", fmt.Sprintf("size%d", n), nil); got.OK != ok {
				t.Errorf("%d: %s", n, got.Error)
			}
		}
	})
	t.Run("TOOL-FS-02 a file without permission is PERMISSION_DENIED", func(t *testing.T) {
		if os.Getuid() == 0 {
			t.Skip("root may read everything")
		}
		w.must(os.Chmod(w.file("closed", "x"), 0))
		w.wants(w.ask("read", "closed", nil), "PERMISSION_DENIED")
	})
}

func TestWrite(t *testing.T) {
	w := newWorld(t)
	t.Run("TOOL-FS-03 write makes a file with its folders, then replaces it, and names the path", func(t *testing.T) {
		for _, text := range []string{"one", "two and more", ""} {
			got := w.ask("write", "a/b/c.txt", fields{"content": text})
			if !got.OK || !strings.Contains(got.Content, w.inside+"/a/b/c.txt") || w.text("a/b/c.txt") != text {
				t.Errorf("%+v", got)
			}
		}
	})
	t.Run("TOOL-FS-03 write keeps the permissions of a file and leaves no other file", func(t *testing.T) {
		w.must(os.Chmod(w.file("run.sh", "x"), 0o775))
		w.ask("write", "run.sh", fields{"content": "y"})
		info, err := os.Stat(filepath.Join(w.inside, "run.sh"))
		entries, _ := os.ReadDir(w.inside)
		if err != nil || info.Mode().Perm() != 0o775 || len(entries) != 2 {
			t.Errorf("%v %v %v", err, info, entries)
		}
	})
	t.Run("TOOL-FS-03 a boundary without write refuses", func(t *testing.T) {
		readOnly := fields{"content": "x", "boundaries": []boundary{{w.inside, false}}}
		w.wants(w.ask("write", "new/file", readOnly), "PERMISSION_DENIED")
		if _, err := os.Stat(filepath.Join(w.inside, "new")); err == nil {
			t.Error("a folder was made")
		}
	})
	t.Run("TOOL-FS-03 a folder is not replaced", func(t *testing.T) {
		w.wants(w.ask("write", "a", fields{"content": "x"}), "NOT_A_FILE")
	})
	t.Run("TOOL-FS-03 content above a mebibyte is refused", func(t *testing.T) {
		w.wants(w.ask("write", "big", fields{"content": strings.Repeat("x", contentLimit+1)}), "TOO_LARGE")
		if got := w.ask("write", "big", fields{"content": strings.Repeat("x", contentLimit)}); !got.OK {
			t.Errorf("%+v", got)
		}
	})
}

func TestListAndCreate(t *testing.T) {
	w := newWorld(t)
	w.file("b.txt", "")
	w.file("a/x", "")
	w.must(os.Symlink("a", filepath.Join(w.inside, "link")))
	t.Run("TOOL-FS-04 names in order, a slash behind folders", func(t *testing.T) {
		w.gives(w.ask("list", ".", nil), "a/\nb.txt\nlink")
	})
	t.Run("TOOL-FS-04 a missing folder is NOT_FOUND", func(t *testing.T) { w.wants(w.ask("list", "no", nil), "NOT_FOUND") })
	t.Run("TOOL-FS-04 a file is no folder", func(t *testing.T) { w.wants(w.ask("list", "b.txt", nil), "NOT_A_DIRECTORY") })
	t.Run("TOOL-FS-05 create_dir makes the folders above it, and succeeds again", func(t *testing.T) {
		for range 2 {
			if got := w.ask("create_dir", "p/q/r", nil); !got.OK {
				t.Errorf("%+v", got)
			}
		}
		if info, err := os.Stat(w.inside + "/p/q/r"); err != nil || !info.IsDir() {
			t.Error(err)
		}
	})
	t.Run("TOOL-FS-05 create_dir over a file is an error", func(t *testing.T) {
		w.wants(w.ask("create_dir", "b.txt", nil), "NOT_A_DIRECTORY")
	})
}

func TestDelete(t *testing.T) {
	w := newWorld(t)
	full := func() { w.file("full/a/b", "") }
	full()
	w.file("one", "")
	t.Run("TOOL-FS-06 a file is deleted", func(t *testing.T) {
		if got := w.ask("delete", "one", nil); !got.OK || !strings.HasPrefix(w.text("one"), "(") {
			t.Errorf("%+v", got)
		}
	})
	t.Run("TOOL-FS-06 a folder that is not empty needs recursive", func(t *testing.T) {
		w.wants(w.ask("delete", "full", nil), "DIRECTORY_NOT_EMPTY")
		w.wants(w.ask("delete", "full", fields{"recursive": false}), "DIRECTORY_NOT_EMPTY")
		if got := w.ask("delete", "full", fields{"recursive": true}); !got.OK {
			t.Errorf("%+v", got)
		}
	})
	t.Run("TOOL-FS-07 a missing entry is NOT_FOUND", func(t *testing.T) { w.wants(w.ask("delete", "one", nil), "NOT_FOUND") })
	t.Run("TOOL-FS-07 what is denied stays, and so does a tree that holds it", func(t *testing.T) {
		full()
		for _, deny := range []string{w.inside + "/full/a/b", "b", w.inside + "/**/b", w.inside + "/full/a"} {
			with := fields{"recursive": true, "deny": []string{deny}}
			w.wants(w.ask("delete", "full/a/b", with), "PERMISSION_DENIED")
			w.wants(w.ask("delete", "full", with), "PERMISSION_DENIED")
		}
		if w.text("full/a/b") != "" {
			t.Error(w.text("full/a/b"))
		}
	})
	t.Run("TOOL-FS-07 the boundary itself stays", func(t *testing.T) {
		w.wants(w.ask("delete", ".", fields{"recursive": true}), "PERMISSION_DENIED")
	})
	t.Run("TOOL-FS-07 a link is deleted, not its target", func(t *testing.T) {
		w.must(os.Symlink(w.other, w.inside+"/away"))
		if got := w.ask("delete", "away", fields{"recursive": true}); !got.OK {
			t.Errorf("%+v", got)
		}
		if _, err := os.Stat(w.other + "/secret"); err != nil {
			t.Error(err)
		}
	})
}

func TestEdit(t *testing.T) {
	w := newWorld(t)
	text := "one\ntwo\ntwo\nthree\naaa\n"
	one := func(target, replacement string) fields {
		return fields{"target_content": target, "replacement_content": replacement}
	}
	for name, c := range map[string]struct {
		target, error string
	}{
		"no place": {"four", "NO_MATCH"}, "two places": {"two", "AMBIGUOUS_MATCH"},
		"two places that overlap": {"aa", "AMBIGUOUS_MATCH"}, "an empty target": {"", "INVALID_REQUEST"},
	} {
		t.Run("TOOL-FS-08 "+name+" is an error and changes nothing", func(t *testing.T) {
			w.file("f", text)
			w.wants(w.ask("edit", "f", one(c.target, "x")), c.error)
			if w.text("f") != text {
				t.Error(w.text("f"))
			}
		})
	}
	t.Run("TOOL-FS-08 one place is replaced, and the answer says how much", func(t *testing.T) {
		w.file("f", text)
		got := w.ask("edit", "f", one("two\nthree", "2"))
		if !got.OK || w.text("f") != "one\ntwo\n2\naaa\n" || !strings.Contains(got.Content, "2 lines replaced by 1") {
			t.Errorf("%+v %q", got, w.text("f"))
		}
	})
	t.Run("TOOL-FS-08 a missing file is NOT_FOUND", func(t *testing.T) {
		w.wants(w.ask("edit", "none", one("a", "b")), "NOT_FOUND")
	})
	t.Run("TOOL-FS-09 edits apply in order and are counted", func(t *testing.T) {
		w.file("f", text)
		got := w.ask("multi_edit", "f", fields{"edits": []edit{{"one", "1"}, {"1\ntwo", "1\n2"}}})
		if !got.OK || w.text("f") != "1\n2\ntwo\nthree\naaa\n" || !strings.Contains(got.Content, "2 replacements") {
			t.Errorf("%+v %q", got, w.text("f"))
		}
	})
	t.Run("TOOL-FS-09 one failure leaves the file unchanged", func(t *testing.T) {
		w.file("f", text)
		got := w.ask("multi_edit", "f", fields{"edits": []edit{{"one", "1"}, {"none", "x"}}})
		w.wants(got, "NO_MATCH")
		if w.text("f") != text || !strings.Contains(got.Message, "edits[1]") {
			t.Errorf("%+v %q", got, w.text("f"))
		}
	})
	t.Run("TOOL-FS-09 no edits are an error", func(t *testing.T) {
		w.wants(w.ask("multi_edit", "f", fields{"edits": []edit{}}), "INVALID_REQUEST")
	})
}

func TestRequests(t *testing.T) {
	w := newWorld(t)
	t.Run("TOOL-FS-01 bad requests are answered", func(t *testing.T) {
		w.wants(w.ask("chmod", "a", nil), "INVALID_REQUEST")
		w.wants(w.ask("read", "a\x00b", nil), "INVALID_REQUEST")
		w.wants(w.ask("read", strings.Repeat("a", pathLimit+1), nil), "INVALID_REQUEST")
		w.wants(w.ask("read", "a", fields{"boundaries": []boundary{{"relative", true}}}), "INVALID_REQUEST")
		w.wants(w.ask("read", "a", fields{"path": ""}), "INVALID_REQUEST")
		w.wants(w.ask("create_dir", strings.Repeat("/d", depthLimit+1), nil), "INVALID_REQUEST")
		w.wants(w.ask("read", "a", fields{"deny": []string{"{a"}}), "INVALID_PATTERN")
	})
	t.Run("TOOL-FS-01 no JSON is answered, no argument is not", func(t *testing.T) {
		var out bytes.Buffer
		if Main([]string{"{"}, &out) != 0 || !strings.Contains(out.String(), "INVALID_REQUEST") {
			t.Error(out.String())
		}
		if Main(nil, &out) != exitUsage {
			t.Error("exit code")
		}
	})
}
