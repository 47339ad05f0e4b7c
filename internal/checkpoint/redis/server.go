package redis

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/redis/go-redis/v9"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
)

// oldest is the first version of Redis with scripts that are refused whole.
const oldest = 7

// facts are what INFO tells of a server.
type facts map[string]string

func parseInfo(text string) facts {
	f := make(facts)
	for lines := bufio.NewScanner(strings.NewReader(text)); lines.Scan(); {
		if name, value, found := strings.Cut(lines.Text(), ":"); found {
			f[name] = value
		}
	}
	return f
}

// refuse says why the server can keep no store.
func (f facts) refuse(readOnly bool) error {
	major, _, _ := strings.Cut(f["redis_version"], ".")
	switch version, err := strconv.Atoi(major); {
	case f["cluster_enabled"] == "1":
		return errors.New("it is a Redis Cluster, in which a write cannot be atomic over the keys of a thread; use a single server, with replicas if you like")
	case err != nil || version < oldest:
		return fmt.Errorf("it is Redis %q; version %d or newer is needed", f["redis_version"], oldest)
	case f["maxmemory_policy"] != "noeviction":
		return fmt.Errorf("its maxmemory-policy is %q: it would throw threads away when memory is short; set it to noeviction "+
			"(CONFIG SET maxmemory-policy noeviction, and in redis.conf) or use a server of its own", f["maxmemory_policy"])
	case f["role"] != "master" && !readOnly:
		return fmt.Errorf("%w: it is a replica; name its master, %s:%s", checkpoint.ErrReadOnly, f["master_host"], f["master_port"])
	default:
		return nil
	}
}

// warn tells what the server may lose. fsync is its appendfsync, "" where it does not tell.
func (f facts) warn(fsync string) string {
	switch {
	case f["aof_enabled"] != "1":
		return "Redis keeps no append-only file, so a crash of the server loses decisions: set appendonly yes and appendfsync always"
	case fsync != "always" && fsync != "":
		return fmt.Sprintf("Redis syncs its append-only file %q, so a power cut loses the last decisions: set appendfsync always", fsync)
	default:
		return ""
	}
}

// examine looks whether the server can keep a store.
func (s *Store) examine(ctx context.Context) error {
	text, err := s.info(ctx)
	if err != nil {
		return err
	}
	f := parseInfo(text)
	if err := f.refuse(s.o.ReadOnly); err != nil {
		return err
	}
	fsync := ""
	if config, err := s.client.ConfigGet(ctx, "appendfsync").Result(); err == nil { // servers that are rented out often forbid it
		fsync = config["appendfsync"]
	}
	if warning := f.warn(fsync); warning != "" {
		s.warnings = append(s.warnings, warning)
	}
	return nil
}

// info asks the server what it is. A server that is not there is refused at once: at the start an address is wrong more often
// than a server away for a moment.
func (s *Store) info(ctx context.Context) (text string, err error) {
	var refused error
	asked := false
	err = s.patiently(ctx, func() (err error) {
		text, err = s.client.Info(ctx).Result()
		if !asked && s.speaksTLS(ctx, err) {
			err = &speechError{"it speaks TLS; write " + s.address.encrypted()}
		}
		asked = true
		if unreachable(err) {
			refused, err = err, nil
		}
		return err
	})
	if refused != nil {
		err = s.classify(ctx, refused)
	}
	return text, err
}

// permitted looks whether the user of the connection may write.
func (s *Store) permitted(ctx context.Context) error {
	if s.o.ReadOnly {
		return nil
	}
	reply, err := s.run(ctx, s.scripts.permitted, []string{s.keys.store()}, s.keys.changes())
	if err != nil {
		return err
	}
	var denied []string
	for _, command := range reply {
		denied = append(denied, text(command))
	}
	if i := slices.Index(denied, "PUBLISH"); i >= 0 {
		s.warnings = append(s.warnings, "the Redis user may not publish, so others see changes only when they look, every few seconds: "+
			"allow it the channel "+s.keys.changes())
		denied = slices.Delete(denied, i, i+1)
	}
	if len(denied) > 0 {
		return fmt.Errorf("the Redis user may not use %s on keys with the prefix %s: allow it, as in ACL SETUSER name ~%[2]s* &%[2]s* +@all",
			strings.Join(denied, ", "), string(s.keys))
	}
	return nil
}

// The store's mark: what it is, and the newest schema this program knows.
const (
	application   = "hitl-tui"
	schemaVersion = 1
)

// schema checks the store's mark and sets it where there is none. Of several that set it at once the first stays.
func (s *Store) schema(ctx context.Context) error {
	return s.patiently(ctx, func() error {
		mark := s.client.HGetAll(ctx, s.keys.store())
		switch {
		case mark.Err() != nil:
			return mark.Err()
		case len(mark.Val()) > 0:
			return checkMark(mark.Val())
		case s.o.ReadOnly || s.o.Existing:
			return &checkpoint.AbsentError{Store: s.URL()}
		}
		_, err := s.client.TxPipelined(ctx, func(p redis.Pipeliner) error {
			p.HSetNX(ctx, s.keys.store(), "application", application)
			p.HSetNX(ctx, s.keys.store(), "schema", schemaVersion)
			mark = p.HGetAll(ctx, s.keys.store())
			return nil
		})
		if err != nil {
			return err
		}
		return checkMark(mark.Val())
	})
}

func checkMark(mark map[string]string) error {
	schema, err := strconv.Atoi(mark["schema"])
	switch {
	case mark["application"] != application || err != nil:
		return fmt.Errorf("%w: another program uses keys with this prefix; give the store one of its own, as in ?prefix=desk:", checkpoint.ErrForeign)
	case schema > schemaVersion:
		return fmt.Errorf("%w: its schema is %d, this program knows %d; use the newer program", checkpoint.ErrNewerSchema, schema, schemaVersion)
	default:
		return nil
	}
}
