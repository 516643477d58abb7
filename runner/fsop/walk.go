package fsop

import (
	"fmt"
	"io/fs"
	"os"
	"sort"
	"time"
)

const (
	walkPatience = 10 * time.Second
	mostWalked   = 200_000
	// mostDepth bounds the folders that are open at a time.
	mostDepth = 100
)

// visit is called for each entry; full is its real path.
type visit func(folder *os.Root, name, full string, entry fs.DirEntry) error

// treeWalk visits a tree within bounds of time, entries and depth. It follows no link.
type treeWalk struct {
	until time.Time
	left  int
	cut   string // why something was left out
	done  bool   // nothing more is wanted
}

func newWalk() *treeWalk {
	return &treeWalk{until: time.Now().Add(walkPatience), left: mostWalked}
}

// spent says whether the walk is to end.
func (w *treeWalk) spent() bool {
	switch {
	case w.done:
	case w.left <= 0:
		w.stop(fmt.Sprintf("more than %d entries", mostWalked))
	case time.Now().After(w.until):
		w.stop(fmt.Sprintf("more than %s of time", walkPatience))
	}
	return w.done
}

func (w *treeWalk) stop(why string) { w.done, w.cut = true, why }

func (w *treeWalk) tree(folder *os.Root, full string, each visit) error {
	return w.level(folder, full, each, 0)
}

func (w *treeWalk) level(folder *os.Root, full string, each visit, depth int) error {
	if w.spent() {
		return nil
	}
	entries, more, err := readEntries(folder, w.left)
	if err != nil {
		return err
	}
	w.left -= len(entries)
	if more {
		w.cut = fmt.Sprintf("more than %d entries", mostWalked)
	}
	sort.Slice(entries, func(i, j int) bool { return entries[i].Name() < entries[j].Name() })
	for _, entry := range entries {
		if w.done || w.late() {
			return nil
		}
		at := full + "/" + entry.Name()
		if full == "/" {
			at = "/" + entry.Name()
		}
		if err := each(folder, entry.Name(), at, entry); err != nil {
			return err
		}
		if entry.IsDir() {
			if err := w.inner(folder, entry, at, each, depth); err != nil {
				return err
			}
		}
	}
	return nil
}

func (w *treeWalk) late() bool {
	if time.Now().After(w.until) {
		w.stop(fmt.Sprintf("more than %s of time", walkPatience))
	}
	return w.done
}

func (w *treeWalk) inner(folder *os.Root, entry fs.DirEntry, at string, each visit, depth int) error {
	if depth+1 >= mostDepth {
		w.cut = fmt.Sprintf("folders deeper than %d", mostDepth)
		return nil
	}
	info, err := entry.Info()
	if err != nil {
		return nil // it is gone
	}
	inner, err := enter(folder, entry.Name(), info)
	if err != nil {
		return nil // exchanged, or may not be read: left out, as a shell does
	}
	defer inner.Close()
	return w.level(inner, at, each, depth+1)
}
