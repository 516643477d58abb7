package gitop

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"math/big"
	"net"
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// The credential helper of git is this program, and so is the process of an operation that a test kills.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "git" {
		os.Exit(Main(os.Args[2:], os.Stdout))
	}
	if len(os.Args) > 1 && os.Args[1] == "git-credential" {
		os.Exit(Credential(os.Args[2:], os.Stdin, os.Stdout))
	}
	os.Exit(m.Run())
}

// The canary of a Secret; no answer may hold it.
const canary = "canary-c2VjcmV0-5f1e"

// rig is a repository on a real git server, and a volume.
type rig struct {
	t           *testing.T
	bare        string
	volume      string
	credentials string
	url         string
	request     request
}

func newRig(t *testing.T) *rig {
	t.Helper()
	folder := t.TempDir()
	g := &rig{t: t, bare: filepath.Join(folder, "repo.git"), volume: filepath.Join(folder, "volume")}
	for _, name := range []string{g.volume, filepath.Join(folder, "scratch")} {
		must(t, os.Mkdir(name, 0o755))
	}
	g.host("init", "--quiet", "--bare", "--initial-branch=main", g.bare)
	g.host("-C", g.bare, "config", "http.receivepack", "true")
	g.host("-C", g.bare, "config", "uploadpack.allowReachableSHA1InWant", "true")
	g.request = request{
		Depth: 1, LimitBytes: 64 << 20, Seconds: 60, Networks: []string{"127.0.0.0/8"}, Root: g.volume,
		Scratch: filepath.Join(folder, "scratch"), Author: author{"Kim", "kim@example.org"},
	}
	g.commit(map[string]string{"a.txt": "one\n", "sub/b.txt": "two\n"})
	return g
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// host runs git as the owner of the server.
func (g *rig) host(args ...string) string {
	g.t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME=s", "GIT_AUTHOR_EMAIL=s@x",
		"GIT_COMMITTER_NAME=s", "GIT_COMMITTER_EMAIL=s@x")
	out, err := cmd.CombinedOutput()
	if err != nil {
		g.t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// commit puts files on the server's branch main; a value that begins with `-> ` is a symbolic link.
func (g *rig) commit(files map[string]string) string {
	g.t.Helper()
	tree := filepath.Join(g.t.TempDir(), "work")
	g.host("init", "--quiet", "--initial-branch=main", tree)
	g.host("-C", tree, "remote", "add", "origin", g.bare)
	if exec.Command("git", "-C", tree, "pull", "--quiet", "origin", "main").Run() != nil {
		g.t.Log("the first commit")
	}
	for name, text := range files {
		path := filepath.Join(tree, name)
		must(g.t, os.MkdirAll(filepath.Dir(path), 0o755))
		if target, is := strings.CutPrefix(text, "-> "); is {
			must(g.t, os.Symlink(target, path))
			continue
		}
		must(g.t, os.WriteFile(path, []byte(text), 0o644))
	}
	g.host("-C", tree, "add", "--all")
	g.host("-C", tree, "commit", "--quiet", "--message", "server")
	g.host("-C", tree, "push", "--quiet", "origin", "HEAD:main")
	return g.host("-C", tree, "rev-parse", "HEAD")
}

// backend is git's own HTTP server.
func (g *rig) backend() http.Handler {
	path := strings.TrimSpace(g.host("--exec-path"))
	return &cgi.Handler{
		Path: filepath.Join(path, "git-http-backend"),
		Env:  []string{"GIT_PROJECT_ROOT=" + filepath.Dir(g.bare), "GIT_HTTP_EXPORT_ALL=1", "REMOTE_USER=agent"},
	}
}

func (g *rig) serve(handler http.Handler) *rig {
	server := httptest.NewServer(handler)
	g.t.Cleanup(server.Close)
	g.url = server.URL + "/repo.git"
	return g
}

// serveTLS serves behind a password, and gives the binding a Secret for it.
func (g *rig) serveTLS(handler http.Handler) *rig {
	server := httptest.NewUnstartedServer(handler)
	certificate, authority := newCertificate(g.t)
	server.TLS = &tls.Config{Certificates: []tls.Certificate{certificate}}
	server.StartTLS()
	g.t.Cleanup(server.Close)
	g.url = server.URL + "/repo.git"
	host := strings.TrimPrefix(server.URL, "https://")
	address, port, _ := net.SplitHostPort(host)
	g.secret(map[string]string{"host": "[" + address + "]:" + port, "username": "agent", "password": canary, "ca.crt": authority})
	return g
}

func newCertificate(t *testing.T) (tls.Certificate, string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(t, err)
	form := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true,
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	raw, err := x509.CreateCertificate(rand.Reader, form, form, &key.PublicKey, key)
	must(t, err)
	return tls.Certificate{Certificate: [][]byte{raw}, PrivateKey: key},
		string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: raw}))
}

func (g *rig) secret(values map[string]string) {
	g.credentials = g.t.TempDir()
	for key, value := range values {
		must(g.t, os.WriteFile(filepath.Join(g.credentials, key), []byte(value), 0o600))
	}
}

var ids int

// run answers an operation, as the process of a pod does. The whole answer is looked through for the canary.
func (g *rig) run(op string, change ...func(*request)) (*result, *failure) {
	g.t.Helper()
	ids++
	r := g.request
	r.Op, r.URL, r.ID = op, g.url, op+"-"+itoa(uint16(ids))
	if operations[op].remote {
		r.Credentials = g.credentials
	}
	for _, each := range change {
		each(&r)
	}
	raw, err := json.Marshal(r)
	must(g.t, err)
	found, err := handle(string(raw))
	said, _ := json.Marshal([]any{found, err})
	if strings.Contains(string(said)+errorText(err), canary) || strings.Contains(string(raw), canary) {
		g.t.Errorf("the canary is in the answer: %s %v", said, err)
	}
	if err == nil {
		return found, nil
	}
	return nil, err.(*failure)
}

// raw is the argument of the process of an operation.
func (g *rig) raw(op, id string) string {
	r := g.request
	r.Op, r.URL, r.ID = op, g.url, id
	raw, err := json.Marshal(r)
	must(g.t, err)
	return string(raw)
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func (g *rig) good(op string, change ...func(*request)) *result {
	g.t.Helper()
	found, err := g.run(op, change...)
	if err != nil {
		g.t.Fatalf("%s: %v", op, err)
	}
	return found
}

func (g *rig) bad(op, want string, change ...func(*request)) *failure {
	g.t.Helper()
	found, err := g.run(op, change...)
	if err == nil {
		g.t.Fatalf("%s: %+v, want %s", op, found, want)
	}
	if err.code != want {
		g.t.Fatalf("%s: %v, want %s", op, err, want)
	}
	return err
}

func (g *rig) file(name string) string {
	g.t.Helper()
	raw, err := os.ReadFile(filepath.Join(g.volume, "current", name))
	must(g.t, err)
	return string(raw)
}

func (g *rig) write(name, text string) {
	g.t.Helper()
	path := filepath.Join(g.volume, "current", name)
	must(g.t, os.MkdirAll(filepath.Dir(path), 0o755))
	must(g.t, os.WriteFile(path, []byte(text), 0o644))
}
