package server

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/hitl-tui/hitl-tui/internal/desk"
)

// metrics are what GET /metrics tells.
type metrics struct {
	requests *prometheus.CounterVec
	duration *prometheus.HistogramVec
	inFlight prometheus.Gauge
	page     http.Handler
}

// scrapeTime bounds how long counting the threads may hold back a scrape.
const scrapeTime = 2 * time.Second

func newMetrics(s *Server) *metrics {
	m := &metrics{
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "hitl_tui_http_requests_total",
			Help: "Requests answered, by route, method and status; 499: the client had left."}, []string{"route", "method", "status"}),
		duration: prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "hitl_tui_http_request_duration_seconds",
			Help: "How long requests took, with the workflow they ran; streams of events are left out.", Buckets: prometheus.ExponentialBuckets(0.0005, 4, 10)}, []string{"route"}),
		inFlight: prometheus.NewGauge(prometheus.GaugeOpts{Name: "hitl_tui_http_requests_in_flight", Help: "Requests being answered."}),
	}
	gauge := func(name, help string, value func() int) prometheus.Collector {
		return prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, func() float64 { return float64(value()) })
	}
	registry := prometheus.NewRegistry()
	registry.MustRegister(m.requests, m.duration, m.inFlight,
		gauge("hitl_tui_runs", "Starts and resumes of this server that run.", s.runs.running),
		gauge("hitl_tui_event_watchers", "Open streams of events.", s.feed.watchers),
		&threadCounts{s.desk, prometheus.NewDesc("hitl_tui_threads", "Threads in the store, by the desk's tabs.", []string{"tab"}, nil)},
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	m.page = promhttp.HandlerFor(registry, promhttp.HandlerOpts{ErrorHandling: promhttp.ContinueOnError})
	return m
}

func (m *metrics) began() { m.inFlight.Inc() }

func (m *metrics) ended(route, method string, status int, took time.Duration) {
	m.inFlight.Dec()
	m.requests.WithLabelValues(route, knownMethod(method), strconv.Itoa(status)).Inc()
	if route != eventsPath {
		m.duration.WithLabelValues(route).Observe(took.Seconds())
	}
}

// knownMethod keeps what a client makes up out of the labels.
func knownMethod(method string) string {
	switch method {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodOptions, http.MethodPut, http.MethodPatch, http.MethodDelete:
		return method
	default:
		return "other"
	}
}

// threadCounts counts the threads when it is asked.
type threadCounts struct {
	desk *desk.Desk
	desc *prometheus.Desc
}

func (t *threadCounts) Describe(to chan<- *prometheus.Desc) { to <- t.desc }

func (t *threadCounts) Collect(to chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), scrapeTime)
	defer cancel()
	counts, err := t.desk.Counts(ctx)
	if err != nil {
		to <- prometheus.NewInvalidMetric(t.desc, err)
		return
	}
	for tab, n := range counts {
		to <- prometheus.MustNewConstMetric(t.desc, prometheus.GaugeValue, float64(n), string(tab))
	}
}

// showMetrics is GET /metrics.
func showMetrics(c *call) (reply, error) {
	c.server.writeWithin(c.w)
	c.server.metrics.page.ServeHTTP(c.w, c.r)
	return reply{}, nil
}
