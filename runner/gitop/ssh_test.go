package gitop

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

const sshd = "/usr/sbin/sshd"

// serveSSH starts OpenSSH's server on loopback for one key, and gives the binding a Secret for it.
func (g *rig) serveSSH() map[string]string {
	g.t.Helper()
	if _, err := os.Stat(sshd); err != nil {
		g.t.Fatal("openssh-server is missing; make setup installs it")
	}
	folder := g.t.TempDir()
	in := func(name string) string { return filepath.Join(folder, name) }
	for _, key := range []string{"host", "user"} {
		must(g.t, exec.Command("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "", "-f", in(key)).Run())
	}
	read := func(name string) string {
		raw, err := os.ReadFile(in(name))
		must(g.t, err)
		return string(raw)
	}
	must(g.t, os.WriteFile(in("authorized"), []byte(read("user.pub")), 0o600))
	port := freePort(g.t)
	config := fmt.Sprintf("Port %d\nListenAddress 127.0.0.1\nHostKey %s\nAuthorizedKeysFile %s\nPasswordAuthentication no\n"+
		"PermitRootLogin yes\nUsePAM no\nStrictModes no\nPidFile none\n", port, in("host"), in("authorized"))
	must(g.t, os.WriteFile(in("config"), []byte(config), 0o600))
	must(g.t, os.MkdirAll("/run/sshd", 0o755))
	cmd := exec.Command(sshd, "-D", "-e", "-f", in("config"))
	must(g.t, cmd.Start())
	g.t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	untilOpen(g.t, port)
	who, _ := exec.Command("id", "-un").Output()
	g.url = fmt.Sprintf("ssh://%s@127.0.0.1:%d%s", strings.TrimSpace(string(who)), port, g.bare)
	return map[string]string{
		"host": fmt.Sprintf("[127.0.0.1]:%d", port), privateKey: read("user"),
		knownHosts: fmt.Sprintf("[127.0.0.1]:%d %s", port, read("host.pub")),
	}
}

func freePort(t *testing.T) int {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	defer func() { _ = listener.Close() }()
	return listener.Addr().(*net.TCPAddr).Port
}

func untilOpen(t *testing.T, port int) {
	for range 200 {
		if conn, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", port)); err == nil {
			_ = conn.Close()
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Fatal("sshd does not answer")
}

func TestSSHClonesAndPushes(t *testing.T) {
	g := newRig(t)
	g.secret(g.serveSSH())
	g.good("sync")
	if g.file("a.txt") != "one\n" {
		t.Error("the tree is not there")
	}
	g.write("a.txt", "mine\n")
	made := g.good("commit", func(r *request) { r.Message = "mine" })
	g.good("push")
	if head := g.host("-C", g.bare, "rev-parse", "main"); head != made.Commit {
		t.Error("the commit is not on the server")
	}
}

func TestSSHServersThatAreNotTheBindings(t *testing.T) {
	g := newRig(t)
	values := g.serveSSH()
	change := func(key, value string) {
		changed := map[string]string{}
		for k, v := range values {
			changed[k] = v
		}
		changed[key] = value
		g.secret(changed)
	}
	other := newRig(t)
	stranger := other.serveSSH()
	_, key, _ := strings.Cut(stranger[knownHosts], " ")
	change(knownHosts, values["host"]+" "+key)
	g.bad("sync", errHostKey)
	change(knownHosts, "git.example.org "+key)
	g.bad("sync", errHostKey)
	change(knownHosts, "")
	g.bad("sync", errCredential)
	change(privateKey, stranger[privateKey])
	g.bad("sync", errAuthentication)
	change(privateKey, "no key")
	if _, err := g.run("sync"); err == nil {
		t.Error("no key is a key")
	}
	g.credentials = ""
	g.bad("sync", errCredential)
	g.secret(values)
	g.bad("sync", errAddress, func(r *request) { r.Networks = nil })
	g.url += "-nowhere"
	g.bad("sync", errNotFound)
}
