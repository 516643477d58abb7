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

// push gives the server the commits that it does not have, and never replaces others. Where the branch has moved, the commits
// are put on top of what the server has, and the tree that readers see becomes that one.
func push(ctx context.Context, w *work) (*result, error) {
	g, err := w.opened()
	if err != nil {
		return nil, err
	}
	if g.state.Branch == "" {
		return nil, noBranch()
	}
	if g.state.Commit == g.state.Remote {
		return resultOf(g, false), nil
	}
	if err := w.sameBranch(ctx, g); err != nil {
		return nil, err
	}
	commit, err := w.pushFollowing(ctx, g)
	if err != nil {
		return nil, err
	}
	if commit != g.state.Commit {
		return w.showPushed(ctx, g, commit)
	}
	g.state.Remote = g.state.Commit
	if err := g.writeState(); err != nil {
		return nil, err
	}
	return resultOf(g, true), nil
}

func noBranch() error {
	return fail(errRequest, "ref: names no branch, so there is none to push to")
}

// sameBranch asks the server which branch the ref of the request means. The state is on the volume, where each tenant of it
// may write another one, and the right that was asked for is that to push to this one.
func (w *work) sameBranch(ctx context.Context, g *generation) error {
	found, err := w.find(ctx)
	if err != nil {
		return err
	}
	if found.branch == "" {
		return noBranch()
	}
	if found.branch != g.state.Branch {
		return fail(errRejected, "the commits are for the branch %q, and ref means the branch %q; make the binding again", g.state.Branch, found.branch)
	}
	return nil
}

// pushFollowing pushes, and replays the commits where the branch has moved meanwhile. It answers what the server has then.
func (w *work) pushFollowing(ctx context.Context, g *generation) (string, error) {
	commit, onto := g.state.Commit, g.state.Remote
	for attempt := 1; ; attempt++ {
		isRefused, err := w.pushCommit(ctx, g, commit)
		if err == nil {
			return commit, nil
		}
		if !isRefused {
			return "", err
		}
		head, err := w.headOf(ctx, g)
		if err != nil {
			return "", err
		}
		if head == onto {
			return "", fail(errRejected, "a rule of the server refuses the commits")
		}
		if attempt == pushAttempts {
			return "", fail(errRejected, "the branch %s moved during each of %d attempts, to %s at last; push again", g.state.Branch, attempt, head)
		}
		if err := w.nothingUncommitted(ctx, g); err != nil {
			return "", err
		}
		if commit, err = w.replay(ctx, g, head); err != nil {
			return "", err
		}
		if commit == head {
			// An earlier attempt was lost after its push.
			return head, nil
		}
		onto = head
	}
}

// pushCommit tells whether the server refused the commit, be it that the branch has moved or by a rule.
func (w *work) pushCommit(ctx context.Context, g *generation, commit string) (isRefused bool, err error) {
	args := []string{"push", "--porcelain", "--no-verify", "--no-follow-tags", "--", w.to.asked(w.URL), commit + ":" + headsPrefix + g.state.Branch}
	out, err := w.ask(ctx, g, call{args: args})
	return err != nil && strings.Contains(out, "rejected]"), err
}

// headOf brings the commit that the branch of the server has at the moment.
func (w *work) headOf(ctx context.Context, g *generation) (string, error) {
	args := []string{"fetch", "--quiet", "--no-tags", "--no-auto-gc", "--no-recurse-submodules", "--no-write-fetch-head"}
	if w.Depth > 0 {
		args = append(args, "--depth="+strconv.Itoa(w.Depth))
	}
	from := "+" + headsPrefix + g.state.Branch + ":" + remoteRef
	if _, err := w.ask(ctx, g, call{args: append(args, "--", w.to.asked(w.URL), from)}); err != nil {
		return "", tooMuch(err, "git wrote too much")
	}
	head, err := w.git(ctx, g, call{args: []string{"rev-parse", "--verify", "--quiet", remoteRef + "^{commit}"}})
	return strings.TrimSpace(head), err
}

// forget takes from the git folder what it knows of the history of one tree, before another tree is brought.
func (w *work) forget() error {
	for _, name := range []string{shallowFile, remoteRef} {
		if err := os.Remove(filepath.Join(w.gitDir, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// showPushed lays out what the server has: it holds the commits, and others that the tree of the binding has not.
func (w *work) showPushed(ctx context.Context, before *generation, commit string) (*result, error) {
	if err := w.forget(); err != nil {
		return nil, explain(err)
	}
	next, err := w.bring(ctx, wanted{ref: headsPrefix + before.state.Branch, commit: commit, branch: before.state.Branch})
	if err == nil {
		// The server took its time, and the tenant may have worked meanwhile.
		err = w.nothingUncommitted(ctx, before)
	}
	if err != nil {
		_ = w.store.sweep(before)
		return nil, err
	}
	if err := w.store.show(next); err != nil {
		return nil, err
	}
	return resultOf(next, true), nil
}
