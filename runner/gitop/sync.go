package gitop

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

const (
	filesLimit  = 200_000
	remoteRef   = "refs/windlass/remote"
	refsLimit   = 1 << 20
	headsPrefix = "refs/heads/"
)

// syncTree brings the tree that the server has for the ref, as a new generation that readers see from one moment on.
// Until then, and where it fails at any point, they see the one before.
func syncTree(ctx context.Context, w *work) (*result, error) {
	before, err := w.store.current()
	if err != nil {
		return nil, err
	}
	if err := w.store.sweep(before); err != nil {
		return nil, err
	}
	if err := w.nothingToLose(ctx, before); err != nil {
		return nil, err
	}
	found, err := w.find(ctx)
	if err != nil {
		return nil, err
	}
	if before != nil && before.state.Remote == found.commit && before.state.Branch == found.branch {
		return resultOf(before, false), nil
	}
	next, err := w.bring(ctx, found)
	if err == nil {
		// The server took its time, and the tenant may have worked meanwhile.
		err = w.nothingToLose(ctx, before)
	}
	if err != nil {
		// The rest takes room until the next sync, should this not succeed.
		_ = w.store.sweep(before)
		return nil, err
	}
	if err := w.store.show(next); err != nil {
		return nil, err
	}
	return resultOf(next, true), nil
}

func resultOf(g *generation, changed bool) *result {
	s := g.state
	return &result{Commit: s.Commit, Branch: s.Branch, Changed: changed, Ahead: s.Commit != s.Remote, Files: s.Files, Bytes: s.Bytes}
}

// nothingToLose refuses a sync that would hide work which is on this volume alone.
func (w *work) nothingToLose(ctx context.Context, before *generation) error {
	if before == nil {
		return nil
	}
	if before.state.Commit != before.state.Remote {
		return fail(errUnpushed, "the binding has commits that were not pushed; push them, or delete the binding")
	}
	return w.nothingUncommitted(ctx, before)
}

// nothingUncommitted refuses to put another tree in the place of one whose files differ from its commit.
func (w *work) nothingUncommitted(ctx context.Context, before *generation) error {
	changes, _, err := w.changes(ctx, before)
	if err != nil {
		return err
	}
	if len(changes) > 0 {
		return fail(errUncommitted, "%d files differ from the commit, as %s; commit them, or delete the binding", len(changes), changes[0].Path)
	}
	return nil
}

// wanted is what the server has for a ref.
type wanted struct {
	ref, commit, branch string
}

// find asks the server which commit the ref means: a branch comes before a tag, and no ref means the server's default.
func (w *work) find(ctx context.Context) (wanted, error) {
	if hashForm.MatchString(w.Ref) {
		return wanted{ref: w.Ref, commit: w.Ref}, nil
	}
	asked := []string{"HEAD"}
	if w.Ref != "" {
		asked = []string{headsPrefix + w.Ref, "refs/tags/" + w.Ref, "refs/tags/" + w.Ref + "^{}"}
	}
	args := append([]string{"ls-remote", "--quiet", "--symref", "--", w.to.asked(w.URL)}, asked...)
	out, err := w.ask(ctx, nil, call{args: args, limit: refsLimit})
	if err != nil {
		return wanted{}, tooMuch(err, "the server lists too many refs")
	}
	return w.choose(out, asked)
}

func (w *work) choose(listed string, asked []string) (wanted, error) {
	commits, branch := map[string]string{}, ""
	for line := range strings.Lines(listed) {
		value, name, _ := strings.Cut(strings.TrimRight(line, "\n"), "\t")
		if target, is := strings.CutPrefix(value, "ref: "+headsPrefix); is && name == "HEAD" && isRef(target) {
			branch = target
		} else if hashForm.MatchString(value) {
			commits[name] = value
		}
	}
	for _, ref := range asked {
		commit, there := commits[ref]
		if !there {
			continue
		}
		if peeled, is := commits[ref+"^{}"]; is {
			commit = peeled
		}
		if name, is := strings.CutPrefix(ref, headsPrefix); is {
			branch = name
		}
		return wanted{ref, commit, branch}, nil
	}
	return wanted{}, fail(errRef, "the repository has no branch and no tag %q, or is empty", w.Ref)
}

// bring fetches a commit into a new generation and lays its tree out. The sizes are known before a file is written.
func (w *work) bring(ctx context.Context, found wanted) (*generation, error) {
	g, err := w.store.begin(w.ID)
	if err != nil {
		return nil, err
	}
	args := []string{"fetch", "--quiet", "--no-tags", "--no-auto-gc", "--no-recurse-submodules", "--no-write-fetch-head"}
	if w.Depth > 0 {
		args = append(args, "--depth="+strconv.Itoa(w.Depth))
	}
	if _, err := w.ask(ctx, g, call{args: append(args, "--", w.to.asked(w.URL), "+"+found.ref+":"+remoteRef)}); err != nil {
		return nil, tooMuch(err, "git wrote too much")
	}
	if err := g.noAlternates(); err != nil {
		return nil, err
	}
	commit, err := w.git(ctx, g, call{args: []string{"rev-parse", "--verify", "--quiet", remoteRef + "^{commit}"}})
	if err != nil {
		return nil, fail(errRef, "%s of the repository is no commit", found.ref)
	}
	g.state = state{Commit: strings.TrimSpace(commit), Branch: found.branch}
	g.state.Remote = g.state.Commit
	if err := g.state.check(); err != nil {
		return nil, fail(errBackend, "git gave no commit")
	}
	if err := w.measure(ctx, g); err != nil {
		return nil, err
	}
	if err := w.layOut(ctx, g); err != nil {
		return nil, err
	}
	return g, g.finish(w.gitDir)
}

// measure bounds a generation to half of the volume, so that the one before fits beside it.
func (w *work) measure(ctx context.Context, g *generation) error {
	listed, err := w.git(ctx, g, call{args: []string{"ls-tree", "-r", "-l", "-z", g.state.Commit}, limit: 4 * outputLimit})
	if err != nil {
		return tooMuch(err, "the tree has too many files")
	}
	for entry := range strings.SplitSeq(strings.TrimSuffix(listed, "\x00"), "\x00") {
		fields := strings.Fields(entry)
		if len(fields) < 4 {
			continue
		}
		size, _ := strconv.ParseInt(fields[3], 10, 64)
		g.state.Bytes += size
		g.state.Files++
	}
	stored, err := sizeOf(g.objects())
	if err != nil {
		return explain(err)
	}
	if half := w.LimitBytes / 2; g.state.Bytes+stored > half || g.state.Files > filesLimit {
		return fail(errTooLarge, "%d files of %d bytes and a history of %d bytes; %d files and %d bytes, half of the volume, are allowed",
			g.state.Files, g.state.Bytes, stored, filesLimit, half)
	}
	return nil
}

func sizeOf(folder string) (int64, error) {
	var total int64
	err := filepath.WalkDir(folder, func(_ string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		info, err := entry.Info()
		if err == nil {
			total += info.Size()
		}
		return err
	})
	return total, err
}

func (w *work) layOut(ctx context.Context, g *generation) error {
	steps := [][]string{{"read-tree", g.state.Commit}, {"checkout-index", "--all", "--force", "--quiet"}}
	for _, args := range steps {
		if _, err := w.git(ctx, g, call{args: args}); err != nil {
			return tooMuch(err, "git wrote too much")
		}
	}
	return noWayOut(g)
}

// noWayOut refuses a tree with a symbolic link that leads out of it, be it through other links.
func noWayOut(g *generation) error {
	root, err := g.store.root.OpenRoot(filepath.Join(g.folder, treeFolder))
	if err != nil {
		return explain(err)
	}
	defer func() { _ = root.Close() }()
	return fs.WalkDir(root.FS(), ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return explain(err)
		}
		if entry.Type()&fs.ModeSymlink == 0 {
			return nil
		}
		if _, err := root.Stat(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fail(errSymlink, "the symbolic link %s leads out of the tree", path)
		}
		return nil
	})
}

// finish writes down what the generation is, and has all of it on the disk before a reader sees it.
func (g *generation) finish(gitDir string) error {
	shallow, err := os.ReadFile(filepath.Join(gitDir, shallowFile))
	if err == nil {
		err = g.write(shallowFile, shallow)
	} else if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	if err != nil {
		return explain(err)
	}
	return g.writeState()
}

func tooMuch(err error, message string) error {
	if errors.Is(err, errOutput) {
		return fail(errTooLarge, "%s", message)
	}
	return err
}
