package gitop

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// mine records one commit on the volume.
func (g *rig) mine(message string, files map[string]string) string {
	g.t.Helper()
	for name, text := range files {
		g.write(name, text)
	}
	return g.good("commit", func(r *request) { r.Message = message }).Commit
}

// history of the branch on the server, the newest first.
func (g *rig) history() string { return g.host("-C", g.bare, "log", "--format=%an: %s", "main") }

func TestPushPutsCommitsOnTopOfABranchThatMoved(t *testing.T) {
	for _, depth := range []int{0, 1} {
		g := newRig(t)
		g.request.Depth = depth
		g.serve(g.backend())
		g.commit(map[string]string{"c.txt": "1\n2\n3\n4\n5\n6\n7\n"})
		g.good("sync")
		g.commit(map[string]string{"other.txt": "theirs\n"})
		theirs := g.commit(map[string]string{"c.txt": "1\n2\n3\n4\n5\n6\ntheirs\n"})
		g.mine("Change a", map[string]string{"a.txt": "mine\n", "c.txt": "mine\n2\n3\n4\n5\n6\n7\n"})
		g.mine("Add new", map[string]string{"new.txt": "new\n"})

		pushed := g.good("push")
		if want := "Kim: Add new\nKim: Change a\ns: server\ns: server\ns: server\ns: server"; g.history() != want {
			t.Errorf("depth %d: %s", depth, g.history())
		}
		if head := g.host("-C", g.bare, "rev-parse", "main"); head != pushed.Commit || pushed.Ahead || !pushed.Changed {
			t.Errorf("%+v, want %s", pushed, head)
		}
		if base := g.host("-C", g.bare, "rev-parse", "main~2"); base != theirs {
			t.Error("the commits of the server are not below")
		}
		for name, want := range map[string]string{"a.txt": "mine\n", "other.txt": "theirs\n", "new.txt": "new\n", "c.txt": "mine\n2\n3\n4\n5\n6\ntheirs\n"} {
			if g.file(name) != want {
				t.Errorf("%s: %q", name, g.file(name))
			}
		}
		if found := g.good("status"); len(found.Changes) > 0 || found.Ahead {
			t.Errorf("%+v", found)
		}
		// The rest is work as before.
		g.mine("More", map[string]string{"a.txt": "more\n"})
		g.good("push")
		g.good("sync")
	}
}

func TestPushNamesTheCommitsThatConflict(t *testing.T) {
	g := newRig(t)
	g.serve(g.backend())
	g.good("sync")
	theirs := g.commit(map[string]string{"a.txt": "theirs\n"})
	g.mine("First", map[string]string{"new.txt": "new\n"})
	mine := g.mine("Second", map[string]string{"a.txt": "mine\n"})
	refused := g.bad("push", errConflict)
	for _, part := range []string{"commit " + mine + " and commit ", `both change "a.txt"; nothing was pushed or lost`} {
		if !strings.Contains(refused.message, part) {
			t.Errorf("%s lacks %s", refused.message, part)
		}
	}
	if head := g.host("-C", g.bare, "rev-parse", "main"); head != theirs {
		t.Error("the server has other commits")
	}
	if found := g.good("status"); found.Commit != mine || !found.Ahead || g.file("a.txt") != "mine\n" || g.file("new.txt") != "new\n" {
		t.Errorf("%+v", found)
	}
}

func TestPushHidesNoUncommittedWork(t *testing.T) {
	g := newRig(t)
	g.serve(g.backend())
	g.good("sync")
	theirs := g.commit(map[string]string{"other.txt": "theirs\n"})
	g.mine("Mine", map[string]string{"a.txt": "mine\n"})
	g.write("a.txt", "not committed\n")
	g.bad("push", errUncommitted)
	if head := g.host("-C", g.bare, "rev-parse", "main"); head != theirs || g.file("a.txt") != "not committed\n" {
		t.Error("something was pushed or lost")
	}
	g.mine("Again", map[string]string{})
	g.good("push")
	if g.file("a.txt") != "not committed\n" || g.file("other.txt") != "theirs\n" {
		t.Error("the tree lacks work of one side")
	}
}

// The branch moves again between the rejection and each further push, as long as `moves` says.
func moving(g *rig, moves int) http.Handler {
	backend := g.backend()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		backend.ServeHTTP(w, r)
		// The list of refs that a push begins with.
		if r.URL.Query().Get("service") == "git-receive-pack" && moves > 0 {
			moves--
			g.commit(map[string]string{"moves-" + itoa(uint16(moves)): "x\n"})
		}
	})
}

func TestPushFollowsABranchThatMovesAgainForSomeAttempts(t *testing.T) {
	for moves, want := range map[int]string{pushAttempts - 1: "", pushAttempts: errRejected} {
		g := newRig(t)
		g.serve(moving(g, moves))
		g.good("sync")
		mine := g.mine("Mine", map[string]string{"a.txt": "mine\n"})
		if want == "" {
			g.good("push")
			continue
		}
		refused := g.bad("push", want)
		if !strings.Contains(refused.message, "the branch main moved during each of 3 attempts, to "+g.host("-C", g.bare, "rev-parse", "main")) {
			t.Error(refused.message)
		}
		if found := g.good("status"); found.Commit != mine || !found.Ahead {
			t.Errorf("%+v", found)
		}
		g.good("push")
	}
}

func TestPushWhoseAnswerWasLostIsFoundAgain(t *testing.T) {
	g := newRig(t)
	g.serve(g.backend())
	g.good("sync")
	g.commit(map[string]string{"other.txt": "theirs\n"})
	g.mine("Mine", map[string]string{"a.txt": "mine\n"})
	before, err := os.Readlink(filepath.Join(g.volume, "current"))
	must(t, err)
	lost := g.good("push")
	// As if the process had died before the new tree was shown.
	must(t, os.Remove(filepath.Join(g.volume, "current")))
	must(t, os.Symlink(before, filepath.Join(g.volume, "current")))
	if found := g.good("push"); found.Commit != lost.Commit || found.Ahead || g.file("other.txt") != "theirs\n" {
		t.Errorf("%+v, want %s", found, lost.Commit)
	}
	if g.history() != "Kim: Mine\ns: server\ns: server" {
		t.Error(g.history())
	}
}

func TestPushDoesNotTryARuleOfTheServerAgain(t *testing.T) {
	g := newRig(t)
	hook := filepath.Join(g.bare, "hooks", "pre-receive")
	must(t, os.MkdirAll(filepath.Dir(hook), 0o755))
	must(t, os.WriteFile(hook, []byte("#!/bin/sh\nexit 1\n"), 0o755))
	pushes := 0
	backend := g.backend()
	g.serve(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/git-receive-pack") {
			pushes++
		}
		backend.ServeHTTP(w, r)
	}))
	g.good("sync")
	g.mine("Mine", map[string]string{"a.txt": "mine\n"})
	if refused := g.bad("push", errRejected); !strings.Contains(refused.message, "a rule of the server") || pushes != 1 {
		t.Errorf("%v after %d pushes", refused, pushes)
	}
}

func TestPushGoesToTheBranchOfItsRequestWhateverTheVolumeSays(t *testing.T) {
	for _, ref := range []string{"", "main", "v1"} {
		for _, branch := range []string{"release", "v1", "new"} {
			g := newRig(t)
			g.request.Ref = ref
			g.serve(g.backend())
			g.host("-C", g.bare, "branch", "release", "main")
			g.host("-C", g.bare, "tag", "v1", "main")
			g.good("sync")
			g.mine("Mine", map[string]string{"a.txt": "mine\n"})
			refs := g.host("-C", g.bare, "for-each-ref")

			file := filepath.Join(g.generation(), gitFolder, stateFile)
			raw, err := os.ReadFile(file)
			must(t, err)
			var found state
			must(t, json.Unmarshal(raw, &found))
			found.Branch = branch
			raw, err = json.Marshal(found)
			must(t, err)
			must(t, os.WriteFile(file, raw, 0o644))

			want := errRejected
			if ref == "v1" {
				want = errRequest
			}
			g.bad("push", want)
			if now := g.host("-C", g.bare, "for-each-ref"); now != refs {
				t.Errorf("ref %q, branch %q: the server has %s, want %s", ref, branch, now, refs)
			}
		}
	}
}
