// Command preview serves every page in every state with invented data, under the
// content policy of the real server, for those who work on the looks:
//
//	go run ./web/preview        # then open the address that it logs
package main

import (
	"flag"
	"log/slog"
	"net/http"
	"os"
	"time"

	"fstally/web/page/pagetest"
)

func main() {
	listen := flag.String("listen", "127.0.0.1:8081", "address to listen on")
	flag.Parse()
	server := http.Server{Addr: *listen, Handler: pagetest.Handler(), ReadHeaderTimeout: time.Minute}
	log := slog.New(slog.NewTextHandler(os.Stderr, nil)) //nolint:forbidigo // a tool for developers, alone in its process
	log.Info("the pages are ready", "address", "http://"+*listen+"/")
	log.Error("the preview ends", "error", server.ListenAndServe())
}
