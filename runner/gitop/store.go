package gitop

import (
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"syscall"
	"time"
)

// In the volume: `current` is a symbolic link to the tree that readers see, generations/ID/tree. Beside each tree,
// generations/ID/git holds its objects and what is known of it. A tree has no .git folder: what lies there would be
// configuration that a tenant can write.
const (
	currentLink  = "current"
	generations  = "generations"
	lockFile     = ".git-binding.lock"
	treeFolder   = "tree"
	gitFolder    = "git"
	stateFile    = "state.json"
	shallowFile  = "shallow"
	stateLimit   = 64 << 10
	shallowLimit = 1 << 20
	lockPatience = 20 * time.Second
)

var linkForm = regexp.MustCompile(`^generations/[a-z0-9-]{1,64}/tree$`)

// state is what is known of a tree; what a tenant may have written there is checked like any input.
type state struct {
	Commit string `json:"commit"`
	// Remote is the commit that the server had at the last sync or push.
	Remote string `json:"remote"`
	// Branch that a push moves; empty: the tree is that of a tag or a commit.
	Branch string `json:"branch"`
	Bytes  int64  `json:"bytes"`
	Files  int    `json:"files"`
	// Job is the last operation that made a commit.
	Job string `json:"job,omitempty"`
}

func (s *state) check() error {
	if !hashForm.MatchString(s.Commit) || !hashForm.MatchString(s.Remote) || (s.Branch != "" && !isRef(s.Branch)) {
		return errors.New("holds no commits")
	}
	return nil
}

// store is the volume of a binding. Its root is opened once, and nothing in it leads out.
type store struct {
	path string
	root *os.Root
	lock *os.File
}

func openStore(path string) (*store, error) {
	root, err := os.OpenRoot(path)
	if err != nil {
		return nil, fail(errBackend, "the volume cannot be opened: %v", err)
	}
	lock, err := root.OpenFile(lockFile, os.O_CREATE|os.O_RDWR, 0o660)
	if err != nil {
		_ = root.Close()
		return nil, explain(err)
	}
	s := &store{path, root, lock}
	if err := s.acquire(); err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

// acquire takes the lock of the volume: one operation at a time, whatever made the pods.
func (s *store) acquire() error {
	for until := time.Now().Add(lockPatience); ; time.Sleep(200 * time.Millisecond) {
		err := syscall.Flock(int(s.lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil || errors.Is(err, syscall.ENOTSUP) || errors.Is(err, syscall.ENOLCK) {
			return nil
		}
		if time.Now().After(until) {
			return fail(errBusy, "another operation works on the volume; try again")
		}
	}
}

func (s *store) close() {
	_ = s.lock.Close()
	_ = s.root.Close()
}

// generation is one tree with its objects; paths are relative to the volume.
type generation struct {
	store  *store
	folder string
	state  state
}

func (g *generation) tree() string { return filepath.Join(g.store.path, g.folder, treeFolder) }
func (g *generation) objects() string {
	return filepath.Join(g.store.path, g.folder, gitFolder, "objects")
}
func (g *generation) in(name string) string {
	return filepath.Join(g.folder, gitFolder, name)
}

// current is the tree that readers see; nil: there is none yet.
func (s *store) current() (*generation, error) {
	target, err := s.root.Readlink(currentLink)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil || !linkForm.MatchString(target) {
		return nil, fail(errBackend, "current is no link that a sync made; delete the binding and make it again")
	}
	g := &generation{store: s, folder: filepath.Dir(target)}
	for _, folder := range []string{g.folder, target, filepath.Join(g.folder, gitFolder), g.in("objects")} {
		if info, err := s.root.Lstat(folder); err != nil || !info.IsDir() {
			return nil, fail(errBackend, "%s is no folder; delete the binding and make it again", folder)
		}
	}
	return g, g.readState()
}

func (g *generation) readState() error {
	raw, err := g.read(stateFile, stateLimit)
	if err == nil {
		err = json.Unmarshal(raw, &g.state)
	}
	if err == nil {
		err = g.state.check()
	}
	if err != nil {
		return fail(errBackend, "%s is none that a sync wrote; delete the binding and make it again", stateFile)
	}
	return nil
}

func (g *generation) read(name string, limit int64) ([]byte, error) {
	file, err := g.store.root.OpenFile(g.in(name), os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	raw, err := io.ReadAll(io.LimitReader(file, limit+1))
	if err == nil && int64(len(raw)) > limit {
		return nil, errors.New("is too large")
	}
	return raw, err
}

// writeState replaces the state in one step.
func (g *generation) writeState() error {
	raw, err := json.Marshal(g.state)
	if err != nil {
		return err
	}
	return g.write(stateFile, raw)
}

func (g *generation) write(name string, raw []byte) error {
	next := g.in(name + ".new")
	_ = g.store.root.Remove(next)
	file, err := g.store.root.OpenFile(next, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o660)
	if err != nil {
		return explain(err)
	}
	_, err = file.Write(raw)
	err = errors.Join(err, file.Sync(), file.Close())
	if err != nil {
		return explain(err)
	}
	return explain(g.store.root.Rename(next, g.in(name)))
}

// sweep removes every tree but the current one: what a killed operation left, and the one before.
func (s *store) sweep(kept *generation) error {
	folder, err := s.root.Open(generations)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return explain(err)
	}
	defer func() { _ = folder.Close() }()
	for {
		names, err := folder.Readdirnames(100)
		for _, name := range names {
			path := filepath.Join(generations, name)
			if kept != nil && path == kept.folder {
				continue
			}
			if err := s.remove(path); err != nil {
				return explain(err)
			}
		}
		if err != nil {
			return nil
		}
	}
}

// remove deletes a folder with its content; what git made read only is in folders that are not.
func (s *store) remove(path string) error { return s.root.RemoveAll(path) }

// noAlternates refuses a list of other folders of objects: git reads it line by line, and names its lines in errors.
func (g *generation) noAlternates() error {
	for _, name := range []string{"alternates", "http-alternates"} {
		if _, err := g.store.root.Lstat(g.in(filepath.Join("objects", "info", name))); !errors.Is(err, fs.ErrNotExist) {
			return fail(errBackend, "objects/info/%s is none that a sync wrote; delete the binding and make it again", name)
		}
	}
	return nil
}

// begin makes the folders of a new tree. It never clears the one that readers see.
func (s *store) begin(id string) (*generation, error) {
	g := &generation{store: s, folder: filepath.Join(generations, id)}
	if shown, err := s.root.Readlink(currentLink); err == nil && shown == filepath.Join(g.folder, treeFolder) {
		return nil, fail(errBusy, "the tree of the operation %s is shown already; ask again with another id", id)
	}
	if err := s.remove(g.folder); err != nil {
		return nil, explain(err)
	}
	for _, folder := range []string{filepath.Join(g.folder, treeFolder), g.in("objects")} {
		if err := s.root.MkdirAll(folder, 0o775); err != nil {
			return nil, explain(err)
		}
	}
	return g, nil
}

// show makes a tree the current one in one step: a reader sees the one before or this one.
func (s *store) show(g *generation) error {
	next := currentLink + ".new"
	_ = s.root.Remove(next)
	if err := s.root.Symlink(filepath.Join(g.folder, treeFolder), next); err != nil {
		return explain(err)
	}
	if err := s.root.Rename(next, currentLink); err != nil {
		return explain(err)
	}
	folder, err := s.root.Open(".")
	if err != nil {
		return explain(err)
	}
	defer func() { _ = folder.Close() }()
	return explain(folder.Sync())
}

func explain(err error) error {
	var known *failure
	switch {
	case err == nil || errors.As(err, &known):
		return err
	case errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT):
		return fail(errNoSpace, "the volume is full")
	}
	return fail(errBackend, "the volume: %v", err)
}
