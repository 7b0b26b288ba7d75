// Package e2e drives a real browser: journeys through the real program, and
// every page in every state of package pagetest under the content policy.
//
// Pictures of pages that failed a test are kept in the folder failures. Needs
// chromium and, for the rules of accessibility, `npm ci` in web.
package e2e
