// Command preview serves every page in every state with invented data, under the
// content policy of the real server, for those who work on the looks:
//
//	go run ./web/preview        # then open the address that it logs
package main

import (
	"flag"
	"log/slog"
	"net/http"
	"time"

	"fstally/web/page/pagetest"
)

func main() {
	listen := flag.String("listen", "127.0.0.1:8081", "address to listen on")
	flag.Parse()
	server := http.Server{Addr: *listen, Handler: pagetest.Handler(), ReadHeaderTimeout: time.Minute}
	slog.Info("the pages are at http://" + *listen + "/")
	slog.Error("the preview ends", "error", server.ListenAndServe())
}
