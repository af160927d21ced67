// Package monitoring holds the alerts and the dashboard of monitoring/ against Prometheus itself: its parser reads every
// query, and its promtool plays the alerts' tests. It is a module of its own so that nobody who needs Rollcall needs
// Prometheus.
//
// What the queries ask for must be there. test/integration/metrics keeps a list of series that the operator really
// serves (monitoring/series.txt); every selector of a query has to match one of them.
package monitoring
