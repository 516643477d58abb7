package main

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"errors"
	"fmt"
	mathrand "math/rand/v2"
	"net"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
)

const service = "/windlass.node.v1.NodeClusterService/"

// The pauses of the real daemon (lib/grpc/limits.ts): anywhere between nothing and a bound that doubles.
const (
	reconnectBase = 500 * time.Millisecond
	reconnectMost = 30 * time.Second
)

// daemon is one host: an address of the loopback network, a key, and a stream that it keeps.
type daemon struct {
	index   int
	fleet   *fleet
	key     ed25519.PrivateKey
	nodeID  string
	token   string
	sending sync.Mutex
	stream  grpc.ClientStream
	place   sealing
	// unacknowledged are commands whose results the server has not stored yet: a new stream sends them again.
	unacknowledged map[string]struct{}
}

// address is the daemon's own: the limit of attestations counts by address.
func (d *daemon) address() net.IP {
	return net.IPv4(127, byte(1+d.index>>16), byte(d.index>>8), byte(d.index))
}

func (d *daemon) dial() (*grpc.ClientConn, error) {
	dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: d.address()}}
	return grpc.NewClient("passthrough:///"+d.fleet.relay,
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithContextDialer(func(ctx context.Context, address string) (net.Conn, error) {
			return dialer.DialContext(ctx, "tcp", address)
		}),
		// Ten thousand connections of one process: each has small buffers.
		grpc.WithReadBufferSize(1024), grpc.WithWriteBufferSize(1024), grpc.WithSharedWriteBuffer(true),
		grpc.WithDisableRetry(), grpc.WithDisableServiceConfig(), grpc.WithIdleTimeout(0),
		grpc.WithConnectParams(grpc.ConnectParams{Backoff: backoff.DefaultConfig, MinConnectTimeout: 60 * time.Second}),
		grpc.WithDefaultCallOptions(grpc.ForceCodec(rawCodec{})))
}

// enrollPatiently calls again where the outcome is not known, with the same key: it gets the same host again.
func (d *daemon) enrollPatiently(ctx context.Context, token string) error {
	_, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return err
	}
	d.key = private
	for pause := time.Second; ; pause *= 2 {
		err := d.enroll(ctx, token)
		if status.Code(err) != codes.Unavailable || pause > 8*time.Second {
			return err
		}
		time.Sleep(pause)
	}
}

// enroll attests the key and redeems the token (spec 2 §4.2).
func (d *daemon) enroll(ctx context.Context, token string) error {
	private := d.key
	public := private.Public().(ed25519.PublicKey)
	connection, err := d.dial()
	if err != nil {
		return err
	}
	defer connection.Close()
	call := func(method string, request []byte) ([]byte, error) {
		var answer []byte
		err := connection.Invoke(ctx, service+method, &request, &answer)
		return answer, err
	}
	request := appendBytes(appendNumber(nil, 1, 1), 2, public)
	request = appendText(appendText(request, 3, "bench"), 4, fmt.Sprintf("host-%d", d.index))
	attested, err := call("AttestNode", request)
	if err != nil {
		return err
	}
	found, err := texts(attested, 1, 2)
	if err != nil {
		return err
	}
	signed := append(append([]byte(domainChallenge), 0), found[1]...)
	request = appendBytes(appendText(nil, 1, found[0]), 2, ed25519.Sign(private, signed))
	request = appendText(appendNumber(request, 3, 1), 4, token)
	enrolled, err := call("ChallengeNode", request)
	if err != nil {
		return err
	}
	if found, err = texts(enrolled, 1, 2); err != nil {
		return err
	}
	d.nodeID, d.token = found[0], found[1]
	return nil
}

// keep holds a stream until the context ends; each that breaks is followed by another.
func (d *daemon) keep(ctx context.Context) {
	for failures := 0; ctx.Err() == nil; failures++ {
		began := time.Now()
		err := d.hold(ctx)
		if ctx.Err() != nil {
			return
		}
		d.fleet.note(err)
		if time.Since(began) > reconnectMost {
			failures = 0
		}
		bound := min(reconnectBase<<min(failures, 10), reconnectMost)
		select {
		case <-ctx.Done():
		case <-time.After(mathrand.N(bound)):
		}
	}
}

// hold opens one stream, says hello, and answers commands until the stream ends.
func (d *daemon) hold(ctx context.Context) error {
	connection, err := d.dial()
	if err != nil {
		return err
	}
	defer connection.Close()
	ctx = metadata.AppendToOutgoingContext(ctx, "authorization", "Bearer "+d.token)
	description := grpc.StreamDesc{ServerStreams: true, ClientStreams: true}
	stream, err := connection.NewStream(ctx, &description, service+"ConnectEdge")
	if err != nil {
		return err
	}
	streamID := uuid()
	d.sending.Lock()
	d.stream = stream
	d.place = sealing{key: d.key, nodeID: d.nodeID, token: d.token, streamID: streamID}
	d.sending.Unlock()
	defer func() {
		d.sending.Lock()
		d.stream = nil
		d.sending.Unlock()
	}()
	greet := func(place sealing) []byte {
		return place.seal(fieldHello, domainHello, hello(streamID, d.index%2 == 0))
	}
	if err := d.send(greet); err != nil {
		return err
	}
	for id := range d.unacknowledged {
		if err := d.answer(id); err != nil {
			return err
		}
	}
	stop := make(chan struct{})
	defer close(stop)
	go d.beat(stop)
	for {
		var message []byte
		if err := stream.RecvMsg(&message); err != nil {
			return err
		}
		if err := d.take(message); err != nil {
			return err
		}
	}
}

// beat sends heartbeats; the first one after a part of the interval, so that those of many hosts spread.
func (d *daemon) beat(stop <-chan struct{}) {
	for wait := mathrand.N(d.fleet.heartbeats); ; wait = d.fleet.heartbeats {
		select {
		case <-stop:
			return
		case <-time.After(wait):
		}
		if d.send(func(place sealing) []byte { return place.seal(fieldHeartbeat, domainHeartbeat, heartbeat()) }) != nil {
			return
		}
	}
}

// take answers a command at once; a bare server gets its message back.
func (d *daemon) take(message []byte) error {
	if d.fleet.isBare {
		d.fleet.commands.Add(1)
		return d.send(func(sealing) []byte { return message })
	}
	acknowledged, err := acknowledgedIn(message)
	if err != nil {
		return err
	}
	for _, id := range acknowledged {
		delete(d.unacknowledged, id)
	}
	id, err := commandOf(message)
	if err != nil || id == "" {
		return err
	}
	d.fleet.commands.Add(1)
	d.unacknowledged[id] = struct{}{}
	return d.answer(id)
}

func (d *daemon) answer(commandID string) error {
	return d.send(func(place sealing) []byte { return place.seal(fieldResult, domainResult, okResult(commandID)) })
}

var errClosed = errors.New("the stream is over")

func (d *daemon) send(message func(sealing) []byte) error {
	d.sending.Lock()
	defer d.sending.Unlock()
	if d.stream == nil {
		return errClosed
	}
	d.place.sequence++
	bytes := message(d.place)
	return d.stream.SendMsg(&bytes)
}

func uuid() string {
	var bytes [16]byte
	_, _ = rand.Read(bytes[:])
	bytes[6], bytes[8] = bytes[6]&0x0f|0x40, bytes[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", bytes[:4], bytes[4:6], bytes[6:8], bytes[8:10], bytes[10:])
}

// causeOf is the status of a stream's end without what differs from host to host.
func causeOf(err error) string {
	if found, is := status.FromError(err); is {
		return found.Code().String() + ": " + withoutAddresses(found.Message())
	}
	return withoutAddresses(err.Error())
}
