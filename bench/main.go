// Command bench measures what this program promises to be fast, each against what limits it or against a peer, and
// prints one table. Pairs are measured alternately, round by round, in one run: figures of a shared machine say little,
// their ratios more. It is no test and fails on no time.
package main

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"text/tabwriter"
	"time"
)

// row is one line of the table.
type row struct {
	name   string
	target string // what is aimed at, in words
	ours   string // what is measured
	peer   string // and against what, "" for nothing
	rounds int    // how often the two take turns
	calls  int    // calls in a round
	share  int    // of how many things a call is, of which the table shows one; 0 is one
	setup  func(dir string) (*pair, error)

	// Or, of what has turns of its own: the times of single calls.
	whole func(dir string) (*turns, error)

	// Or, of what is counted rather than timed, once: the two numbers, in unit.
	count func(dir string) (ours, peer int64, err error)
	unit  string
}

// pair are the two things that take turns. peer is nil where there is nothing to compare with.
type pair struct {
	ours, peer func() error
	between    func() error // what follows a call of ours and is not measured; may be nil
	after      func() error // the same of the peer
	close      func() error
}

// turns are the times that two things took which took turns. against is what the peer is, where the row does not know.
type turns struct {
	ours, peer times
	against    string
}

// notMeasured is the error of a row for which something is missing here: the row says so.
type notMeasured string

func (m notMeasured) Error() string { return "not measured: " + string(m) }

// rows is the table, one file for each group. scale is the part of their size that large stores are to have.
func rows(scale float64) []row {
	return slices.Concat(storeRows(), backendRows(), sizeRows(scale), saverRows(), engineRows(), flatRows(), fileRows(), screenRows(), startRows(scale), httpRows())
}

func main() {
	only := flag.String("run", "", "measure only rows whose name matches this regular expression")
	dir := flag.String("dir", "", "folder for the files that are written, on the disk to measure (default: the temporary folder)")
	scale := flag.Float64("scale", 1, "part of its size that a store of 100k threads or more is filled to: 0.1 for a tenth")
	flag.Parse()
	if err := run(*only, *dir, *scale); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(only, dir string, scale float64) error {
	match, err := regexp.Compile(only)
	if err != nil {
		return err
	}
	work, err := os.MkdirTemp(dir, "hitl-tui-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	table := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "row\tmeasured\tp50\tp99\tagainst\tp50\tratio\taim")
	for i, r := range rows(scale) {
		if !match.MatchString(r.name) {
			continue
		}
		folder := filepath.Join(work, fmt.Sprint(i))
		if err := os.Mkdir(folder, 0o700); err != nil {
			return err
		}
		fmt.Fprintln(os.Stderr, r.name)
		var missing notMeasured
		switch err := r.measure(table, folder); {
		case errors.As(err, &missing):
			fmt.Fprintf(table, "%s\t%s\t\t\t\t\t\t%s\n", r.name, missing, r.target)
		case err != nil:
			return fmt.Errorf("%s: %w", r.name, err)
		}
		if err := os.RemoveAll(folder); err != nil {
			return err
		}
	}
	return table.Flush()
}

func (r *row) measure(table *tabwriter.Writer, dir string) (err error) {
	if r.count != nil {
		return r.counted(table, dir)
	}
	if r.whole != nil {
		t, err := r.whole(dir)
		if err == nil {
			r.print(table, t)
		}
		return err
	}
	p, err := r.setup(dir)
	if err != nil {
		return err
	}
	defer func() {
		if e := p.close(); err == nil {
			err = e
		}
	}()
	var t turns
	for range r.rounds {
		if err := t.ours.take(r, p.ours, p.between); err != nil {
			return err
		}
		if p.peer == nil {
			continue
		}
		if err := t.peer.take(r, p.peer, p.after); err != nil {
			return err
		}
	}
	r.print(table, &t)
	return nil
}

func (r *row) print(table *tabwriter.Writer, t *turns) {
	fmt.Fprintf(table, "%s\t%s\t%s\t%s\t", r.name, r.ours, t.ours.at(0.5), t.ours.at(0.99))
	if len(t.peer) == 0 {
		fmt.Fprintf(table, "\t\t\t%s\n", r.target)
		return
	}
	fmt.Fprintf(table, "%s\t%s\t%.2f\t%s\n", cmp.Or(t.against, r.peer), t.peer.at(0.5), float64(t.ours.at(0.5))/float64(t.peer.at(0.5)), r.target)
}

func (r *row) counted(table *tabwriter.Writer, dir string) error {
	ours, peer, err := r.count(dir)
	if err != nil {
		return err
	}
	ratio := "-"
	if peer != 0 {
		ratio = fmt.Sprintf("%.2f", float64(ours)/float64(peer))
	}
	fmt.Fprintf(table, "%s\t%s\t%d %s\t\t%s\t%d %s\t%s\t%s\n", r.name, r.ours, ours, r.unit, r.peer, peer, r.unit, ratio, r.target)
	return nil
}

// times are the durations of single calls.
type times []time.Duration

func (t *times) take(r *row, fn, between func() error) error {
	for range r.calls {
		start := time.Now()
		if err := fn(); err != nil {
			return err
		}
		*t = append(*t, time.Since(start)/time.Duration(max(r.share, 1)))
		if between == nil {
			continue
		}
		if err := between(); err != nil {
			return err
		}
	}
	return nil
}

func (t times) at(quantile float64) time.Duration {
	if len(t) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(t))
	return sorted[int(float64(len(sorted)-1)*quantile)].Round(100 * time.Nanosecond)
}
