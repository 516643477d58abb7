package fsop

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
)

type reply struct {
	OK      bool
	Content string
	Error   string
	Message string
}

// world is a folder that is a boundary, beside one that is not.
type world struct {
	t             *testing.T
	inside, other string
}

func newWorld(t *testing.T) *world {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t, filepath.Join(base, "in"), filepath.Join(base, "out")}
	for _, dir := range []string{w.inside, w.other} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	w.file(filepath.Join(w.other, "secret"), "secret")
	return w
}

func (w *world) file(path, text string) string {
	w.t.Helper()
	if !filepath.IsAbs(path) {
		path = filepath.Join(w.inside, path)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		w.t.Fatal(err)
	}
	return path
}

func (w *world) text(path string) string {
	raw, err := os.ReadFile(filepath.Join(w.inside, path))
	if err != nil {
		return "(" + err.Error() + ")"
	}
	return string(raw)
}

func (w *world) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

// ask sends a request about a path within the boundary; fields replace those of the request.
func (w *world) ask(op, path string, fields map[string]any) reply {
	w.t.Helper()
	if !filepath.IsAbs(path) {
		path = w.inside + "/" + path
	}
	body := map[string]any{"op": op, "path": path, "boundaries": []boundary{{w.inside, true}}, "deny": []string{}}
	for name, value := range fields {
		body[name] = value
	}
	raw, err := json.Marshal(body)
	w.must(err)
	half := len(raw) / 2
	var out bytes.Buffer
	if code := Main([]string{string(raw[:half]), string(raw[half:])}, &out); code != 0 {
		w.t.Fatalf("exit code %d", code)
	}
	var r reply
	if err := json.Unmarshal(out.Bytes(), &r); err != nil || bytes.Count(out.Bytes(), []byte("\n")) != 1 {
		w.t.Fatalf("%v in %q", err, out.String())
	}
	return r
}

func (w *world) wants(got reply, code string) {
	w.t.Helper()
	if got.OK || got.Error != code || got.Message == "" {
		w.t.Errorf("want %s, got %+v", code, got)
	}
}

func (w *world) gives(got reply, content string) {
	w.t.Helper()
	if !got.OK || got.Content != content {
		w.t.Errorf("want %q, got %+v", content, got)
	}
}
