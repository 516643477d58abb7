package gitop

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

func TestURLsThatNoBindingHas(t *testing.T) {
	g := newRig(t)
	for _, url := range []string{
		"", "file:///etc", "/etc", "ext::sh -c touch% /tmp/x", "ext::https://a/b", "git://host/repo", "ftp://host/repo", "git@host:repo",
		"-oProxyCommand=x", "--upload-pack=x", "ssh://-oProxyCommand=x/repo", "ssh://-o@host/repo", "ssh://user:pw@host/repo",
		"https://user:pw@host/repo", "https://user@host/repo", "https://-host/repo", "https://host", "https://host/", "https://host/a b",
		"https://host/a?b", "https://host/a#b", "https://host/a\nb", "https://host:99999999/a", "HTTPS://host/a", "https://ho_st/a",
		"https://h/" + strings.Repeat("a", urlLimit), "https::https://host/a", "https://host/\x00",
	} {
		g.url = url
		g.bad("sync", errRequest)
	}
	for _, url := range []string{"https://h/" + strings.Repeat("a", urlLimit-10), "ssh://git@host:22/~kim/a", "http://[::1]:80/a"} {
		if _, err := parseURL(url); err != nil {
			t.Errorf("%s: %v", url, err)
		}
	}
}

func TestRefsThatNoBindingHas(t *testing.T) {
	g := newRig(t)
	g.serve(g.backend())
	for _, ref := range []string{
		"-x", "--upload-pack=x", "a..b", "a b", "a:b", "+a", "a/", "/a", "a//b", "a.lock", "a@{1}", "a^", "a~1", "a*", "a\n", ".a", "a/.b",
		"refs\x00", strings.Repeat("a", 256),
	} {
		g.bad("sync", errRequest, func(r *request) { r.Ref = ref })
	}
	g.bad("sync", errRef, func(r *request) { r.Ref = strings.Repeat("a", 255) })
}

func TestLinksThatLeadOutAreRefused(t *testing.T) {
	for title, files := range map[string]map[string]string{
		"absolute": {"link": "-> /etc/passwd"},
		"relative": {"link": "-> ../../../etc/passwd"},
		"chain":    {"a/b/c/file": "x", "up": "-> a/b/c", "z": "-> up/../../../../out"},
		"to git":   {"link": "-> ../git/state.json"},
	} {
		t.Run(title, func(t *testing.T) {
			g := newRig(t)
			g.serve(g.backend())
			before := g.good("sync").Commit
			g.commit(files)
			g.bad("sync", errSymlink)
			if g.file("a.txt") != "one\n" || g.good("status").Commit != before {
				t.Error("the tree before is gone")
			}
			left, err := os.ReadDir(filepath.Join(g.volume, generations))
			if err != nil || len(left) != 1 {
				t.Errorf("%v %v: the refused tree takes room", left, err)
			}
		})
	}
	g := newRig(t)
	g.serve(g.backend())
	g.commit(map[string]string{"in": "-> a.txt", "sub/in": "-> ../a.txt", "gone": "-> nowhere"})
	g.good("sync")
	if g.file("sub/in") != "one\n" {
		t.Error("a link within the tree leads nowhere")
	}
}

func TestTreesBeyondHalfOfTheVolume(t *testing.T) {
	g := newRig(t)
	g.serve(g.backend())
	g.commit(map[string]string{"zeros": strings.Repeat("\x00", 8<<20)})
	found := g.good("sync")
	stored, err := sizeOf(filepath.Join(g.volume, generations))
	must(t, err)
	// Files beside the tree take some hundred bytes; the exact limit is that of the sum.
	must(t, os.RemoveAll(filepath.Join(g.volume, generations)))
	must(t, os.Remove(filepath.Join(g.volume, currentLink)))
	g.bad("sync", errTooLarge, func(r *request) { r.LimitBytes = 2*found.Bytes - 2 })
	if left, _ := sizeOf(g.volume); left > 1<<10 {
		t.Errorf("%d bytes of the refused tree are left", left)
	}
	g.good("sync", func(r *request) { r.LimitBytes = 2 * (stored + 1<<10) })
}

func TestServersWithoutAnEnd(t *testing.T) {
	g := newRig(t)
	g.serve(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/x-git-upload-pack-advertisement")
		_, _ = w.Write([]byte("001e# service=git-upload-pack\n0000"))
		for {
			if _, err := w.Write(bytes.Repeat([]byte("0032"+strings.Repeat("a", 40)+" r/x\n"), 100)); err != nil {
				return
			}
		}
	}))
	g.bad("sync", errTooLarge, func(r *request) { r.LimitBytes = 1 << 20 })

	release := make(chan struct{})
	silent := newRig(t)
	silent.serve(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-release }))
	silent.bad("sync", errTimeout, func(r *request) { r.Seconds = 1 })
	close(release)
}

func TestAddressesThatAreNotOpened(t *testing.T) {
	g := newRig(t)
	g.serve(g.backend())
	closed := func(r *request) { r.Networks = nil }
	g.bad("sync", errAddress, closed)
	for _, url := range []string{"http://127.1/a", "http://169.254.169.254/latest/a", "http://[::1]/a", "http://[::ffff:10.0.0.1]/a", "http://0x7f000001/a"} {
		g.url = url
		if _, err := g.run("sync", closed); err == nil || err.code != errAddress {
			t.Errorf("%s: %v", url, err)
		}
	}
}

// A name that is none and one that leads inside have one answer: it tells nothing of the names of the cluster.
func TestHostsThatTheTenantCannotSee(t *testing.T) {
	g := newRig(t)
	g.serve(g.backend())
	answers := map[string]bool{}
	for _, host := range []string{"localhost", "no-such-host.invalid"} {
		g.url = "http://" + host + "/a"
		f := g.bad("sync", errAddress, func(r *request) { r.Networks = nil })
		answers[strings.ReplaceAll(f.message, host, "HOST")] = true
	}
	if len(answers) != 1 {
		t.Errorf("%v", answers)
	}
}

// A repository that is none, one that the credentials do not open, and one that wants others have one answer.
func TestRepositoriesThatTheTenantCannotSee(t *testing.T) {
	g := newRig(t)
	g.serveTLS(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for _, status := range []int{http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound} {
			if strings.Contains(r.URL.Path, strconv.Itoa(status)) {
				w.Header().Set("WWW-Authenticate", `Basic realm="x"`)
				http.Error(w, "private", status)
			}
		}
	}))
	base := g.url
	answers := map[string]bool{}
	for _, status := range []string{"401", "403", "404"} {
		g.url = base + "/" + status
		answers[g.bad("sync", errNotFound).message] = true
	}
	if len(answers) != 1 {
		t.Errorf("%v", answers)
	}
}

func TestRedirectsToAnotherHost(t *testing.T) {
	for title, start := range map[string]func(http.Handler) *httptest.Server{"http": httptest.NewServer, "https": httptest.NewTLSServer} {
		t.Run(title, func(t *testing.T) { redirects(t, start) })
	}
}

func redirects(t *testing.T, start func(http.Handler) *httptest.Server) {
	g := newRig(t)
	var asked []string
	other := start(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.Header.Get("Authorization"))
	}))
	defer other.Close()
	g.serveTLS(guarded(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, other.URL+r.URL.Path+"?"+r.URL.RawQuery, http.StatusFound)
	})))
	g.bad("sync", errAddress)
	if len(asked) > 0 {
		t.Errorf("the other server was asked: %q", asked)
	}
}

func TestCredentialsAreForTheirHostAlone(t *testing.T) {
	g := newRig(t)
	g.serveTLS(guarded(g.backend()))
	g.good("sync")
	authority, err := os.ReadFile(filepath.Join(g.credentials, "ca.crt"))
	must(t, err)
	for title, values := range map[string]map[string]string{
		"another host": {"host": "git.example.org", "password": canary},
		"no host":      {"password": canary},
		"two lines":    {"host": "127.0.0.1", "password": canary + "\nurl=x"},
		"too large":    {"host": "127.0.0.1", "password": strings.Repeat(canary, 4_000)},
	} {
		g.secret(values)
		if f := g.bad("sync", errCredential); strings.Contains(f.message, canary) {
			t.Error(title)
		}
	}
	g.secret(map[string]string{"host": "127.0.0.1", "token": "wrong-token", "ca.crt": string(authority)})
	g.bad("sync", errNotFound)
	g.secret(map[string]string{"host": "127.0.0.1", "ca.crt": string(authority)})
	g.bad("sync", errNotFound)
	g.secret(map[string]string{"host": "127.0.0.1", "token": canary})
	g.bad("sync", errBackend) // no authority vouches for the server
	plain := newRig(t)
	plain.serve(plain.backend())
	plain.secret(map[string]string{"host": "127.0.0.1", "token": canary})
	plain.bad("sync", errCredential)
}

func TestServersThatSendTheSecretBack(t *testing.T) {
	g := newRig(t)
	g.serveTLS(guarded(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		user, password, _ := r.BasicAuth()
		w.Header().Set("Content-Type", "text/plain")
		w.WriteHeader(http.StatusInternalServerError)
		_, _ = fmt.Fprintf(w, "remote says %s %s %s\n", user, password, r.Header.Get("Authorization"))
	})))
	if f := g.bad("sync", errBackend); strings.Contains(f.message, "remote says") {
		t.Errorf("%q: the server's words are in the answer", f.message)
	}
}

func TestNothingOfARepositoryOrTenantIsRun(t *testing.T) {
	g := newRig(t)
	g.serve(g.backend())
	trap := filepath.Join(t.TempDir(), "trap")
	pointer := "version https://git-lfs.github.com/spec/v1\noid sha256:1\nsize 1\n"
	g.commit(map[string]string{
		".gitattributes": "*.bin filter=lfs diff=trap merge=lfs\n*.txt filter=trap\n", "large.bin": pointer,
		".gitmodules": "[submodule \"x\"]\n\tpath = x\n\turl = ext::sh -c touch% " + trap + "\n",
	})
	g.good("sync")
	if g.file("large.bin") != pointer {
		t.Error("a large file was fetched")
	}
	config := "[core]\n\tfsmonitor = touch " + trap + "\n\thooksPath = hooks\n\tsshCommand = touch " + trap +
		"\n[filter \"trap\"]\n\tclean = touch " + trap + "\n[diff \"trap\"]\n\ttextconv = touch " + trap + "\n[diff]\n\texternal = touch " + trap + "\n"
	hook := "#!/bin/sh\ntouch " + trap + "\n"
	generation, err := os.Readlink(filepath.Join(g.volume, currentLink))
	must(t, err)
	for _, folder := range []string{filepath.Join(g.volume, "current", ".git"), filepath.Join(g.volume, filepath.Dir(generation), gitFolder)} {
		must(t, os.MkdirAll(filepath.Join(folder, "hooks"), 0o755))
		must(t, os.WriteFile(filepath.Join(folder, "config"), []byte(config), 0o644))
		for _, name := range []string{"pre-commit", "post-checkout", "pre-push", "reference-transaction", "post-index-change"} {
			must(t, os.WriteFile(filepath.Join(folder, "hooks", name), []byte(hook), 0o755))
		}
	}
	g.write("a.txt", "mine\n")
	g.good("status")
	g.good("diff")
	g.good("commit", func(r *request) { r.Message = "-m --amend\n" })
	g.good("push")
	if _, err := os.Stat(trap); err == nil {
		t.Error("a program of the repository or the tenant ran")
	}
	if listed := g.host("-C", g.bare, "ls-tree", "-r", "--name-only", "main"); strings.Contains(listed, ".git/") {
		t.Error(listed)
	}
}

func TestVolumesThatATenantHasChanged(t *testing.T) {
	outside := t.TempDir()
	must(t, os.WriteFile(filepath.Join(outside, stateFile), []byte(canary), 0o644))
	for title, spoil := range map[string]func(volume, generation string) error{
		"the link leads out": func(volume, _ string) error {
			return os.Symlink(outside, filepath.Join(volume, currentLink))
		},
		"the link is a folder": func(volume, _ string) error { return os.Mkdir(filepath.Join(volume, currentLink), 0o755) },
		"the state is none": func(volume, generation string) error {
			return os.WriteFile(filepath.Join(volume, generation, gitFolder, stateFile), []byte(`{"commit":"--exec=x"}`), 0o644)
		},
		"the state is a link": func(volume, generation string) error {
			return relink(filepath.Join(outside, stateFile), filepath.Join(volume, generation, gitFolder, stateFile))
		},
		"the objects are a link": func(volume, generation string) error {
			return relink(outside, filepath.Join(volume, generation, gitFolder, "objects"))
		},
		"the tree is a link": func(volume, generation string) error {
			return relink(outside, filepath.Join(volume, generation, treeFolder))
		},
		"the history is none": func(volume, generation string) error {
			return os.WriteFile(filepath.Join(volume, generation, gitFolder, shallowFile), []byte("../x"), 0o644)
		},
	} {
		t.Run(title, func(t *testing.T) {
			g := newRig(t)
			g.serve(g.backend())
			g.good("sync")
			link, err := os.Readlink(filepath.Join(g.volume, currentLink))
			must(t, err)
			if strings.HasPrefix(title, "the link") {
				must(t, os.Remove(filepath.Join(g.volume, currentLink)))
			}
			must(t, spoil(g.volume, filepath.Dir(link)))
			g.bad("status", errBackend)
			g.bad("commit", errBackend, func(r *request) { r.Message = "x" })
			if left, _ := os.ReadDir(outside); len(left) != 1 {
				t.Errorf("%v: something was written outside", left)
			}
		})
	}
}

// lineCanary is one line of a key: a name that git reads from a file of names.
const lineCanary = "canary-b25lIGxpbmU"

func (g *rig) generation() string {
	g.t.Helper()
	link, err := os.Readlink(filepath.Join(g.volume, currentLink))
	must(g.t, err)
	return filepath.Join(g.volume, filepath.Dir(link))
}

// keyed has a binding with a Secret whose key has lines.
func keyed(t *testing.T) *rig {
	t.Helper()
	g := newRig(t)
	g.serveTLS(guarded(g.backend()))
	key := "-----BEGIN KEY-----\n" + lineCanary + "\n-----END KEY-----\n"
	must(t, os.WriteFile(filepath.Join(g.credentials, privateKey), []byte(key), 0o600))
	return g
}

// alternate leads git's list of other folders of objects to the key, and has git look there: the newest objects are gone.
func (g *rig) alternate(name string) error {
	objects := filepath.Join(g.generation(), gitFolder, "objects")
	loose, err := filepath.Glob(filepath.Join(objects, "??"))
	if err != nil {
		return err
	}
	for _, folder := range loose {
		if err := os.RemoveAll(folder); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(filepath.Join(objects, "info"), 0o755); err != nil {
		return err
	}
	return os.Symlink(filepath.Join(g.credentials, privateKey), filepath.Join(objects, "info", name))
}

func TestNoLineOfTheSecretIsReadThroughTheVolume(t *testing.T) {
	for _, name := range []string{"alternates", "http-alternates"} {
		for _, op := range []string{"sync", "push", "status"} {
			t.Run(op+" "+name, func(t *testing.T) {
				g := keyed(t)
				g.good("sync")
				g.write("a.txt", "mine\n")
				g.good("commit", func(r *request) { r.Message = "mine" })
				if op == "sync" {
					g.good("push")
					g.commit(map[string]string{"a.txt": "theirs\n"})
				}
				must(t, g.alternate(name))
				if f := g.bad(op, errBackend); strings.Contains(f.message, lineCanary) || !strings.Contains(f.message, name) {
					t.Errorf("%q", f.message)
				}
			})
		}
	}
}

// Answers of operations with credentials hold no words that a server, or a tenant by the volume, makes git say.
func TestAnswersHoldNoWordsOfGit(t *testing.T) {
	for _, said := range []string{
		"fatal: " + lineCanary, "Permission denied (" + lineCanary + ")", "repository '" + lineCanary + "' not found",
		"! [rejected] " + lineCanary, "No space left on device " + lineCanary, "couldn't find remote ref " + lineCanary,
	} {
		w := &work{request: &request{Op: "sync", Ref: "main"}, to: remote{host: "git.example.org"}, secrets: &secrets{}, isRemote: true}
		if f := w.why("fetch", said, 128); strings.Contains(f.Error(), lineCanary) {
			t.Error(f)
		}
	}
	s := &secrets{values: map[string]string{privateKey: "-----BEGIN KEY-----\n" + lineCanary + "\n", "token": "Two  Blanks"}}
	for _, text := range []string{"x " + lineCanary + " y", "x Two Blanks y", "x two  blanks y", "x TWO BLANKS"} {
		f := s.cleanError(fail(errBackend, "%s", text))
		if !strings.Contains(f.Error(), mark) || strings.Contains(strings.ToLower(f.Error()), "blanks") || strings.Contains(f.Error(), lineCanary) {
			t.Errorf("%q", f)
		}
	}
}

// A sync looks for work of the tenant again after the server has answered.
func TestChangesDuringASyncAreKept(t *testing.T) {
	g := newRig(t)
	inner := g.backend()
	var changes atomic.Bool
	g.serve(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if changes.Load() && r.Method == http.MethodPost && strings.Contains(bodyOf(r), "fetch") {
			g.write("a.txt", "mine\n")
		}
		inner.ServeHTTP(w, r)
	}))
	before := g.good("sync").Commit
	g.commit(map[string]string{"a.txt": "theirs\n"})
	changes.Store(true)
	g.bad("sync", errUncommitted)
	if g.file("a.txt") != "mine\n" || g.good("status").Commit != before {
		t.Error("the tenant's change is gone")
	}
	if left, err := os.ReadDir(filepath.Join(g.volume, generations)); err != nil || len(left) != 1 {
		t.Errorf("%v %v: the refused tree takes room", left, err)
	}
}

func TestASyncNeverWritesIntoTheTreeThatIsShown(t *testing.T) {
	g := newRig(t)
	g.serve(g.backend())
	again := func(r *request) { r.ID = "again" }
	g.good("sync", again)
	g.commit(map[string]string{"a.txt": "theirs\n"})
	g.bad("sync", errBusy, again)
	if g.file("a.txt") != "one\n" {
		t.Error("the tree that was shown is gone")
	}
}

func relink(target, path string) error {
	if err := os.RemoveAll(path); err != nil {
		return err
	}
	return os.Symlink(target, path)
}

// A sync is killed while the server sends. Readers keep the tree before, and the next sync cleans up.
func TestASyncThatIsKilledLeavesTheTreeBefore(t *testing.T) {
	g := newRig(t)
	begun, release := make(chan struct{}), make(chan struct{})
	var hangs atomic.Bool
	inner := g.backend()
	g.serve(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if hangs.Load() && r.Method == http.MethodPost && strings.Contains(bodyOf(r), "fetch") {
			close(begun)
			<-release
			return
		}
		inner.ServeHTTP(w, r)
	}))
	g.good("sync")
	want := g.commit(map[string]string{"a.txt": "new\n"})
	hangs.Store(true)
	cmd := exec.Command(os.Args[0], "git", g.raw("sync", "killed"))
	must(t, cmd.Start())
	<-begun
	if g.file("a.txt") != "one\n" {
		t.Error("the tree is not readable during a sync")
	}
	must(t, cmd.Process.Kill())
	_ = cmd.Wait()
	hangs.Store(false)
	close(release)
	if g.file("a.txt") != "one\n" {
		t.Error("the tree before is gone")
	}
	if _, err := os.Stat(filepath.Join(g.volume, generations, "killed")); err != nil {
		t.Error("nothing was under way")
	}
	if found := g.good("sync"); found.Commit != want || g.file("a.txt") != "new\n" {
		t.Errorf("%+v", found)
	}
	if _, err := os.Stat(filepath.Join(g.volume, generations, "killed")); !os.IsNotExist(err) {
		t.Error("what the killed sync left still takes room")
	}
}

// bodyOf reads a request of git and leaves it to be read again.
func bodyOf(r *http.Request) string {
	raw := &bytes.Buffer{}
	_, _ = raw.ReadFrom(r.Body)
	r.Body = readAgain{bytes.NewReader(raw.Bytes())}
	return raw.String()
}

type readAgain struct{ *bytes.Reader }

func (readAgain) Close() error { return nil }

// Processes of one volume wait for each other, and readers see one tree or the other at every moment.
func TestSyncsOfOneVolumeComeOneAfterAnother(t *testing.T) {
	g := newRig(t)
	g.serve(g.backend())
	g.good("sync")
	stop := make(chan struct{})
	var readers sync.WaitGroup
	readers.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
				raw, err := os.ReadFile(filepath.Join(g.volume, "current", "a.txt"))
				if err != nil || len(raw) == 0 {
					t.Errorf("a reader saw no tree: %v", err)
					return
				}
			}
		}
	})
	for round := range 3 {
		g.commit(map[string]string{"a.txt": "round " + strconv.Itoa(round) + "\n"})
		var both sync.WaitGroup
		for worker := range 2 {
			raw := g.raw("sync", fmt.Sprintf("round-%d-%d", round, worker))
			both.Go(func() {
				if out, err := exec.Command(os.Args[0], "git", raw).Output(); err != nil || !strings.Contains(string(out), `"ok":true`) {
					t.Errorf("%s %v", out, err)
				}
			})
		}
		both.Wait()
	}
	time.Sleep(10 * time.Millisecond)
	close(stop)
	readers.Wait()
	if g.file("a.txt") != "round 2\n" {
		t.Error("the last commit is not there")
	}
}

func TestAnswersThatWouldNotFit(t *testing.T) {
	g := newRig(t)
	g.serve(g.backend())
	g.good("sync")
	g.write("big.txt", strings.Repeat("\x01\t\n", 40_000))
	for i := range changesLimit + 1 {
		g.write(fmt.Sprintf("many/%d", i), "x")
	}
	fits := func(r *result) {
		t.Helper()
		raw, err := json.Marshal(r)
		must(t, err)
		if !r.Truncated || len(raw) > 64<<10 {
			t.Errorf("%d bytes, truncated: %v", len(raw), r.Truncated)
		}
	}
	fits(g.good("diff"))
	found := g.good("status")
	fits(found)
	if len(found.Changes) != changesLimit {
		t.Errorf("%d changes", len(found.Changes))
	}
	for i := range 60 {
		g.write(strings.Repeat("d/", 1_000)+strings.Repeat("\x02", 200)+strconv.Itoa(i), "x")
	}
	fits(g.good("status"))
	for limit, want := range map[int]string{3: "ab", 4: "ab\n", 5: "ab\nc"} {
		if got, isCut := fitting("ab\nc", limit); got != want || isCut != (want != "ab\nc") {
			t.Errorf("%d: %q", limit, got)
		}
	}
}
