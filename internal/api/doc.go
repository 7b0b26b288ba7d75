// Package api is the JSON API, version 1: what scripts, dashboards and other
// programs read and start. Its shapes are stable, documented by an OpenAPI
// document that is made from the code and committed as docs/openapi.json.
//
// Rules of every answer: counts and bytes are integers with exact digits, which
// may exceed 2^53 and even 2^64; shares are 0..1; times are RFC 3339 in UTC; a
// day is the date of a scan in the site's zone; names are escaped as package
// usage does it, and filters take that form; what is unknown is null or absent,
// never 0. Lists also come as CSV. Errors are problem documents (RFC 9457) that
// name the parameter.
package api
