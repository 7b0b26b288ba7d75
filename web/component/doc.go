// Package component holds the parts that the pages are put together from: the
// frame with its top bar and navigation, cards, tables of a ranking, charts with
// the table beside them, and the few numbers that need more than a formatter of
// package usage. Parts get typed data and know nothing of HTTP or the store.
//
// Two rules hold for every part, so that the strict content policy of the site
// (script-src 'self'; style-src 'self') has no exception: no inline script and
// no style attribute; and every address is made by Frame, so that a site under
// a base path works.
package component
