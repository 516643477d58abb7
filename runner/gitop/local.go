package gitop

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

const (
	changesLimit = 500
	diffLimit    = 48 << 10
	// answerLimit bounds what an answer finds, as JSON: the status of the binding holds it.
	answerLimit = 60 << 10
)

// fitting cuts a text where its JSON would have more bytes than the limit.
func fitting(text string, limit int) (string, bool) {
	size := 0
	for at, r := range text {
		encoded, err := json.Marshal(string(r))
		if size += len(encoded) - 2; err != nil || size > limit {
			return text[:at], true
		}
	}
	return text, false
}

// change is one file that differs from the commit: A, M, D or T.
type change struct {
	Kind string `json:"kind"`
	Path string `json:"path"`
}

// opened is the tree that the volume shows; there has to be one.
func (w *work) opened() (*generation, error) {
	g, err := w.store.current()
	if err == nil && g == nil {
		err = fail(errNotFound, "the binding has no tree yet; refresh it")
	}
	if err != nil {
		return nil, err
	}
	return g, w.takeShallow(g)
}

// takeShallow lets git know where the history ends. The file lies in the volume, so every line is checked.
func (w *work) takeShallow(g *generation) error {
	raw, err := g.read(shallowFile, shallowLimit)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return explain(err)
	}
	for line := range strings.Lines(string(raw)) {
		if !hashForm.MatchString(strings.TrimSuffix(line, "\n")) {
			return fail(errBackend, "%s is none that a sync wrote; delete the binding and make it again", shallowFile)
		}
	}
	return os.WriteFile(filepath.Join(w.gitDir, shallowFile), raw, 0o600)
}

// stage puts the whole tree, but for what its .gitignore files name, into the index of this operation.
func (w *work) stage(ctx context.Context, g *generation, env []string) error {
	steps := []call{
		{args: []string{"read-tree", g.state.Commit}, env: env},
		{args: []string{"add", "--all", "--", "."}, env: env},
	}
	for _, step := range steps {
		if _, err := w.gitIn(ctx, g, step); err != nil {
			return tooMuch(err, "git wrote too much")
		}
	}
	return nil
}

// gitIn runs git in the tree itself.
func (w *work) gitIn(ctx context.Context, g *generation, c call) (string, error) {
	c.args = append([]string{"-C", g.tree()}, c.args...)
	return w.git(ctx, g, c)
}

// aside keeps what an operation only looks at out of the volume.
func (w *work) aside(g *generation) []string {
	return []string{
		"GIT_OBJECT_DIRECTORY=" + filepath.Join(w.gitDir, "objects"), "GIT_ALTERNATE_OBJECT_DIRECTORIES=" + g.objects(),
	}
}

// changes are the files that differ from the commit, and whether there are more than are listed.
func (w *work) changes(ctx context.Context, g *generation) ([]change, bool, error) {
	env := w.aside(g)
	if err := w.stage(ctx, g, env); err != nil {
		return nil, false, err
	}
	args := []string{"diff-index", "--cached", "--no-renames", "--name-status", "-z", g.state.Commit, "--"}
	listed, err := w.gitIn(ctx, g, call{args: args, env: env, limit: 1 << 20})
	isCut := errors.Is(err, errOutput)
	if err != nil && !isCut {
		return nil, false, err
	}
	fields := strings.Split(listed, "\x00")
	var found []change
	room := answerLimit
	for i := 0; i+1 < len(fields); i += 2 {
		next := change{fields[i], strings.ToValidUTF8(fields[i+1], "�")}
		encoded, err := json.Marshal(next)
		if room -= len(encoded) + 1; err != nil || len(found) == changesLimit || room < 0 {
			return found, true, nil
		}
		found = append(found, next)
	}
	return found, isCut, nil
}

func status(ctx context.Context, w *work) (*result, error) {
	g, err := w.opened()
	if err != nil {
		return nil, err
	}
	changes, isCut, err := w.changes(ctx, g)
	if err != nil {
		return nil, err
	}
	found := resultOf(g, false)
	found.Changes, found.Truncated = changes, isCut
	return found, nil
}

// diff is what a commit would hold, as a patch; no program of the repository makes it.
func diff(ctx context.Context, w *work) (*result, error) {
	g, err := w.opened()
	if err != nil {
		return nil, err
	}
	env := w.aside(g)
	if err := w.stage(ctx, g, env); err != nil {
		return nil, err
	}
	args := []string{"diff-index", "--cached", "--patch", "--no-ext-diff", "--no-textconv", "--no-color", g.state.Commit, "--"}
	patch, err := w.gitIn(ctx, g, call{args: args, env: env, limit: diffLimit})
	isCut := errors.Is(err, errOutput)
	if err != nil && !isCut {
		return nil, err
	}
	found := resultOf(g, false)
	text, isLong := fitting(strings.ToValidUTF8(patch, "�"), answerLimit)
	found.Diff, found.Truncated = text, isCut || isLong
	return found, nil
}

// commit records the tree on top of the commit that it came from. It reaches no server and has no credentials: a tenant
// may exchange files of the tree meanwhile, and no secret is there to be taken.
func commit(ctx context.Context, w *work) (*result, error) {
	if strings.TrimSpace(w.Message) == "" {
		return nil, fail(errRequest, "message: must not be empty")
	}
	g, err := w.opened()
	if err != nil {
		return nil, err
	}
	if w.Job != "" && g.state.Job == w.Job {
		// The pod of an earlier attempt was lost after its commit was recorded.
		return resultOf(g, true), nil
	}
	if err := w.stage(ctx, g, nil); err != nil {
		return nil, err
	}
	tree, err := w.git(ctx, g, call{args: []string{"write-tree"}})
	if err != nil {
		return nil, err
	}
	had, err := w.git(ctx, g, call{args: []string{"rev-parse", "--verify", g.state.Commit + "^{tree}"}})
	if err != nil {
		return nil, err
	}
	if tree == had {
		return nil, fail(errNothing, "no file differs from the commit %s", g.state.Commit)
	}
	made, err := w.git(ctx, g, call{
		args: []string{"commit-tree", "-p", g.state.Commit, strings.TrimSpace(tree)}, in: w.Message, env: w.authored(),
	})
	if err != nil {
		return nil, err
	}
	g.state.Commit, g.state.Job = strings.TrimSpace(made), w.Job
	if err := g.writeState(); err != nil {
		return nil, err
	}
	return resultOf(g, true), nil
}

func (w *work) authored() []string {
	name, email := w.Author.Name, w.Author.Email
	return []string{
		"GIT_AUTHOR_NAME=" + name, "GIT_AUTHOR_EMAIL=" + email, "GIT_COMMITTER_NAME=" + name, "GIT_COMMITTER_EMAIL=" + email,
	}
}
