package fsop

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"strings"
	"syscall"
)

const (
	mostLinks = 40
	// mostTries bounds how often a path is walked again that changed during the walk.
	mostTries = 20
)

// errMoved: what was looked at is not what was opened; another process exchanged it in between.
var errMoved = errors.New("the path changes while it is read")

// place is an entry of an open folder. The real path holds no symbolic link, and the guard permits it.
type place struct {
	folder *os.Root
	name   string
	real   string
	info   fs.FileInfo // absent: there is no such entry yet
}

func (p *place) close() { _ = p.folder.Close() }

// locate walks to a path, folder by folder, each opened in the one before. A symbolic link is never followed by the
// kernel: its target becomes a new path, which the guard is asked about, and the walk begins again. The last
// component may be a link only where the entry itself is meant.
func (g *guard) locate(p string, write, entryItself bool) (*place, error) {
	links := 0
	for try := 0; try < mostTries; {
		if err := g.check(p, write); err != nil {
			return nil, err
		}
		found, link, err := walk(p, entryItself)
		switch {
		case errors.Is(err, errMoved):
			try++
		case err != nil:
			return nil, explain(p, err)
		case link != "":
			if links++; links > mostLinks {
				return nil, fail(errNotFound, "%s: too many symbolic links", p)
			}
			p = link
		default:
			return found, nil
		}
	}
	return nil, fail(errOutside, "%s: %v", p, errMoved)
}

// walk opens the folder of a path. It answers the path that a symbolic link on the way leads to instead.
func walk(p string, entryItself bool) (*place, string, error) {
	folder, err := os.OpenRoot("/")
	if err != nil {
		return nil, "", err
	}
	names := strings.Split(strings.Trim(p, "/"), "/")
	at := "/"
	for i, name := range names {
		last := i == len(names)-1
		if p == "/" {
			name = "."
		}
		info, err := folder.Lstat(name)
		if last && errors.Is(err, fs.ErrNotExist) {
			return &place{folder: folder, name: name, real: p}, "", nil
		}
		if err == nil && info.Mode()&fs.ModeSymlink != 0 && !(last && entryItself) {
			link, err := follow(folder, at, name, names[i+1:])
			_ = folder.Close()
			return nil, link, err
		}
		if err == nil && last {
			return &place{folder: folder, name: name, real: p, info: info}, "", nil
		}
		if err == nil {
			folder, err = descend(folder, name, info)
		}
		if err != nil {
			_ = folder.Close()
			return nil, "", err
		}
		at = path.Join(at, name)
	}
	return nil, "", errMoved // not reached: there is a last component
}

func follow(folder *os.Root, at, name string, rest []string) (string, error) {
	target, err := folder.Readlink(name)
	if err != nil {
		return "", errMoved
	}
	if !path.IsAbs(target) {
		target = path.Join(at, target)
	}
	return path.Join(target, path.Join(rest...)), nil
}

// descend opens a folder in an open folder, closes that one, and makes sure that it opened the one that was looked at.
// Where it fails, the answer is the folder it was given.
func descend(folder *os.Root, name string, seen fs.FileInfo) (*os.Root, error) {
	inner, err := enter(folder, name, seen)
	if err != nil {
		return folder, err
	}
	_ = folder.Close()
	return inner, nil
}

func enter(folder *os.Root, name string, seen fs.FileInfo) (*os.Root, error) {
	if !seen.IsDir() {
		return nil, syscall.ENOTDIR
	}
	inner, err := folder.OpenRoot(name)
	if err != nil {
		return nil, moved(err)
	}
	opened, err := inner.Stat(".")
	if err != nil || !os.SameFile(seen, opened) {
		_ = inner.Close()
		return nil, errMoved
	}
	return inner, nil
}

// moved tells an exchange during the walk from a lack of permission.
func moved(err error) error {
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EMFILE) {
		return err
	}
	return errMoved
}

// open opens a regular file for reading, and no other: a pipe would wait for ever, a device has no end.
func (p *place) open() (*os.File, error) {
	if !p.info.Mode().IsRegular() {
		return nil, fail(errNotAFile, "%s is not a regular file", p.real)
	}
	file, err := p.folder.OpenFile(p.name, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return nil, explain(p.real, err)
	}
	opened, err := file.Stat()
	if err != nil || !os.SameFile(p.info, opened) {
		_ = file.Close()
		return nil, fail(errNotFound, "%s: %v", p.real, errMoved)
	}
	return file, nil
}

// openFolder opens the folder that a place is.
func (p *place) openFolder() (*os.Root, error) {
	if p.info == nil {
		return nil, fail(errNotFound, "%s does not exist", p.real)
	}
	if !p.info.IsDir() {
		return nil, fail(errNotADirectory, "%s is not a folder", p.real)
	}
	inner, err := enter(p.folder, p.name, p.info)
	if err != nil {
		return nil, explain(p.real, err)
	}
	return inner, nil
}

var explained = []struct {
	is   error
	code string
	says string
}{
	{fs.ErrNotExist, errNotFound, "does not exist"},
	{fs.ErrPermission, errPermission, "permission denied"},
	{syscall.EROFS, errPermission, "the file system is mounted read-only"},
	{syscall.ENOTEMPTY, errNotEmpty, "the folder is not empty; set recursive to delete it with all in it"},
	{syscall.ENOTDIR, errNotADirectory, "a part of the path is not a folder"},
	{fs.ErrExist, errExists, "exists already"},
	{syscall.ENOSPC, errNoSpace, "the volume is full"},
	{syscall.EDQUOT, errNoSpace, "the volume is full"},
	{syscall.ENAMETOOLONG, errRequest, "a name of the path is too long"},
	{errMoved, errNotFound, "the path changes while it is read"},
}

// explain gives an error of the system its name and a sentence.
func explain(p string, err error) error {
	if f, is := errors.AsType[*failure](err); is {
		return f
	}
	for _, e := range explained {
		if errors.Is(err, e.is) {
			return fail(e.code, "%s: %s", p, e.says)
		}
	}
	return fail(errBackend, "%s: %v", p, err)
}
