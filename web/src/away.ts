// A page that could not be made, because the database was away, comes by itself when it
// is back.
import { withAttribute } from "./page";

const EVERY = 5000; // ms

export function awaitReadiness(): void {
  for (const place of withAttribute("data-await")) {
    void reloadWhenReady(place.dataset["await"] ?? "");
  }
}

async function reloadWhenReady(address: string): Promise<void> {
  for (;;) {
    await new Promise((resolve) => setTimeout(resolve, EVERY));
    try {
      const answer = await fetch(address, { cache: "no-store" });
      if (answer.ok) {
        location.reload();
        return;
      }
    } catch {
      // The server is away as well: it is asked again.
    }
  }
}
