//go:build linux && integration

package escape

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// newDecoys listens on every kind of socket that code might find.
func newDecoys(t *testing.T, dir string) *decoys {
	d := &decoys{unix: filepath.Join(dir, "socket"), abstract: fmt.Sprintf("troupe-escape-%d", os.Getpid())}
	d.who.Store("")
	var all sync.WaitGroup
	var closers []func() error
	for _, l := range []struct{ network, address string }{{"tcp", "127.0.0.1:0"}, {"unix", d.unix}, {"unix", "@" + d.abstract}} {
		var config net.ListenConfig
		listener, err := config.Listen(t.Context(), l.network, l.address)
		require.NoError(t, err)
		closers = append(closers, listener.Close)
		if l.network == "tcp" {
			d.tcp = listener.Addr().String()
		}
		all.Go(func() {
			for {
				c, err := listener.Accept()
				if err != nil {
					return // closed
				}
				d.meet(l.network + " " + l.address)
				c.Close()
			}
		})
	}
	require.NoError(t, os.Chmod(d.unix, 0o777))
	udp, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	require.NoError(t, err)
	closers = append(closers, udp.Close)
	d.udp = udp.LocalAddr().String()
	all.Go(func() {
		for {
			if _, _, err := udp.ReadFrom(make([]byte, 1500)); err != nil {
				return // closed
			}
			d.meet("udp")
		}
	})
	t.Cleanup(func() {
		for _, c := range closers {
			require.NoError(t, c())
		}
		all.Wait()
	})
	return d
}

func (d *decoys) meet(who string) {
	d.who.Store(who)
	d.met.Add(1)
}

// TestDecoysNotice proves the watch: what attacks try is seen when it works.
func TestDecoysNotice(t *testing.T) {
	o := newOutside(t)
	before := o.state(t, o.tree, o.cache)
	for _, to := range [][2]string{{"tcp", o.decoys.tcp}, {"udp", o.decoys.udp}, {"unix", o.decoys.unix}, {"unix", "@" + o.decoys.abstract}} {
		met := o.decoys.met.Load()
		var d net.Dialer
		c, err := d.DialContext(t.Context(), to[0], to[1])
		require.NoError(t, err)
		if to[0] == "udp" {
			_, err = c.Write([]byte("x"))
			require.NoError(t, err)
		}
		require.Eventually(t, func() bool { return o.decoys.met.Load() > met }, waitTime, pollTime, "%v", to)
		c.Close()
	}
	canary := filepath.Join(o.tree, "canary")
	for name, change := range map[string]func() error{
		"content": func() error { return os.WriteFile(canary, []byte("canarY "+secret), 0o600) },
		"mode":    func() error { return os.Chmod(canary, 0o777) },
		"file":    func() error { return os.WriteFile(filepath.Join(o.tree, mark), nil, 0o600) },
		"remove":  func() error { return os.Remove(filepath.Join(o.tree, "folder/canary")) },
	} {
		require.NoError(t, change(), name)
		after := o.state(t, o.tree, o.cache)
		require.NotEqual(t, before, after, name)
		before = after
	}
	f, err := os.Open(canary)
	require.NoError(t, err)
	require.NotEqual(t, before, o.state(t, o.tree, o.cache), "a descriptor stays open")
	require.NoError(t, f.Close())
	require.Equal(t, before, o.state(t, o.tree, o.cache))
}
