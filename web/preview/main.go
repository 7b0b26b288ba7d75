// Command preview serves every page in every state with invented data, under the
// content policy of the real server, for those who work on the looks:
//
//	go run ./web/preview        # then open the address that it prints
package main

import (
	"flag"
	"fmt"
	"log"
	"net/http"

	"fstally/web/page/pagetest"
)

func main() {
	listen := flag.String("listen", "127.0.0.1:8081", "address to listen on")
	flag.Parse()
	fmt.Printf("http://%s/\n", *listen)
	log.Fatal(http.ListenAndServe(*listen, pagetest.Handler())) //nolint:gosec // G114: for developers, on loopback
}
