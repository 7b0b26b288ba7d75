// Follows scans that are under way, and copies the server's texts into the page: as a
// stream of events where the page is about one scan, else by asking now and then. The
// server words everything; see page.Live.
import { withAttribute } from "./page";

interface Live {
  state: string;
  ended: boolean;
  percent: number;
  texts: Record<string, string>;
  next?: string;
}

const EVERY = 1000; // ms between an answer and the next question
const WHEN_HIDDEN = 5000;
const GIVE_UP_AFTER = 5; // failures in a row
const SAY_EVERY = 20; // answers between two announcements to screen readers

export function followScans(): void {
  const holders = withAttribute("data-live");
  const followed = new Set(holders.filter(leads).map((holder) => holder.dataset["live"]));
  // Beside the card of a scan the navigation need not ask for it, too.
  const asking = holders.filter((holder) => leads(holder) || !followed.has(holder.dataset["live"]));
  const only = asking.length === 1 ? asking[0] : undefined;
  const events = only?.dataset["liveEvents"];
  if (only && events !== undefined && "EventSource" in window) {
    listen(only, events);
    return;
  }
  for (const holder of asking) {
    void follow(holder);
  }
}

/** Whether the page is about this scan and goes on with it. */
function leads(holder: HTMLElement): boolean {
  return "liveFollow" in holder.dataset;
}

/**
 * Listens to a stream of events while the page is seen: a browser has few connections
 * for a site, and pages in the background would use them up. Where streams do not get
 * through it asks instead.
 */
function listen(holder: HTMLElement, address: string): void {
  let source: EventSource | undefined;
  let failures = 0;
  let answers = 0;
  let over = false;
  const close = (): void => {
    source?.close();
    source = undefined;
  };
  const open = (): void => {
    if (source || over || document.hidden) {
      return;
    }
    source = new EventSource(address);
    source.addEventListener("progress", (event: MessageEvent<string>) => {
      const live = JSON.parse(event.data) as Live;
      failures = 0;
      show(holder, live);
      if (live.ended) {
        over = true;
        close();
        leave(holder, live);
        return;
      }
      announce(holder, live, answers++);
    });
    source.addEventListener("error", () => {
      failures++;
      if (source?.readyState === EventSource.CLOSED || failures >= GIVE_UP_AFTER) {
        over = true;
        close();
        void follow(holder);
      }
    });
  };
  document.addEventListener("visibilitychange", () => {
    if (document.hidden) {
      close();
    } else {
      open();
    }
  });
  open();
}

async function follow(holder: HTMLElement): Promise<void> {
  const address = holder.dataset["live"] ?? "";
  let failures = 0;
  for (let answers = 0; ; answers++) {
    await pause(document.hidden ? WHEN_HIDDEN : EVERY);
    let live: Live;
    try {
      live = await ask(address);
      failures = 0;
    } catch (error) {
      failures++;
      if (error instanceof Refused || failures >= GIVE_UP_AFTER) {
        complain(holder, error);
        return;
      }
      continue;
    }
    show(holder, live);
    if (live.ended) {
      leave(holder, live);
      return;
    }
    announce(holder, live, answers);
  }
}

function announce(holder: HTMLElement, live: Live, answers: number): void {
  if (answers % SAY_EVERY === 0) {
    say(holder, `${live.texts["entries"] ?? ""} entries ${live.texts["percent"] ?? ""}`);
  }
}

/** An answer that the next question would get, too. */
class Refused extends Error {}

async function ask(address: string): Promise<Live> {
  const answer = await fetch(address, { headers: { Accept: "application/json" }, cache: "no-store" });
  if (answer.status >= 400 && answer.status < 500) {
    throw new Refused(`the server answered ${answer.status} ${answer.statusText}`);
  }
  if (!answer.ok) {
    throw new Error(`the server answered ${answer.status}`);
  }
  return (await answer.json()) as Live;
}

function show(holder: HTMLElement, live: Live): void {
  for (const place of withAttribute("data-live-text", holder)) {
    const text = live.texts[place.dataset["liveText"] ?? ""] ?? "";
    place.textContent = text;
    if ("liveOptional" in place.dataset) {
      place.hidden = text === "";
    }
  }
  const bar = holder.querySelector("[data-live-bar]");
  bar?.setAttribute("width", `${Math.max(0, live.percent)}%`);
  bar?.parentElement?.classList.toggle("unknown", live.percent < 0);
}

/** Goes on to the numbers, or offers to, where the viewer reads other ones. */
function leave(holder: HTMLElement, live: Live): void {
  if (live.next === undefined) {
    return;
  }
  if (!leads(holder)) {
    for (const part of withAttribute("data-live-hide", holder)) {
      part.hidden = true;
    }
    for (const part of withAttribute("data-live-show", holder)) {
      part.hidden = false;
    }
    holder.querySelector("a")?.setAttribute("href", live.next);
    return;
  }
  say(holder, `The scan has ended: ${live.state}.`);
  if (holder.dataset["liveFollow"] === "here" || new URL(live.next, location.href).href === location.href) {
    location.reload();
  } else {
    location.assign(live.next);
  }
}

function complain(holder: HTMLElement, error: unknown): void {
  const reason = error instanceof Error ? error.message : String(error);
  const place = holder.querySelector<HTMLElement>("[data-live-problem]");
  if (place) {
    place.textContent = `These numbers are no longer kept up to date (${reason}). Load the page again.`;
    place.hidden = false;
  }
  holder.classList.add("stale");
}

function say(holder: HTMLElement, text: string): void {
  const place = holder.querySelector("[data-live-status]");
  if (place) {
    place.textContent = text;
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
