package postgres

import "fstally/internal/usage"

// What tests look at from outside.
var (
	MigrateFiles = migrate
	MarginalsSQL = marginalsSQL
	HistorySQL   = historySQL
	WholeNumber  = wholeNumber
)

// TableSQL returns the statement and arguments of a query of a scan.
func TableSQL(scan usage.Scan, scanTier int16, q usage.Query) (string, any, error) {
	return tableSQL(storedScan{Scan: scan, tier: Tier(scanTier)}, q)
}
