// Signs one call of a tool (docs/gateway.md). usage: go run . KEY.pem TOKEN EXECUTION_ID TOOL '{"argument":1}'
package main

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"os"
	"time"

	"github.com/gowebpki/jcs"
)

type object map[string]any

func main() {
	if len(os.Args) < 5 {
		fmt.Fprintln(os.Stderr, "usage: go run . KEY.pem TOKEN EXECUTION_ID TOOL [ARGUMENTS]")
		os.Exit(2)
	}
	arguments := "{}"
	if len(os.Args) > 5 {
		arguments = os.Args[5]
	}
	key, err := readKey(os.Args[1])
	fail(err)
	envelope, err := sign(key, os.Args[2], os.Args[3], os.Args[4], arguments)
	fail(err)
	fmt.Println(string(envelope))
}

// sign gives the call as POST /v1/invoke takes it.
func sign(key ed25519.PrivateKey, token, executionID, tool, arguments string) ([]byte, error) {
	params := object{"name": tool, "arguments": json.RawMessage(arguments)}
	// Equal calls of one second are one call, so that each has an id of its own.
	payload := object{"jsonrpc": "2.0", "id": rand.Text(), "method": "tools/call", "params": params}
	timestamp := time.Now().Unix()
	plain, err := json.Marshal(object{"payload": payload, "security_token": token, "timestamp": timestamp})
	if err != nil {
		return nil, err
	}
	canonical, err := jcs.Transform(plain)
	if err != nil {
		return nil, err
	}
	return json.Marshal(object{
		"protocol":       "seal/v1",
		"security_token": token,
		"signature":      base64.StdEncoding.EncodeToString(ed25519.Sign(key, canonical)),
		"timestamp":      timestamp,
		"payload":        payload,
		"metadata":       object{"execution_id": executionID},
	})
}

func readKey(file string) (ed25519.PrivateKey, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	block, _ := pem.Decode(text)
	if block == nil {
		return nil, fmt.Errorf("%s holds no PEM", file)
	}
	parsed, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return nil, err
	}
	key, isEd25519 := parsed.(ed25519.PrivateKey)
	if !isEd25519 {
		return nil, fmt.Errorf("%s holds no Ed25519 key", file)
	}
	return key, nil
}

func fail(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
