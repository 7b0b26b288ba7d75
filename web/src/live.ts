// Follows scans that are under way: asks the server each second and copies its
// texts into the page. The server words everything; see page.Live.
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
  for (const holder of holders) {
    // Beside the card of a scan the navigation need not ask for it, too.
    if (leads(holder) || !followed.has(holder.dataset["live"])) {
      void follow(holder);
    }
  }
}

/** Whether the page is about this scan and goes on with it. */
function leads(holder: HTMLElement): boolean {
  return "liveFollow" in holder.dataset;
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
    if (answers % SAY_EVERY === 0) {
      say(holder, `${live.texts["entries"] ?? ""} entries ${live.texts["percent"] ?? ""}`);
    }
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
    place.textContent = live.texts[place.dataset["liveText"] ?? ""] ?? "";
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
