// Package fsop answers one request about files, inside the pod that mounts them (spec 3 §10.3). No path that is asked
// for leads out of the boundaries of the request: neither by `..` nor by a symbolic link, not even by one that appears
// while the request runs.
package fsop

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path"
	"strings"
)

// Error names that callers match on.
const (
	errNotFound         = "NOT_FOUND"
	errPermission       = "PERMISSION_DENIED"
	errOutside          = "PathOutsideBoundary"
	errExists           = "ALREADY_EXISTS"
	errNotADirectory    = "NOT_A_DIRECTORY"
	errNotAFile         = "NOT_A_FILE"
	errNotEmpty         = "DIRECTORY_NOT_EMPTY"
	errTooLarge         = "TOO_LARGE"
	errNotText          = "NOT_TEXT"
	errNoMatch          = "NO_MATCH"
	errAmbiguous        = "AMBIGUOUS_MATCH"
	errPattern          = "INVALID_PATTERN"
	errRequest          = "INVALID_REQUEST"
	errNoSpace          = "NO_SPACE"
	errBackend          = "BACKEND_ERROR"
	contentLimit        = 1 << 20
	requestLimit        = 16 << 20
	pathLimit           = 4_096
	depthLimit          = 256
	boundaryLimit       = 1_000
	editLimit           = 1_000
	exitUsage           = 2
	boundaryPatternSize = 1_024
)

type boundary struct {
	Path  string `json:"path"`
	Write bool   `json:"write"`
}

type edit struct {
	Target      string `json:"target_content"`
	Replacement string `json:"replacement_content"`
}

type request struct {
	Op         string     `json:"op"`
	Path       string     `json:"path"`
	Content    string     `json:"content"`
	Recursive  bool       `json:"recursive"`
	Pattern    string     `json:"pattern"`
	Edits      []edit     `json:"edits"`
	Boundaries []boundary `json:"boundaries"`
	Deny       []string   `json:"deny"`
	edit
}

// failure is an answer that says why not.
type failure struct {
	code, message string
}

func (f *failure) Error() string { return f.code + ": " + f.message }

func fail(code, format string, args ...any) error {
	return &failure{code, fmt.Sprintf(format, args...)}
}

type operation func(g *guard, r *request) (string, error)

var operations = map[string]operation{
	"read": read, "write": write, "list": list, "create_dir": createDir, "delete": remove,
	opBytes: readBytes,
	"edit":  editOne, "multi_edit": editMany, "grep": grep, "glob": globFiles,
}

// opBytes is the operation whose answer is the content of the file and nothing else.
const opBytes = "bytes"

// Main answers the request that the arguments hold together: one is too short for a large file. The answer is JSON, and
// the exit code 0; the answer of opBytes is the file itself, or JSON and the exit code 1.
func Main(chunks []string, out io.Writer) int {
	if len(chunks) == 0 {
		fmt.Fprintln(os.Stderr, "runner: fs needs one request as JSON, in one argument or in several")
		return exitUsage
	}
	op, content, err := handle(strings.Join(chunks, ""))
	isRaw, code := op == opBytes, 0
	var writing error
	switch {
	case isRaw && err == nil:
		_, writing = io.WriteString(out, content)
	case isRaw:
		code = 1
		writing = encode(out, "", err)
	default:
		writing = encode(out, content, err)
	}
	if writing != nil {
		fmt.Fprintln(os.Stderr, "runner: cannot write the answer: "+writing.Error())
		return 1
	}
	return code
}

func handle(raw string) (op, content string, err error) {
	if len(raw) > requestLimit {
		return "", "", fail(errTooLarge, "the request has %d bytes; %d are allowed", len(raw), requestLimit)
	}
	var r request
	if err := json.Unmarshal([]byte(raw), &r); err != nil {
		return "", "", fail(errRequest, "the request is no JSON of the right form: %v", err)
	}
	content, err = r.run()
	return r.Op, content, err
}

func (r *request) run() (string, error) {
	run, known := operations[r.Op]
	if !known {
		return "", fail(errRequest, "op: %q is unknown", r.Op)
	}
	if err := r.check(); err != nil {
		return "", err
	}
	g, err := newGuard(r.Boundaries, r.Deny)
	if err != nil {
		return "", err
	}
	return run(g, r)
}

// check bounds the request and makes its path absolute.
func (r *request) check() error {
	switch {
	case r.Path == "" || len(r.Path) > pathLimit || strings.ContainsRune(r.Path, 0):
		return fail(errRequest, "path: must have 1 to %d bytes, none of them zero", pathLimit)
	case len(r.Content) > contentLimit:
		return fail(errTooLarge, "content: has %d bytes; %d are allowed", len(r.Content), contentLimit)
	case len(r.Boundaries) > boundaryLimit || len(r.Deny) > boundaryLimit:
		return fail(errRequest, "boundaries, deny: at most %d each", boundaryLimit)
	case len(r.Edits) > editLimit:
		return fail(errRequest, "edits: at most %d", editLimit)
	}
	if strings.Count(r.Path, "/") > depthLimit {
		return fail(errRequest, "path: has more than %d folders", depthLimit)
	}
	if path.IsAbs(r.Path) {
		r.Path = path.Clean(r.Path)
		return nil
	}
	folder, err := os.Getwd()
	if err != nil {
		return fail(errBackend, "the working folder cannot be read: %v", err)
	}
	r.Path = path.Join(folder, r.Path)
	return nil
}

func encode(out io.Writer, content string, err error) error {
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	if err == nil {
		return encoder.Encode(struct {
			OK      bool   `json:"ok"`
			Content string `json:"content"`
		}{true, content})
	}
	f, is := err.(*failure)
	if !is {
		f = &failure{errBackend, err.Error()}
	}
	return encoder.Encode(struct {
		OK      bool   `json:"ok"`
		Error   string `json:"error"`
		Message string `json:"message"`
	}{false, f.code, f.message})
}
