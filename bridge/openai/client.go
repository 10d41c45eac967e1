package openai

import (
	"context"
	"crypto/tls"
	"errors"
	"log/slog"
	"math"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	gopenai "github.com/sashabaranov/go-openai"

	"github.com/troupe-go/troupe/actors/model"
	"github.com/troupe-go/troupe/actors/system"
	"github.com/troupe-go/troupe/messages"
)

// Defaults of ModelConfig that this package applies.
const (
	DefaultTemperature      = 0.1
	DefaultTopP             = 0.95
	DefaultTimeout          = 600 * time.Second
	DefaultFirstByteTimeout = 60 * time.Second
	DefaultTokenTimeout     = 60 * time.Second
)

// connectTimeout bounds the TCP and the TLS handshake, each (nexent-core §11.1).
const connectTimeout = 10 * time.Second

// Config makes a Client.
type Config struct {
	Model  messages.ModelConfig
	World  system.World // default: the real one
	Logger *slog.Logger // default: discards
	// Proxy picks a proxy for a request; nil: none. http.ProxyFromEnvironment
	// reads the standard variables, for whoever may read the environment.
	Proxy func(*http.Request) (*url.URL, error)
}

// Client asks one model. It is safe for concurrent use; Close lets go of its
// idle connections.
type Client struct {
	cfg      messages.ModelConfig
	world    system.World
	log      *slog.Logger
	endpoint endpoint
	head     head
	limits   limits
	secrets  scrubber
	http     *http.Client
}

var _ model.Client = (*Client)(nil)

// New checks the definition and makes a client; nothing is sent. What doesn't
// fit is a Fault with code model_invalid_config that names the key.
func New(cfg Config) (*Client, error) {
	m := cfg.Model
	at, err := newEndpoint(m)
	if err != nil {
		return nil, err
	}
	if err := checkHeaders(m); err != nil {
		return nil, err
	}
	head, err := newHead(m)
	if err != nil {
		return nil, err
	}
	c := &Client{cfg: m, world: cfg.World, log: cfg.Logger, endpoint: at, head: head, limits: newLimits(m), secrets: newScrubber(m)}
	if c.world == nil {
		c.world = system.RealWorld()
	}
	if c.log == nil {
		c.log = slog.New(slog.DiscardHandler)
	}
	c.http = newHTTP(m, cfg.Proxy)
	return c, nil
}

// newHTTP makes the client's own connections. Redirects aren't followed: they
// would carry keys to another place.
func newHTTP(m messages.ModelConfig, proxy func(*http.Request) (*url.URL, error)) *http.Client {
	verify := m.SSLVerify == nil || *m.SSLVerify
	return &http.Client{
		Transport: &http.Transport{
			Proxy:               proxy,
			DialContext:         (&net.Dialer{Timeout: connectTimeout, KeepAlive: 30 * time.Second}).DialContext,
			TLSClientConfig:     &tls.Config{InsecureSkipVerify: !verify}, //nolint:gosec // ssl_verify: false asks for it
			TLSHandshakeTimeout: connectTimeout,
			ForceAttemptHTTP2:   true,
			MaxIdleConnsPerHost: 64,
			IdleConnTimeout:     90 * time.Second,
			DisableCompression:  true, // a compressed stream waits in buffers
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// Close lets go of idle connections. Calls that run go on.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// Stream implements model.Client: one request, no second one.
func (c *Client) Stream(ctx context.Context, req *model.Request, on func(model.Delta)) (*model.Reply, error) {
	body, err := c.newBody(req)
	if err != nil {
		return nil, err
	}
	run, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	w := newWatch(c.world, c.limits, cancel)
	defer w.stop()

	ex := &exchange{client: c, body: body, watch: w, plain: req.NoSampling}
	reply, err := c.read(run, ex, on)
	if errors.Is(err, errFiltered) { // said by a status instead of a finish_reason
		return &model.Reply{FinishReason: finishFiltered}, nil
	}
	if err != nil {
		return nil, c.explain(ctx, run, err)
	}
	if !ex.usageKnown {
		reply.Usage = c.estimate(req, reply)
	}
	return reply, nil
}

// read runs the exchange through go-openai and assembles what comes. The
// request given to it is empty, which passes its opinions on model names: the
// exchange writes the real one.
func (c *Client) read(ctx context.Context, ex *exchange, on func(model.Delta)) (*model.Reply, error) {
	cfg := gopenai.DefaultConfig(c.cfg.APIKey.Reveal())
	cfg.BaseURL = c.endpoint.base
	cfg.HTTPClient = ex
	cfg.EmptyMessagesLimit = math.MaxUint
	stream, err := gopenai.NewClientWithConfig(cfg).CreateChatCompletionStream(ctx, gopenai.ChatCompletionRequest{})
	if err != nil {
		return nil, err
	}
	defer stream.Close()

	a := &assembly{client: c, on: on}
	for {
		raw, err := stream.RecvRaw()
		if err != nil {
			ex.drain()
			return c.finish(ex, a, err)
		}
		if err := a.add(raw); err != nil {
			return nil, err
		}
		if a.finish != "" {
			ex.watch.settle(afterFinish)
		}
	}
}

// endpoint is where requests go. The URL of a definition may have a query
// (api-version=…) and may end in /chat/completions already.
type endpoint struct {
	base  string
	query string
}

const completionsPath = "/chat/completions"

func newEndpoint(m messages.ModelConfig) (endpoint, error) {
	u, err := url.Parse(m.URL)
	if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
		return endpoint{}, misconfigured(m, "url must be an http or https address such as https://api.example.com/v1", "url 必须是 http 或 https 地址，例如 https://api.example.com/v1")
	}
	at := endpoint{query: u.RawQuery}
	u.RawQuery, u.Fragment = "", ""
	at.base = strings.TrimSuffix(strings.TrimRight(u.String(), "/"), completionsPath)
	return at, nil
}
