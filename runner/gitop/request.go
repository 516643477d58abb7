// Package gitop works on one git binding, inside a pod of its own that mounts the binding's volume (ADR 0098). It runs
// Debian's git with a configuration that it writes itself: nothing that a repository or a tenant wrote is ever read as
// configuration, and no hook, filter or submodule runs.
package gitop

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"os"
	"strings"
	"time"
)

// Error names that callers match on.
const (
	errRequest        = "INVALID_REQUEST"
	errAddress        = "AddressNotAllowed"
	errCredential     = "CredentialFailed"
	errAuthentication = "AuthenticationFailed"
	errHostKey        = "HostKeyRejected"
	errNotFound       = "NOT_FOUND"
	errRef            = "RefNotFound"
	errTooLarge       = "TOO_LARGE"
	errTimeout        = "TIMEOUT"
	errSymlink        = "SymlinkOutside"
	errUncommitted    = "UncommittedChanges"
	errUnpushed       = "UnpushedCommits"
	errNothing        = "NothingToCommit"
	errRejected       = "PushRejected"
	errConflict       = "MergeConflict"
	errBusy           = "BUSY"
	errNoSpace        = "NO_SPACE"
	errBackend        = "GIT_FAILED"
)

const (
	requestLimit = 128 << 10
	messageLimit = 16 << 10
	idLimit      = 64
	exitUsage    = 2
)

type author struct {
	Name  string `json:"name"`
	Email string `json:"email"`
}

// request is one operation; every field but Message and Author comes from the binding.
type request struct {
	Op string `json:"op"`
	ID string `json:"id"`
	// Job is the same in each attempt at one operation; ID is of one attempt.
	Job        string   `json:"job"`
	URL        string   `json:"url"`
	Ref        string   `json:"ref"`
	Depth      int      `json:"depth"`
	LimitBytes int64    `json:"limit_bytes"`
	Seconds    int      `json:"seconds"`
	Networks   []string `json:"networks"`
	// ClusterNetworks are those of nodes, pods and Services: no wider network opens them.
	ClusterNetworks []string `json:"cluster_networks"`
	Message         string   `json:"message"`
	Author          author   `json:"author"`
	Root            string   `json:"root"`
	Scratch         string   `json:"scratch"`
	// Credentials is the folder of the Secret; empty: the operation has none.
	Credentials string `json:"credentials"`
}

// result is an answer; absent fields have nothing to say.
type result struct {
	Commit    string   `json:"commit,omitempty"`
	Branch    string   `json:"branch,omitempty"`
	Changed   bool     `json:"changed"`
	Ahead     bool     `json:"ahead"`
	Files     int      `json:"files,omitempty"`
	Bytes     int64    `json:"bytes,omitempty"`
	Changes   []change `json:"changes,omitempty"`
	Diff      string   `json:"diff,omitempty"`
	Truncated bool     `json:"truncated,omitempty"`
}

// failure is an answer that says why not.
type failure struct {
	code, message string
}

func (f *failure) Error() string { return f.code + ": " + f.message }

func fail(code, format string, args ...any) error {
	return &failure{code, fmt.Sprintf(format, args...)}
}

type operation struct {
	run func(ctx context.Context, w *work) (*result, error)
	// remote operations reach the server, and alone have the credentials.
	remote bool
}

var operations = map[string]operation{
	"sync": {syncTree, true}, "push": {push, true},
	"commit": {commit, false}, "status": {status, false}, "diff": {diff, false},
}

// Main answers the request that the argument holds.
func Main(args []string, out io.Writer) int {
	if len(args) != 1 {
		fmt.Fprintln(os.Stderr, "runner: git needs one request as JSON, in one argument")
		return exitUsage
	}
	found, err := handle(args[0])
	if err := encode(out, found, err); err != nil {
		fmt.Fprintln(os.Stderr, "runner: cannot write the answer: "+err.Error())
		return 1
	}
	return 0
}

func handle(raw string) (*result, error) {
	r, err := parse(raw)
	if err != nil {
		return nil, err
	}
	op := operations[r.Op]
	ctx, cancel := context.WithTimeout(context.Background(), time.Duration(r.Seconds)*time.Second)
	defer cancel()
	w, err := openWork(r, op.remote)
	if err != nil {
		return nil, err
	}
	defer w.close()
	found, err := op.run(ctx, w)
	if err != nil && errors.Is(ctx.Err(), context.DeadlineExceeded) {
		err = fail(errTimeout, "%s took longer than %d s", r.Op, r.Seconds)
	}
	return found, w.secrets.cleanError(err)
}

func parse(raw string) (*request, error) {
	if len(raw) > requestLimit {
		return nil, fail(errTooLarge, "the request has %d bytes; %d are allowed", len(raw), requestLimit)
	}
	r := &request{}
	if err := json.Unmarshal([]byte(raw), r); err != nil {
		return nil, fail(errRequest, "the request is no JSON of the right form: %v", err)
	}
	if _, known := operations[r.Op]; !known {
		return nil, fail(errRequest, "op: %q is unknown", r.Op)
	}
	return r, r.check()
}

func (r *request) check() error {
	switch {
	case len(r.Job) > idLimit:
		return fail(errRequest, "job: must have at most %d characters", idLimit)
	case r.ID == "" || len(r.ID) > idLimit || strings.Trim(r.ID, "abcdefghijklmnopqrstuvwxyz0123456789-") != "":
		return fail(errRequest, "id: must have 1 to %d small letters, digits and dashes", idLimit)
	case r.Root == "" || r.Scratch == "":
		return fail(errRequest, "root, scratch: must name a folder")
	case r.LimitBytes < 1 || r.Seconds < 1 || r.Depth < 0:
		return fail(errRequest, "limit_bytes, seconds: must be above 0; depth: 0 or more")
	case len(r.Message) > messageLimit || strings.ContainsRune(r.Message, 0):
		return fail(errRequest, "message: at most %d bytes, none of them zero", messageLimit)
	}
	if r.Ref != "" && !isRef(r.Ref) {
		return fail(errRequest, "ref: %q is no name of a branch or a tag", r.Ref)
	}
	_, err := parseURL(r.URL)
	return err
}

func (r *request) policy() (policy, error) {
	opened, err := networks("networks", r.Networks)
	if err != nil {
		return policy{}, err
	}
	cluster, err := networks("cluster_networks", r.ClusterNetworks)
	return policy{opened, cluster}, err
}

func networks(field string, texts []string) ([]netip.Prefix, error) {
	all := make([]netip.Prefix, 0, len(texts))
	for _, text := range texts {
		prefix, err := netip.ParsePrefix(text)
		if err != nil {
			return nil, fail(errRequest, "%s: %q is no network as 10.20.0.0/16", field, text)
		}
		all = append(all, prefix.Masked())
	}
	return all, nil
}

func encode(out io.Writer, found *result, err error) error {
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	if err == nil {
		return encoder.Encode(struct {
			OK bool `json:"ok"`
			*result
		}{true, found})
	}
	var f *failure
	if !errors.As(err, &f) {
		f = &failure{errBackend, err.Error()}
	}
	return encoder.Encode(struct {
		OK      bool   `json:"ok"`
		Error   string `json:"error"`
		Message string `json:"message"`
	}{false, f.code, f.message})
}
