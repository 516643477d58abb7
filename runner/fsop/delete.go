package fsop

import (
	"io/fs"
	"os"
	"path"
)

func remove(g *guard, r *request) (string, error) {
	at, err := g.locate(r.Path, true, true)
	if err != nil {
		return "", err
	}
	defer at.close()
	switch {
	case at.info == nil:
		return "", fail(errNotFound, "%s does not exist", r.Path)
	case g.isBoundary(at.real):
		return "", fail(errPermission, "%s is a folder of this agent and stays; delete what is in it", at.real)
	case at.info.IsDir() && r.Recursive:
		err = g.removeTree(at)
	default:
		err = at.folder.Remove(at.name)
	}
	if err != nil {
		return "", explain(r.Path, err)
	}
	return "Deleted " + r.Path, nil
}

// removeTree deletes a folder with all in it, unless something in it is denied: then nothing is deleted.
func (g *guard) removeTree(at *place) error {
	if !g.wholeTrees(at.real) {
		folder, err := at.openFolder()
		if err != nil {
			return err
		}
		defer folder.Close()
		w := newWalk()
		err = w.tree(folder, at.real, func(_ *os.Root, _ string, full string, _ fs.DirEntry) error {
			return g.check(path.Clean(full), true)
		})
		if err != nil {
			return err
		}
		if w.cut != "" {
			return fail(errTooLarge, "%s: %s, so that it cannot be checked against the deny list", at.real, w.cut)
		}
	}
	return at.folder.RemoveAll(at.name)
}
