package fsop

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"sort"
	"strings"
	"unicode/utf8"
)

const (
	mostEntries   = 10_000
	temporaryName = ".windlass-write-"
)

// readText reads a whole text file and says where it is.
func (g *guard) readText(p string, write bool) (string, *place, error) {
	at, err := g.locate(p, write, false)
	if err != nil {
		return "", nil, err
	}
	text, err := at.text()
	if err != nil {
		at.close()
		return "", nil, err
	}
	return text, at, nil
}

func (p *place) text() (string, error) {
	raw, err := p.bytes()
	if err != nil {
		return "", err
	}
	if !utf8.Valid(raw) {
		return "", fail(errNotText, "%s is not text in UTF-8", p.real)
	}
	return string(raw), nil
}

func (p *place) bytes() ([]byte, error) {
	if p.info == nil {
		return nil, fail(errNotFound, "%s does not exist", p.real)
	}
	if p.info.IsDir() {
		return nil, fail(errNotAFile, "%s is a folder", p.real)
	}
	file, err := p.open()
	if err != nil {
		return nil, err
	}
	defer file.Close()
	raw, err := io.ReadAll(io.LimitReader(file, contentLimit+1))
	switch {
	case err != nil:
		return nil, explain(p.real, err)
	case len(raw) > contentLimit:
		return nil, fail(errTooLarge, "%s is longer than %d bytes", p.real, contentLimit)
	}
	return raw, nil
}

// readBytes reads a whole file, text or not.
func readBytes(g *guard, r *request) (string, error) {
	at, err := g.locate(r.Path, false, false)
	if err != nil {
		return "", err
	}
	defer at.close()
	raw, err := at.bytes()
	return string(raw), err
}

func read(g *guard, r *request) (string, error) {
	text, at, err := g.readText(r.Path, false)
	if err != nil {
		return "", err
	}
	at.close()
	return text, nil
}

// replace puts a text in the place of a file in one step: a reader sees the old text or the new one, a full volume
// leaves the old one, and a link that appears under the name is replaced, not followed.
func (p *place) replace(text string) error {
	if p.info != nil && !p.info.Mode().IsRegular() {
		return fail(errNotAFile, "%s is not a regular file", p.real)
	}
	temporary, err := p.writeBeside(text)
	if err == nil {
		err = p.folder.Rename(temporary, p.name)
	}
	if err != nil {
		if temporary != "" {
			_ = p.folder.Remove(temporary)
		}
		return explain(p.real, err)
	}
	return nil
}

// writeBeside writes a new file in the same folder and answers its name, also where it fails half-way.
func (p *place) writeBeside(text string) (string, error) {
	mode := fs.FileMode(0o644)
	if p.info != nil {
		mode = p.info.Mode().Perm()
	}
	name := temporaryName + rand.Text()
	file, err := p.folder.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return "", err
	}
	_, err = file.WriteString(text)
	if err == nil && p.info != nil {
		err = file.Chmod(mode) // the umask took bits away
	}
	if closed := file.Close(); err == nil {
		err = closed
	}
	return name, err
}

func write(g *guard, r *request) (string, error) {
	if err := g.check(r.Path, true); err != nil {
		return "", err // before any folder is made
	}
	if err := g.makeFolders(path.Dir(r.Path)); err != nil {
		return "", err
	}
	at, err := g.locate(r.Path, true, false)
	if err != nil {
		return "", err
	}
	defer at.close()
	if err := at.replace(r.Content); err != nil {
		return "", err
	}
	return fmt.Sprintf("Wrote %d bytes to %s", len(r.Content), r.Path), nil
}

// makeFolders makes a folder and those above it, as far as they are missing. Folders above the boundary are not
// looked at: whether the entry itself may be touched is asked when it is.
func (g *guard) makeFolders(p string) error {
	if p == "/" || g.check(p, false) != nil {
		return nil
	}
	at, err := g.locate(p, false, false)
	if failed, is := errors.AsType[*failure](err); is && failed.code == errNotFound {
		if err := g.makeFolders(path.Dir(p)); err != nil {
			return err
		}
		at, err = g.locate(p, false, false)
	}
	if err != nil {
		return err
	}
	defer at.close()
	if at.info != nil {
		return at.mustBeFolder()
	}
	if err := g.check(at.real, true); err != nil {
		return err
	}
	if err := at.folder.Mkdir(at.name, 0o755); err != nil && !os.IsExist(err) {
		return explain(at.real, err)
	}
	return nil
}

func (p *place) mustBeFolder() error {
	if !p.info.IsDir() {
		return fail(errNotADirectory, "%s is not a folder", p.real)
	}
	return nil
}

func createDir(g *guard, r *request) (string, error) {
	if err := g.check(r.Path, true); err != nil {
		return "", err
	}
	if err := g.makeFolders(r.Path); err != nil {
		return "", err
	}
	return "Folder " + r.Path + " exists", nil
}

func list(g *guard, r *request) (string, error) {
	at, err := g.locate(r.Path, false, false)
	if err != nil {
		return "", err
	}
	defer at.close()
	folder, err := at.openFolder()
	if err != nil {
		return "", err
	}
	defer folder.Close()
	entries, more, err := readEntries(folder, mostEntries)
	if err != nil {
		return "", explain(r.Path, err)
	}
	names := make([]string, len(entries))
	for i, entry := range entries {
		names[i] = entry.Name()
		if entry.IsDir() {
			names[i] += "/"
		}
	}
	sort.Strings(names)
	if more {
		names = append(names, fmt.Sprintf("[only %d entries are listed]", mostEntries))
	}
	return strings.Join(names, "\n"), nil
}

// readEntries reads at most so many entries of a folder, in the order of the file system.
func readEntries(folder *os.Root, most int) ([]fs.DirEntry, bool, error) {
	file, err := folder.Open(".")
	if err != nil {
		return nil, false, err
	}
	defer file.Close()
	entries, err := file.ReadDir(most + 1)
	if err == io.EOF {
		err = nil
	}
	if len(entries) > most {
		return entries[:most], true, err
	}
	return entries, false, err
}
