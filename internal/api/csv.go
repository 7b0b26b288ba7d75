package api

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"
)

const csvType = "text/csv"

// table is an answer that is a list, and so can be written as CSV. Names of
// columns tell the unit.
type table interface {
	columns() []string
	rows() [][]cell
}

// cell is one value of a table, written as it is.
type cell string

// text returns a cell for text from outside. A spreadsheet would run what looks
// like a formula, so such a text gets an apostrophe in front.
func text(s string) cell {
	if s != "" && strings.ContainsRune("=+-@\t\r", rune(s[0])) {
		return cell("'" + s)
	}
	return cell(s)
}

// number returns a cell for a whole number; a minus sign is no formula.
func number(n any) cell { return cell(fmt.Sprint(n)) }

// share returns a cell for a share, in digits without an exponent.
func share(s float64) cell { return cell(strconv.FormatFloat(s, 'f', -1, 64)) }

// writeCSV writes a table with a head line, and everything else, which is never
// sent as CSV, as JSON: see negotiation.SetStatus.
func writeCSV(w io.Writer, v any) error {
	t, ok := v.(table)
	if !ok {
		return huma.DefaultJSONFormat.Marshal(w, v)
	}
	out := csv.NewWriter(w)
	if err := out.Write(t.columns()); err != nil {
		return fmt.Errorf("write CSV: %w", err)
	}
	for _, row := range t.rows() {
		record := make([]string, len(row))
		for i, c := range row {
			record[i] = string(c)
		}
		if err := out.Write(record); err != nil {
			return fmt.Errorf("write CSV: %w", err)
		}
	}
	out.Flush()
	return out.Error()
}

// refuseCSV is the answer to a request whose body says to be CSV.
func refuseCSV([]byte, any) error {
	return fmt.Errorf("%w: %s: send JSON", huma.ErrUnknownContentType, csvType)
}

// FormatParam is the parameter of every list.
type FormatParam struct {
	Format string `query:"format" enum:"json,csv" doc:"The form of the answer, instead of the Accept header."`
}

// negotiate lets format= decide over Accept, keeps CSV to the lists, and keeps
// errors problem documents whatever was asked for.
func negotiate(api huma.API) func(huma.Context, func(huma.Context)) {
	return func(ctx huma.Context, next func(huma.Context)) {
		n := &negotiation{exchange: ctx, accept: "application/json"}
		if list, _ := ctx.Operation().Metadata[csvType].(bool); list {
			switch ctx.Query("format") {
			case "csv":
				n.accept, n.download = csvType, true
			case "":
				n.accept = ctx.Header("Accept")
			}
		}
		chosen, err := api.Negotiate(n.accept)
		n.csv = err == nil && chosen == csvType
		next(n)
	}
}

// exchange has a name that does not hide its own method Context when embedded.
type exchange = huma.Context

// negotiation is a request whose Accept header is settled.
type negotiation struct {
	exchange
	accept   string
	csv      bool
	download bool
}

// Unwrap returns the request as it came.
func (n *negotiation) Unwrap() huma.Context { return n.exchange }

// Header returns a header of the request.
func (n *negotiation) Header(name string) string {
	if strings.EqualFold(name, "Accept") {
		return n.accept
	}
	return n.exchange.Header(name)
}

// SetStatus is the last moment to set headers of the answer.
func (n *negotiation) SetStatus(code int) {
	n.SetHeader("Vary", "Accept")
	switch {
	case code >= http.StatusBadRequest:
		n.SetHeader("Content-Type", problemType)
	case n.csv:
		n.SetHeader("Content-Type", csvType+"; charset=utf-8; header=present")
		if n.download {
			n.SetHeader("Content-Disposition", fmt.Sprintf(`attachment; filename="%s.csv"`, n.Operation().OperationID))
		}
	}
	n.exchange.SetStatus(code)
}

var errNotText = errors.New("must be as the API writes it: other bytes than plain text are written \\xHH")
