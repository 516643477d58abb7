package main

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"time"

	"google.golang.org/protobuf/encoding/protowire"
)

// Messages are written by hand: a generated package would be a second copy of proto/ that nothing keeps in step.

// Fields of EdgeEvent, and the domains of their signatures (docs/edge-protocol.md).
const (
	fieldHello     protowire.Number = 1
	fieldHeartbeat protowire.Number = 2
	fieldResult    protowire.Number = 3

	domainHello     = "windlass-edge-hello-v1"
	domainHeartbeat = "windlass-edge-heartbeat-v1"
	domainResult    = "windlass-edge-command-result-v1"
	domainChallenge = "windlass-edge-challenge-v1"
)

// rawCodec passes the bytes of messages through.
type rawCodec struct{}

func (rawCodec) Marshal(message any) ([]byte, error) { return *message.(*[]byte), nil }

func (rawCodec) Unmarshal(data []byte, message any) error {
	*message.(*[]byte) = append([]byte(nil), data...)
	return nil
}

func (rawCodec) Name() string { return "proto" }

func appendBytes(to []byte, number protowire.Number, value []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(to, number, protowire.BytesType), value)
}

func appendText(to []byte, number protowire.Number, value string) []byte {
	return appendBytes(to, number, []byte(value))
}

func appendNumber(to []byte, number protowire.Number, value uint64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(to, number, protowire.VarintType), value)
}

// timestamp is a google.protobuf.Timestamp, whose fields are left out where they are 0.
func timestamp(at time.Time) []byte {
	to := appendNumber(nil, 1, uint64(at.Unix()))
	if nanos := at.Nanosecond(); nanos > 0 {
		to = appendNumber(to, 2, uint64(nanos))
	}
	return to
}

// field answers the value of a field with a length; nil where the message has none.
func field(message []byte, wanted protowire.Number) ([]byte, error) {
	for len(message) > 0 {
		number, kind, length := protowire.ConsumeTag(message)
		if length < 0 {
			return nil, protowire.ParseError(length)
		}
		message = message[length:]
		if number == wanted && kind == protowire.BytesType {
			value, length := protowire.ConsumeBytes(message)
			if length < 0 {
				return nil, protowire.ParseError(length)
			}
			return value, nil
		}
		length = protowire.ConsumeFieldValue(number, kind, message)
		if length < 0 {
			return nil, protowire.ParseError(length)
		}
		message = message[length:]
	}
	return nil, nil
}

func texts(message []byte, numbers ...protowire.Number) ([]string, error) {
	found := make([]string, 0, len(numbers))
	for _, number := range numbers {
		value, err := field(message, number)
		if err != nil {
			return nil, err
		}
		if len(value) == 0 {
			return nil, fmt.Errorf("the answer has no field %d", number)
		}
		found = append(found, string(value))
	}
	return found, nil
}

// sealing is a signer's place in a stream.
type sealing struct {
	key      ed25519.PrivateKey
	nodeID   string
	token    string
	streamID string
	sequence uint64
}

// seal answers the bytes of an EdgeEvent: the event's fields, and behind them its envelope.
func (s sealing) seal(number protowire.Number, domain string, rest []byte) []byte {
	digest := sha256.Sum256(rest)
	signed := append([]byte(domain), 0)
	signed = append(signed, s.streamID...)
	signed = binary.BigEndian.AppendUint64(signed, s.sequence)
	signed = append(signed, digest[:]...)
	envelope := appendText(nil, 1, s.nodeID)
	envelope = appendText(envelope, 2, s.token)
	envelope = appendBytes(envelope, 3, ed25519.Sign(s.key, signed))
	envelope = appendBytes(envelope, 4, timestamp(time.Now()))
	envelope = appendNumber(envelope, 5, s.sequence)
	return appendBytes(nil, number, appendBytes(rest, 1, envelope))
}

// hello holds the capabilities of a small Linux host. Every second host has the label that a fleet command selects.
func hello(streamID string, isEven bool) []byte {
	capabilities := appendText(nil, 1, "linux")
	capabilities = appendText(capabilities, 2, "amd64")
	capabilities = appendText(capabilities, 3, "cmd.run")
	if isEven {
		capabilities = appendBytes(capabilities, 5, appendText(appendText(nil, 1, "number"), 2, "even"))
	}
	return appendText(appendBytes(nil, 2, capabilities), 3, streamID)
}

func heartbeat() []byte {
	return appendBytes(nil, 2, timestamp(time.Now()))
}

// okResult says that a command took a millisecond and exited 0.
func okResult(commandID string) []byte {
	duration := appendNumber(nil, 2, uint64(time.Millisecond))
	result := appendBytes(nil, 1, appendBytes(nil, 3, duration))
	return appendBytes(appendText(nil, 2, commandID), 3, result)
}

// commandOf answers the id of an InvokeTool; empty for any other message of the server.
func commandOf(message []byte) (string, error) {
	invoke, err := field(message, 1)
	if err != nil || invoke == nil {
		return "", err
	}
	id, err := field(invoke, 1)
	return string(id), err
}

// acknowledgedIn answers the ids of a ResultAck; none for any other message of the server.
func acknowledgedIn(message []byte) ([]string, error) {
	acknowledgement, err := field(message, 11)
	if err != nil {
		return nil, err
	}
	var ids []string
	for len(acknowledgement) > 0 {
		number, kind, length := protowire.ConsumeTag(acknowledgement)
		if length < 0 || number != 1 || kind != protowire.BytesType {
			return nil, fmt.Errorf("an acknowledgement holds another field than ids")
		}
		id, taken := protowire.ConsumeBytes(acknowledgement[length:])
		if taken < 0 {
			return nil, protowire.ParseError(taken)
		}
		ids = append(ids, string(id))
		acknowledgement = acknowledgement[length+taken:]
	}
	return ids, nil
}
