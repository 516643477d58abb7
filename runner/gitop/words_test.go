package gitop

import (
	"context"
	"net"
	"os"
	"strings"
	"testing"
)

// The words with which git ends after each of those of ssh.
const unread = "fatal: Could not read from remote repository.\n\nPlease make sure you have the correct access rights\nand the repository exists.\n"

// Words as git 2.39, OpenSSH 9.2 and curl 7.88 print them.
func TestWordsOfGitAndSSH(t *testing.T) {
	for name, row := range map[string]struct{ scheme, said, code string }{
		"ssh: no such repository":                  {"ssh", "fatal: '/x.git' does not appear to be a git repository\n" + unread, errNotFound},
		"ssh: a forge says so in words of its own": {"ssh", "ERROR: Repository not found.\n" + unread, errNotFound},
		"ssh: nothing but the end":                 {"ssh", unread, errNotFound},
		"ssh: refused":                             {"ssh", "ssh: connect to host 127.0.0.1 port 1: Connection refused\n" + unread, errBackend},
		"ssh: no answer":                           {"ssh", "ssh: connect to host 192.0.2.1 port 22: Connection timed out\n" + unread, errTimeout},
		"ssh: no route":                            {"ssh", "ssh: connect to host 192.0.2.1 port 22: No route to host\n" + unread, errBackend},
		"ssh: no banner":                           {"ssh", "Connection timed out during banner exchange\nConnection to 127.0.0.1 port 22 timed out\n" + unread, errTimeout},
		"ssh: silent later":                        {"ssh", "Timeout, server git.example.org not responding.\n" + unread, errTimeout},
		"ssh: reset":                               {"ssh", "kex_exchange_identification: read: Connection reset by peer\nConnection reset by 127.0.0.1 port 22\n" + unread, errBackend},
		"ssh: closed":                              {"ssh", "kex_exchange_identification: Connection closed by remote host\nConnection closed by 127.0.0.1 port 22\n" + unread, errBackend},
		"ssh: closed after the banner":             {"ssh", "Connection closed by 127.0.0.1 port 22\n" + unread, errBackend},
		"ssh: closed in the middle":                {"ssh", "Connection to 127.0.0.1 closed by remote host.\nfetch-pack: unexpected disconnect while reading sideband packet\nfatal: early EOF\nfatal: fetch-pack: invalid index-pack output\n", errBackend},
		"ssh: no SSH":                              {"ssh", "kex_exchange_identification: No SSH version received in first 1024 lines from server\nbanner exchange: Connection to 127.0.0.1 port 22: invalid format\n" + unread, errBackend},
		"ssh: another key of the server":           {"ssh", "No ED25519 host key is known for git.example.org and you have requested strict checking.\nHost key verification failed.\n" + unread, errHostKey},
		"ssh: key refused":                         {"ssh", "git@git.example.org: Permission denied (publickey).\n" + unread, errAuthentication},
		"ssh: too many keys":                       {"ssh", "Received disconnect from 127.0.0.1 port 22:2: Too many authentication failures\nDisconnected from 127.0.0.1 port 22\n" + unread, errAuthentication},
		"http: nothing there":                      {"https", "fatal: unable to access 'https://h/x/': The requested URL returned error: 404\n", errNotFound},
		"http: not found":                          {"https", "fatal: repository 'https://h/x/' not found\n", errNotFound},
		"http: an error":                           {"https", "fatal: unable to access 'https://h/x/': The requested URL returned error: 500\n", errBackend},
		"http: a refused push":                     {"https", "error: RPC failed; HTTP 403 curl 22 The requested URL returned error: 403\nsend-pack: unexpected disconnect while reading sideband packet\nfatal: the remote end hung up unexpectedly\n", errNotFound},
		"http: no reply":                           {"http", "fatal: unable to access 'http://h/x/': Empty reply from server\n", errBackend},
		"http: reset":                              {"http", "fatal: unable to access 'http://h/x/': Recv failure: Connection reset by peer\n", errBackend},
		"http: half an answer":                     {"http", "fatal: unable to access 'http://h/x/': transfer closed with 4966 bytes remaining to read\n", errBackend},
		"http: an answer that ends too early":      {"http", unread, errBackend},
		"http: too slow":                           {"https", "fatal: unable to access 'https://h/x/': Operation too slow. Less than 1000 bytes/sec transferred the last 30 seconds\n", errTimeout},
		"a branch that is none":                    {"https", "fatal: couldn't find remote ref refs/heads/x\n", errRef},
		"a push that breaks off":                   {"ssh", "send-pack: unexpected disconnect while reading sideband packet\nfatal: the remote end hung up unexpectedly\nerror: failed to push some refs to 'ssh://h/x'\n", errBackend},
		"a push that a hook refuses":               {"ssh", " ! [remote rejected] main -> main (pre-receive hook declined)\nerror: failed to push some refs to 'ssh://h/x'\n", errRejected},
	} {
		t.Run(name, func(t *testing.T) {
			if code, sentence := meaning(row.scheme, row.said); code != row.code {
				t.Errorf("%s (%s), want %s", code, sentence, row.code)
			}
		})
	}
}

// breaking is a server that leaves each connection after its greeting.
func breaking(t *testing.T, greeting string) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				defer func() { _ = conn.Close() }()
				_, _ = conn.Write([]byte(greeting))
				_, _ = conn.Read(make([]byte, 1))
			}()
		}
	}()
	return listener.Addr().String()
}

func TestSSHServersThatBreakOff(t *testing.T) {
	for name, greeting := range map[string]string{"at once": "", "after the greeting": "SSH-2.0-OpenSSH_9.2\r\n"} {
		t.Run(name, func(t *testing.T) {
			g := newRig(t)
			values := g.serveSSH()
			address := breaking(t, greeting)
			_, port, _ := net.SplitHostPort(address)
			values["host"] = "[127.0.0.1]:" + port
			_, key, _ := strings.Cut(values[knownHosts], " ")
			values[knownHosts] = values["host"] + " " + key
			g.secret(values)
			g.url = "ssh://git@" + address + "/repo.git"
			if f := g.bad("sync", errBackend); !strings.Contains(f.message, "connection to the server broke") {
				t.Error(f)
			}
		})
	}
}

// A name is absent where a name server says so, and nowhere else.
func TestNamesThatANameServerDoesNotResolve(t *testing.T) {
	nowhere, err := net.ListenPacket("udp", "127.0.0.1:0")
	must(t, err)
	closed := nowhere.LocalAddr().String()
	must(t, nowhere.Close())
	g := &gate{to: remote{scheme: "https", host: "git.example.org", port: "443"}}
	g.resolver = &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "udp", closed)
	}}
	if _, err := g.dial(); err == nil || err.(*failure).code != errBackend {
		t.Errorf("a name server that is away: %v", err)
	}
	for name, row := range map[string]struct {
		err    error
		absent bool
		code   string
	}{
		"no such name":         {&net.DNSError{Err: "no such host", IsNotFound: true}, true, ""},
		"a silent server":      {&net.DNSError{Err: "i/o timeout", IsTimeout: true, IsTemporary: true}, false, errTimeout},
		"an error of a server": {&net.DNSError{Err: "server misbehaving", IsTemporary: true}, false, errBackend},
		"out of time":          {os.ErrDeadlineExceeded, false, errTimeout},
	} {
		if isAbsent(row.err) != row.absent {
			t.Errorf("%s: absent %v", name, !row.absent)
		}
		if row.absent {
			continue
		}
		if f := unresolved("git.example.org", row.err).(*failure); f.code != row.code || !strings.Contains(f.message, "git.example.org") {
			t.Errorf("%s: %v", name, f)
		}
	}
}
