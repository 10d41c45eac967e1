package scripted

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

// maxRequest bounds a request's body, in bytes.
const maxRequest = 64 << 20

// Option changes how a server runs.
type Option func(*Server)

// WithAddress listens at a fixed address, e.g. "127.0.0.1:8089". Default: a
// free port of the loopback interface.
func WithAddress(address string) Option { return func(s *Server) { s.address = address } }

// Server is a model that follows a script. Safe for concurrent use.
type Server struct {
	address string
	script  *Script
	http    *http.Server
	at      net.Listener
	done    chan struct{}

	mu       sync.Mutex
	used     []int // requests answered, by turn
	requests []Request
	gone     []Disconnect
	changed  chan struct{} // closed and replaced when requests or gone grow
}

// Request is one that came.
type Request struct {
	Turn     string // that answered; "" when none fitted
	Model    string
	Messages []Message
	Body     json.RawMessage
	Header   http.Header // without keys
	Time     time.Time
}

// Message is one message of a request. Text joins the text parts.
type Message struct {
	Role string
	Text string
}

// Disconnect says that a client closed its connection before its answer ended.
type Disconnect struct {
	Request int // index in Requests
	Time    time.Time
}

// Start checks the script and serves it until Close.
func Start(script *Script, opts ...Option) (*Server, error) {
	prepared, err := script.prepared()
	if err != nil {
		return nil, err
	}
	s := &Server{address: "127.0.0.1:0", script: prepared, done: make(chan struct{}), used: make([]int, len(prepared.Turns)), changed: make(chan struct{})}
	for _, opt := range opts {
		opt(s)
	}
	if s.at, err = new(net.ListenConfig).Listen(context.Background(), "tcp", s.address); err != nil { // which waits for nothing
		return nil, fmt.Errorf("scripted model: %w", err)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/chat/completions", s.answer)
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		refuse(w, http.StatusNotFound, "the scripted model serves POST /v1/chat/completions only, not "+r.Method+" "+r.URL.Path)
	})
	s.http = &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	go func() {
		defer close(s.done)
		// Serve returns when Close closes the listener; nothing else ends it.
		_ = s.http.Serve(s.at)
	}()
	return s, nil
}

// URL is the base URL for a model's definition.
func (s *Server) URL() string { return "http://" + s.at.Addr().String() + "/v1" }

// Close ends all connections and waits for the server's goroutine.
func (s *Server) Close() error {
	err := s.http.Close()
	<-s.done
	return err
}

// Requests gives what came so far, in order.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

// Disconnected gives the clients that went away in mid-answer so far.
func (s *Server) Disconnected() []Disconnect {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.gone)
}

// Changed is closed when a request comes, or a client goes away, after the
// call: get it first, then look, then wait.
func (s *Server) Changed() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.changed
}

// change needs s.mu.
func (s *Server) change() {
	close(s.changed)
	s.changed = make(chan struct{})
}

// answer is one request.
func (s *Server) answer(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxRequest))
	if err != nil {
		refuse(w, http.StatusBadRequest, "the request can't be read: "+err.Error())
		return
	}
	req, err := readRequest(body)
	if err != nil {
		refuse(w, http.StatusBadRequest, err.Error())
		return
	}
	req.Header, req.Time = withoutKeys(r.Header), time.Now()
	reply, index := s.take(req)
	if reply == nil {
		refuse(w, http.StatusBadRequest, s.unmatched(req))
		return
	}
	p := player{w: w, r: r, reply: reply, model: req.Model}
	if err := p.play(); errors.Is(err, errClientGone) {
		s.mu.Lock()
		s.gone = append(s.gone, Disconnect{Request: index, Time: time.Now()})
		s.change()
		s.mu.Unlock()
	}
}

// take records the request and finds its reply; nil when no turn fits.
func (s *Server) take(req *Request) (*Reply, int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	defer s.change()
	var reply *Reply
	for i := range s.script.Turns {
		t := &s.script.Turns[i]
		if !t.fits(req) || (!t.Repeat && s.used[i] >= t.Times) {
			continue
		}
		reply = &t.Replies[min(s.used[i], len(t.Replies)-1)]
		s.used[i]++
		req.Turn = t.Name
		break
	}
	s.requests = append(s.requests, *req)
	return reply, len(s.requests) - 1
}

// unmatched says what was asked and which turns there are.
func (s *Server) unmatched(req *Request) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var turns []string
	for i, t := range s.script.Turns {
		state := "open"
		if !t.Repeat && s.used[i] >= t.Times {
			state = "used up"
		}
		turns = append(turns, fmt.Sprintf("%s (%s)", t.Name, state))
	}
	last := req.lastUser()
	if len(last) > 200 {
		last = strings.ToValidUTF8(last[:200], "") + "…"
	}
	return fmt.Sprintf("no turn of the script fits: model %q, step %d, last user message %q; turns: %s",
		req.Model, req.step(), last, strings.Join(turns, ", "))
}

func refuse(w http.ResponseWriter, status int, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	b, err := json.Marshal(object{"error": object{"message": message, "type": "invalid_request_error", "code": "script"}})
	if err != nil { // strings always encode
		return
	}
	_, _ = w.Write(b) // whoever asked may have gone
}
