// Package schedule says when scans are due. It is pure: the clock and the zone
// are arguments.
//
// A plan is written as people say it ("nightly 01:30", "weekly sun 22:00",
// "every 6h") or as the five fields of cron. All but "every" are in civil time,
// the time that the clocks of the zone show, and follow it over its jumps:
//
//   - A time that a day does not have, because clocks were put forward over it,
//     is due at the moment of the jump: a nightly scan at 02:30 is not lost in
//     spring.
//   - A time that a day has twice, because clocks were put back, is due the first
//     time only: a nightly scan at 02:30 does not run twice in autumn.
//
// So a plan of one time a day has exactly one occurrence on each date of the
// zone. "every" counts instants, whatever clocks show.
//
// The fields of cron are read by robfig/cron's parser. Its calculation of the next
// time is not used: it passes over times that do not exist, takes those that exist
// twice twice, and has no occurrence on a day whose midnight does not exist.
package schedule
