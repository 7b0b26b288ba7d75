// What all charts have in common: the colours and the type of the page.
import type { Option } from "./echarts";

/** Returns the present value of a colour token of app.css, such as "c1". */
export function colour(token: string): string {
  // The token itself can read light-dark(...): only a property is computed.
  const probe = document.createElement("span");
  probe.style.color = `var(--${token})`;
  document.body.append(probe);
  const value = getComputedStyle(probe).color;
  probe.remove();
  return value;
}

/** Colours of the slices of a doughnut, in order. */
export const SERIES = ["c1", "c2", "c3", "c4", "c5", "c6", "c7", "c8", "c9", "c10"];

export function text(token = "muted"): { color: string; fontFamily: string; fontSize: number } {
  // ECharts writes the family into an attribute of SVG without escaping it.
  const fontFamily = getComputedStyle(document.body).fontFamily.replace(/"/g, "'");
  return { color: colour(token), fontFamily, fontSize: 12 };
}

/** The options of every chart: still, with a tooltip that is text and no markup. */
export function base(): Option {
  return {
    animation: false,
    textStyle: text(),
    useUTC: true,
    tooltip: {
      renderMode: "richText",
      confine: true,
      backgroundColor: colour("surface"),
      borderColor: colour("line-strong"),
      borderWidth: 1,
      padding: [8, 12],
      textStyle: { ...text("text"), fontSize: 13 },
      axisPointer: { lineStyle: { color: colour("line-strong") }, shadowStyle: { color: colour("text"), opacity: 0.05 } },
    },
  };
}

export function axis(): {
  axisLine: { lineStyle: { color: string } };
  axisTick: { show: false };
  axisLabel: ReturnType<typeof text>;
  splitLine: { lineStyle: { color: string } };
} {
  return {
    axisLine: { lineStyle: { color: colour("line-strong") } },
    axisTick: { show: false },
    axisLabel: text(),
    splitLine: { lineStyle: { color: colour("line") } },
  };
}

/**
 * Returns a name for a tooltip. Tooltips give "{style|text}" a meaning, so an
 * invisible word joiner keeps a name of that form what it is.
 */
export function plain(name: string): string {
  return name.replace(/\{/g, "{\u2060");
}

/** Shortens a name to so many characters; names of one character stay whole. */
export function shorten(name: string, most: number): string {
  const runes = [...name];
  return runes.length <= most ? name : `${runes.slice(0, most - 1).join("")}…`;
}
