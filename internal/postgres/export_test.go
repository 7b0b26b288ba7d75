package postgres

import "fstally/internal/usage"

// What tests look at from outside.
var (
	MigrateFiles     = migrate
	MarginalsSQL     = marginalsSQL
	ScanMarginalsSQL = scanMarginalsSQL
	HistorySQL       = historySQL
	ExcerptSQL       = excerptSQL
	WholeNumber      = wholeNumber
)

// TableSQL returns the statement and arguments of a query of a scan.
func TableSQL(scan usage.Scan, scanTier int16, q usage.Query) (string, any, error) {
	return tableSQL(storedScan{Scan: scan, tier: Tier(scanTier)}, q)
}
