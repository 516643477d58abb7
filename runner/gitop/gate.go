package gitop

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"
)

const connectTimeout = 15 * time.Second

// gate is the only way to the server. It listens on the pod's own loopback, connects to the host and port of the binding
// alone, vets the address that it connects to, and lets a bounded number of bytes in.
type gate struct {
	to       remote
	policy   policy
	left     atomic.Int64
	listener net.Listener
	resolver *net.Resolver
	mu       sync.Mutex
	reason   error
}

// openGate listens for git: as a SOCKS5 proxy for HTTP, as the server itself for SSH.
func openGate(to remote, policy policy, limit int64) (*gate, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	g := &gate{to: to, policy: policy, listener: listener, resolver: net.DefaultResolver}
	g.left.Store(limit)
	go g.serve()
	return g, nil
}

func (g *gate) close() { _ = g.listener.Close() }

func (g *gate) address() string { return g.listener.Addr().String() }

func (g *gate) serve() {
	for {
		conn, err := g.listener.Accept()
		if err != nil {
			return
		}
		go g.handle(conn)
	}
}

// problem is why the gate closed a connection; nil: it did not.
func (g *gate) problem() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.reason
}

func (g *gate) refuse(err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.reason == nil {
		g.reason = err
	}
}

func (g *gate) handle(conn net.Conn) {
	defer func() { _ = conn.Close() }()
	if g.to.scheme == "ssh" {
		g.forward(conn)
		return
	}
	host, port, err := socksRequest(conn)
	if err != nil {
		return
	}
	if host != g.to.host || port != g.to.port {
		g.refuse(fail(errAddress, "the server leads to %s:%s; a binding asks its own host alone", clean(host), port))
		_, _ = conn.Write(socksReply(socksDenied))
		return
	}
	g.forward(conn)
}

func (g *gate) forward(conn net.Conn) {
	server, err := g.dial()
	isSocks := g.to.scheme != "ssh"
	if err != nil {
		g.refuse(err)
		if isSocks {
			_, _ = conn.Write(socksReply(socksDenied))
		}
		return
	}
	defer func() { _ = server.Close() }()
	if isSocks {
		if _, err := conn.Write(socksReply(socksGranted)); err != nil {
			return
		}
	}
	go func() {
		_, _ = io.Copy(server, conn)
		if half, is := server.(*net.TCPConn); is {
			_ = half.CloseWrite()
		}
	}()
	if _, err := io.Copy(conn, &counted{server, g}); errors.Is(err, errSpent) {
		g.refuse(fail(errTooLarge, "the server sent more bytes than the volume has"))
	}
}

// dial resolves, vets, and connects to an address that it has vetted: no second answer of a name server counts.
func (g *gate) dial() (net.Conn, error) {
	ctx, cancel := context.WithTimeout(context.Background(), connectTimeout)
	defer cancel()
	addresses, err := g.resolver.LookupNetIP(ctx, "ip", g.to.host)
	if err != nil && !isAbsent(err) {
		return nil, unresolved(g.to.host, err)
	}
	// A name that is none is answered as an internal one is: which names there are inside is not for the caller to learn.
	var last error = fail(errAddress, "%s has no public address, and the operator opened no internal one of it; check the name", g.to.host)
	for _, address := range addresses {
		address = address.Unmap()
		if !g.policy.permits(address) {
			continue
		}
		conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", net.JoinHostPort(address.String(), g.to.port))
		if err == nil {
			return conn, nil
		}
		last = fail(errBackend, "no connection to %s:%s", g.to.host, g.to.port)
	}
	return nil, last
}

// isAbsent: the name server has answered that there is no such name.
func isAbsent(err error) bool {
	var found *net.DNSError
	return errors.As(err, &found) && found.IsNotFound
}

// unresolved: whether there is such a name is not known. It says nothing of the address.
func unresolved(host string, err error) error {
	var timeout net.Error
	if errors.As(err, &timeout) && timeout.Timeout() {
		return fail(errTimeout, "the name server did not answer for %s in time; try again", host)
	}
	return fail(errBackend, "the name server has no answer for %s now; try again", host)
}

var errSpent = errors.New("no bytes are left")

// counted reads from the server while bytes are left for the whole operation.
type counted struct {
	from io.Reader
	gate *gate
}

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.from.Read(p)
	if c.gate.left.Add(-int64(n)) < 0 {
		return 0, errSpent
	}
	return n, err
}

const (
	socksGranted = 0
	socksDenied  = 2
)

func socksReply(code byte) []byte { return []byte{5, code, 0, 1, 0, 0, 0, 0, 0, 0} }

// socksRequest reads the greeting and the request of a SOCKS5 client (RFC 1928).
func socksRequest(conn net.Conn) (host, port string, err error) {
	_ = conn.SetReadDeadline(time.Now().Add(connectTimeout))
	defer func() { _ = conn.SetReadDeadline(time.Time{}) }()
	head := make([]byte, 2)
	if _, err = io.ReadFull(conn, head); err != nil {
		return "", "", err
	}
	if _, err = io.ReadFull(conn, make([]byte, head[1])); err != nil {
		return "", "", err
	}
	if _, err = conn.Write([]byte{5, 0}); err != nil {
		return "", "", err
	}
	request := make([]byte, 4)
	if _, err = io.ReadFull(conn, request); err != nil {
		return "", "", err
	}
	if request[1] != 1 {
		return "", "", errors.New("not a connect")
	}
	return socksTarget(conn, request[3])
}

func socksTarget(conn io.Reader, kind byte) (host, port string, err error) {
	size := make([]byte, 1)
	switch kind {
	case 1:
		size[0] = net.IPv4len
	case 4:
		size[0] = net.IPv6len
	case 3:
		if _, err = io.ReadFull(conn, size); err != nil {
			return "", "", err
		}
	default:
		return "", "", errors.New("unknown kind of address")
	}
	rest := make([]byte, int(size[0])+2)
	if _, err = io.ReadFull(conn, rest); err != nil {
		return "", "", err
	}
	name, number := rest[:size[0]], binary.BigEndian.Uint16(rest[size[0]:])
	if kind == 3 {
		return lower(string(name)), itoa(number), nil
	}
	address, _ := netip.AddrFromSlice(name)
	return address.String(), itoa(number), nil
}
