package embeddedpg

// Parts that the tests look at from outside.
var (
	ServersIn      = serversIn
	ParseVersion   = parseVersion
	SocketPathFits = socketPathFits
)

// NewestMajor is the major version that a start without data would choose
// among programs of these versions, 0 for none; dataMajor as for the data.
func ChosenMajor(dataMajor int, majors ...int) int {
	var found []installation
	for _, m := range majors {
		found = append(found, installation{major: m})
	}
	in, _ := chooseInstallation(found, dataMajor)
	return in.major
}

// LogLimit is the size of one log file.
const LogLimit = logLimit

// NewLog opens a log of Postgres.
func NewLog(path string) *boundedLog { return &boundedLog{path: path} }

// Tail is what error messages quote of it.
func (l *boundedLog) Tail() string { return l.tail.String() }
