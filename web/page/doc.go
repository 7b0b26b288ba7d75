// Package page renders the pages: one file per page, each with one function that
// takes the page's view model of model.go. View models are plain data, filled by
// package server; what they mean in words, and how numbers read, is decided here.
//
// Every page is complete without JavaScript: charts are drawn from the JSON that
// stands beside the table with the same numbers.
package page
