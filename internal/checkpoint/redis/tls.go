package redis

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/url"
	"time"

	"github.com/redis/go-redis/v9"
)

// handshakeWait is how long a server may take to answer the beginning of TLS. One that speaks none waits for more of what it
// takes for a command.
const handshakeWait = 3 * time.Second

// speechError says that one side speaks TLS and the other does not, and what URL to write.
type speechError struct{ text string }

func (e *speechError) Error() string { return e.text }

// dialer connects as the client would itself, but tells a server that speaks no TLS from one that is not there.
func dialer(o *redis.Options) func(ctx context.Context, network, addr string) (net.Conn, error) {
	plain := &net.Dialer{Timeout: cmp.Or(o.DialTimeout, 5*time.Second)}
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		conn, err := plain.DialContext(ctx, network, addr)
		if err != nil || o.TLSConfig == nil {
			return conn, err
		}
		encrypted, err := shakeHands(ctx, conn, o.TLSConfig)
		if err == nil {
			return encrypted, nil
		}
		conn.Close()
		var record tls.RecordHeaderError
		if errors.As(err, &record) || ctx.Err() == nil && errors.Is(err, context.DeadlineExceeded) {
			err = &speechError{"it does not speak TLS; write redis://, or name its port for TLS"}
		}
		return nil, err
	}
}

func shakeHands(ctx context.Context, conn net.Conn, config *tls.Config) (*tls.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, handshakeWait)
	defer cancel()
	encrypted := tls.Client(conn, config)
	return encrypted, encrypted.HandshakeContext(ctx)
}

// speaksTLS asks a server that did not answer as Redis does, over a connection without TLS, whether it speaks TLS. err is what
// came of that.
func (s *Store) speaksTLS(ctx context.Context, err error) bool {
	o := s.address.options
	var reply redis.Error
	var network net.Error
	ended := errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
	if err == nil || o.TLSConfig != nil || unreachable(err) || errors.As(err, &reply) || !ended && errors.As(err, &network) && network.Timeout() {
		return false
	}
	conn, err := dialer(o)(ctx, o.Network, o.Addr)
	if err != nil {
		return false
	}
	defer conn.Close()
	// Nothing is sent to it, so whoever it is may answer.
	_, err = shakeHands(ctx, conn, &tls.Config{InsecureSkipVerify: true})
	return err == nil
}

// encrypted is the URL of this store over TLS.
func (a address) encrypted() string {
	u, err := url.Parse(a.shown)
	if err != nil {
		return "rediss://"
	}
	u.Scheme = "rediss"
	return u.String()
}
