package embeddedpg

import "time"

// order is what fstally tells the supervisor: one JSON object on its standard
// input, which then stays open and silent for as long as Postgres is wanted.
type order struct {
	Folder        string  // absolute path of the folder that is open as descriptor folderFD
	Account       account // who to become
	Client        string  // OS user name that Postgres admits
	BinariesPath  string
	Downloads     string // directory of earlier downloads, and of those to come
	AllowDownload bool
	DownloadURL   string
	Loading       bool // a new database is filled, which needs no log for replicas
}

// folderFD is the descriptor under which the supervisor and every Postgres
// process have the folder open.
const folderFD = 3

// event is what the supervisor tells fstally: JSON objects on its standard
// output. Exactly one field is set.
type event struct {
	Progress *progress `json:",omitempty"`
	Started  *started  `json:",omitempty"` // a postmaster runs, though it may not take connections yet
	Failed   *failed   `json:",omitempty"` // Postgres is not there (any more), unasked
}

// progress is what the supervisor is about to do.
type progress struct {
	Text  string
	Limit time.Duration // how long it may take, 0: Config.StartTimeout
}

type started struct {
	PID       int
	Version   string // as in 15.18
	Binaries  string // directory
	SocketDir string
}

type failed struct {
	Kind    string // see kindName
	Message string
}
