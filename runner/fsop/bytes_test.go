package fsop

import (
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"testing"
)

func TestBytes(t *testing.T) {
	w := newWorld(t)
	answer := func(path string, deny ...string) (int, string) {
		t.Helper()
		raw, err := json.Marshal(request{Op: opBytes, Path: path, Boundaries: []boundary{{w.inside, false}}, Deny: deny})
		w.must(err)
		var out bytes.Buffer
		code := Main([]string{string(raw)}, &out)
		return code, out.String()
	}
	for name, content := range map[string]string{
		"text": "hello", "empty": "", "no text": "\xff\x00\xfe", "the longest": strings.Repeat("x", contentLimit),
	} {
		t.Run("TOOL-064 gives the bytes of a file that is "+name, func(t *testing.T) {
			if code, out := answer(w.file("file", content)); code != 0 || out != content {
				t.Errorf("%d, %d bytes", code, len(out))
			}
		})
	}
	w.must(os.Symlink(w.other+"/secret", w.inside+"/link"))
	w.file("private/key", "k")
	for _, refused := range []struct{ name, path, code string }{
		{"of a file beyond the limit", w.file("long", strings.Repeat("x", contentLimit+1)), errTooLarge},
		{"of a link that leads out", w.inside + "/link", errOutside},
		{"of a denied path", w.inside + "/private/key", errPermission},
		{"of a folder", w.inside, errNotAFile},
		{"of nothing", w.inside + "/none", errNotFound},
	} {
		t.Run("TOOL-064 gives no bytes "+refused.name, func(t *testing.T) {
			code, out := answer(refused.path, w.inside+"/private/**")
			var r reply
			w.must(json.Unmarshal([]byte(out), &r))
			if w.wants(r, refused.code); code != 1 {
				t.Errorf("exit code %d", code)
			}
		})
	}
}
