package mcp

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"time"
)

const sessionHeader = "Mcp-Session-Id"

// Codes of JSON-RPC.
const (
	codeParse          = -32700
	codeInvalid        = -32600
	codeUnknownMethod  = -32601
	codeServerSaysNone = -32000
)

// message is any of the four kinds of JSON-RPC: a request has a method and an id, a notification a method alone.
type message struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id,omitempty"`
	Method  string          `json:"method,omitempty"`
	Params  json.RawMessage `json:"params,omitempty"`
	Result  json.RawMessage `json:"result,omitempty"`
	Error   json.RawMessage `json:"error,omitempty"`
}

func (m *message) isRequest() bool { return m.Method != "" && m.ID != nil }

// endpoint is the address of streamable HTTP, without streams: each answer is one JSON document.
type endpoint struct{ sessions *sessions }

func (e endpoint) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch r.Method {
	case http.MethodPost:
		e.post(w, r)
	case http.MethodDelete:
		e.remove(w, r)
	default:
		w.Header().Set("Allow", "POST, DELETE")
		w.WriteHeader(http.StatusMethodNotAllowed)
	}
}

func (e endpoint) remove(w http.ResponseWriter, r *http.Request) {
	found := e.sessions.find(r.Header.Get(sessionHeader))
	if found == nil {
		refuse(w, http.StatusNotFound, nil, codeInvalid, "there is no such session")
		return
	}
	found.end()
	w.WriteHeader(http.StatusNoContent)
}

func (e endpoint) post(w http.ResponseWriter, r *http.Request) {
	body, err := readBody(w, r)
	if err != nil {
		status := http.StatusBadRequest
		if tooLarge := new(http.MaxBytesError); errors.As(err, &tooLarge) {
			status = http.StatusRequestEntityTooLarge
		}
		refuse(w, status, nil, codeInvalid, "the body cannot be read: "+err.Error())
		return
	}
	var asked message
	if err := json.Unmarshal(body, &asked); err != nil {
		refuse(w, http.StatusBadRequest, nil, codeParse, "the body is not one message of JSON-RPC: "+err.Error())
		return
	}
	if asked.Version != "2.0" {
		refuse(w, http.StatusBadRequest, asked.ID, codeInvalid, `jsonrpc must be "2.0"`)
		return
	}
	s := e.sessionOf(w, r, &asked)
	if s == nil {
		return
	}
	if !asked.isRequest() {
		s.notify(&asked)
		w.WriteHeader(http.StatusAccepted)
		return
	}
	answer, err := s.ask(r.Context(), &asked)
	if err != nil {
		e.fail(w, s, &asked, err)
		return
	}
	if asked.Method == "initialize" {
		w.Header().Set(sessionHeader, s.id)
	}
	write(w, http.StatusOK, answer)
}

// readBody sets a time for the body alone: with one for the whole request, the server would end a long call.
func readBody(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	connection := http.NewResponseController(w)
	connection.SetReadDeadline(time.Now().Add(readTime))
	defer connection.SetReadDeadline(time.Time{})
	return io.ReadAll(http.MaxBytesReader(w, r.Body, longestRequest))
}

// sessionOf writes the refusal where it returns nil.
func (e endpoint) sessionOf(w http.ResponseWriter, r *http.Request, asked *message) *session {
	id := r.Header.Get(sessionHeader)
	if id == "" && asked.Method == "initialize" && asked.isRequest() {
		s, err := e.sessions.begin()
		if err != nil {
			refuse(w, http.StatusServiceUnavailable, asked.ID, codeServerSaysNone, err.Error())
			return nil
		}
		return s
	}
	if id == "" {
		refuse(w, http.StatusBadRequest, asked.ID, codeServerSaysNone, "there is no session: send initialize first")
		return nil
	}
	s := e.sessions.find(id)
	if s == nil {
		// By the protocol a client begins a new session then. Nothing of the message has run.
		refuse(w, http.StatusNotFound, asked.ID, codeInvalid, "there is no such session")
	}
	return s
}

func (e endpoint) fail(w http.ResponseWriter, s *session, asked *message, err error) {
	if errors.Is(err, errBusy) {
		refuse(w, http.StatusServiceUnavailable, asked.ID, codeServerSaysNone, err.Error())
		return
	}
	if asked.Method == "initialize" {
		s.end()
	}
	refuse(w, http.StatusBadGateway, asked.ID, codeServerSaysNone, err.Error())
}

func refuse(w http.ResponseWriter, status int, id json.RawMessage, code int, text string) {
	problem, _ := json.Marshal(map[string]any{"code": code, "message": text})
	if id == nil {
		id = json.RawMessage("null")
	}
	write(w, status, &message{Version: "2.0", ID: id, Error: problem})
}

func write(w http.ResponseWriter, status int, m *message) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(m)
}
