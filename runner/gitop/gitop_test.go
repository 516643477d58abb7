package gitop

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestSyncLaysOutATree(t *testing.T) {
	g := newRig(t)
	g.serve(g.backend())
	found := g.good("sync")
	if found.Branch != "main" || !found.Changed || found.Files != 2 || found.Ahead {
		t.Errorf("%+v", found)
	}
	if g.file("a.txt") != "one\n" || g.file("sub/b.txt") != "two\n" {
		t.Error("files differ")
	}
	if _, err := os.Stat(filepath.Join(g.volume, "current", ".git")); !os.IsNotExist(err) {
		t.Error("a .git folder is in the tree")
	}
	if again := g.good("sync"); again.Changed || again.Commit != found.Commit {
		t.Errorf("%+v", again)
	}
}

func TestACommitWhoseAnswerWasLostIsNotRefused(t *testing.T) {
	g := newRig(t)
	g.serve(g.backend())
	g.good("sync")
	g.write("a.txt", "mine\n")
	attempt := func(r *request) { r.Message, r.Job = "Change it", "job-1" }
	made := g.good("commit", attempt)
	// The next attempt at the same operation finds what the first one made, and another operation finds nothing.
	if again := g.good("commit", attempt); again.Commit != made.Commit || !again.Changed || !again.Ahead {
		t.Errorf("%+v, want %+v", again, made)
	}
	g.bad("commit", errNothing, func(r *request) { r.Message, r.Job = "Change it", "job-2" })
	g.bad("commit", errNothing, func(r *request) { r.Message = "Change it" })
}

func TestRefreshFollowsTheServer(t *testing.T) {
	g := newRig(t)
	g.serve(g.backend())
	g.good("sync")
	want := g.commit(map[string]string{"a.txt": "three\n"})
	if found := g.good("sync"); found.Commit != want || !found.Changed {
		t.Errorf("%+v, want %s", found, want)
	}
	if g.file("a.txt") != "three\n" {
		t.Error("the tree is not the new one")
	}
	g.host("-C", g.bare, "tag", "-a", "v1", "-m", "one", want)
	g.commit(map[string]string{"a.txt": "four\n"})
	for _, ref := range []string{"v1", want} {
		if found := g.good("sync", func(r *request) { r.Ref = ref }); found.Commit != want || found.Branch != "" {
			t.Errorf("%s: %+v", ref, found)
		}
	}
	g.bad("sync", errRef, func(r *request) { r.Ref = "nowhere" })
}

func TestChangesBecomeACommitOnTheServer(t *testing.T) {
	g := newRig(t)
	g.serveTLS(guarded(g.backend()))
	before := g.good("sync")
	g.write("a.txt", "mine\n")
	g.write("new.txt", "new\n")
	must(t, os.Remove(filepath.Join(g.volume, "current", "sub", "b.txt")))

	changes := g.good("status").Changes
	if len(changes) != 3 || changes[0] != (change{"M", "a.txt"}) || changes[1] != (change{"A", "new.txt"}) ||
		changes[2] != (change{"D", "sub/b.txt"}) {
		t.Errorf("%+v", changes)
	}
	if patch := g.good("diff").Diff; !strings.Contains(patch, "+mine") || !strings.Contains(patch, "new file mode") {
		t.Error(patch)
	}
	g.bad("sync", errUncommitted)
	made := g.good("commit", func(r *request) { r.Message = "Change all\n" })
	if !made.Ahead || made.Commit == before.Commit {
		t.Errorf("%+v", made)
	}
	g.bad("commit", errNothing, func(r *request) { r.Message = "Again" })
	g.bad("sync", errUnpushed)
	if pushed := g.good("push"); !pushed.Changed || pushed.Ahead {
		t.Errorf("%+v", pushed)
	}
	if head := g.host("-C", g.bare, "log", "-1", "--format=%H %an %ae %s", "main"); head != made.Commit+" Kim kim@example.org Change all" {
		t.Error(head)
	}
	if again := g.good("push"); again.Changed {
		t.Error("a second push pushed something")
	}
	if g.good("sync").Commit != made.Commit {
		t.Error("the pushed commit is not what the server has")
	}
}

func TestWithoutATreeNothingIsToBeDone(t *testing.T) {
	g := newRig(t)
	g.serve(g.backend())
	for _, op := range []string{"status", "diff", "push"} {
		g.bad(op, errNotFound)
	}
	g.bad("commit", errNotFound, func(r *request) { r.Message = "x" })
	g.good("sync")
	g.bad("commit", errRequest)
	g.good("sync", func(r *request) { r.Ref = g.host("-C", g.bare, "rev-parse", "main") })
	g.bad("push", errRequest)
}

// guarded wants the password of the Secret, as git's servers do.
func guarded(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, password, _ := r.BasicAuth(); password != canary {
			w.Header().Set("WWW-Authenticate", `Basic realm="git"`)
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		next.ServeHTTP(w, r)
	})
}
