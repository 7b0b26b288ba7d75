package walk

// Engines returns all engines that this system has, the one for daily use first.
func Engines() []Engine { return []Engine{Linux{}, Fastwalk{}} }
