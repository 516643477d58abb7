package gitop

import (
	"context"
	"encoding/json"
	"strconv"
	"strings"
)

const (
	// pushAttempts bounds how often a push follows a branch that moves.
	pushAttempts = 3
	replayLimit  = 200
	namesShown   = 5
)

// replay puts the commits that the server does not have on top of its commit, one after the other, and answers the last of
// them; the server's own where it has all of their changes. Trees are merged as objects alone: no file of the volume is read.
func (w *work) replay(ctx context.Context, g *generation, onto string) (string, error) {
	env := []string{"GIT_OBJECT_DIRECTORY=" + g.objects()}
	run := func(in string, more []string, args ...string) (string, error) {
		if err := g.noAlternates(); err != nil {
			return "", err
		}
		// Without a tree: git looks for attributes and links of the tenant nowhere.
		out, err := w.git(ctx, nil, call{args: args, in: in, env: append(env, more...)})
		return strings.TrimSpace(out), err
	}
	listed, err := run("", nil, "rev-list", "--reverse", "--topo-order", "--max-count="+strconv.Itoa(replayLimit+1),
		g.state.Commit, "^"+g.state.Remote)
	if err != nil {
		return "", err
	}
	own := strings.Fields(listed)
	if len(own) > replayLimit {
		return "", fail(errTooLarge, "more than %d commits were not pushed, and the server has others; %s", replayLimit, anew)
	}
	for _, commit := range own {
		if onto, err = w.replayOne(run, commit, onto); err != nil {
			return "", err
		}
	}
	return onto, nil
}

const anew = "keep your files elsewhere, delete the binding and make it again"

// objectRunner runs a command of git on objects, and gives its output without blanks around it.
type objectRunner func(in string, env []string, args ...string) (string, error)

// sideAuthor is of commits that no server gets.
var sideAuthor = []string{
	"GIT_AUTHOR_NAME=windlass", "GIT_AUTHOR_EMAIL=windlass@localhost",
	"GIT_COMMITTER_NAME=windlass", "GIT_COMMITTER_EMAIL=windlass@localhost",
}

// replayOne merges what one commit changed into another commit. Git 2.39 finds the base of a merge by history alone, so it is
// given commits with the history that is meant.
func (w *work) replayOne(run objectRunner, commit, onto string) (string, error) {
	sides := []string{commit + "^", onto, commit}
	base := ""
	for i, side := range sides {
		args := []string{"commit-tree", side + "^{tree}"}
		if base != "" {
			args = append(args, "-p", base)
		}
		made, err := run("side\n", sideAuthor, args...)
		if err != nil {
			return "", err
		}
		if i == 0 {
			base = made
		}
		sides[i] = made
	}
	merged, err := run("", nil, "merge-tree", "--write-tree", "--no-messages", "--name-only", "-z", sides[1], sides[2])
	tree, names, _ := strings.Cut(merged, "\x00")
	if err != nil && hashForm.MatchString(tree) {
		return "", fail(errConflict, "commit %s and commit %s of the server both change %s; nothing was pushed or lost: %s",
			commit, onto, named(names), anew)
	}
	if err != nil {
		return "", err
	}
	had, err := run("", nil, "rev-parse", "--verify", onto+"^{tree}")
	if err != nil || tree == had {
		return onto, err
	}
	said, err := run("", nil, "show", "--no-patch", "--encoding=UTF-8", "--format=%an%x00%ae%x00%aI%x00%cn%x00%ce%x00%B", commit)
	if err != nil {
		return "", err
	}
	parts := strings.SplitN(said, "\x00", 6)
	if len(parts) < 6 {
		return "", fail(errBackend, "commit %s cannot be read; %s", commit, anew)
	}
	who := []string{
		"GIT_AUTHOR_NAME=" + parts[0], "GIT_AUTHOR_EMAIL=" + parts[1], "GIT_AUTHOR_DATE=" + parts[2],
		"GIT_COMMITTER_NAME=" + parts[3], "GIT_COMMITTER_EMAIL=" + parts[4],
	}
	return run(parts[5]+"\n", who, "commit-tree", "-p", onto, tree)
}

// named are the first files of a conflict, as JSON: a name may hold anything.
func named(listed string) string {
	var names []string
	for name := range strings.SplitSeq(strings.Trim(listed, "\x00"), "\x00") {
		if len(names) == namesShown {
			return strings.Join(names, ", ") + " and others"
		}
		text, _ := fitting(strings.ToValidUTF8(name, "�"), nameLimit)
		encoded, err := json.Marshal(text)
		if err == nil && name != "" {
			names = append(names, string(encoded))
		}
	}
	return strings.Join(names, ", ")
}

const nameLimit = 200
