// Draws every chart of the page and keeps it fitting: its card's width, the
// colours of the theme, a click that leads on.
import { jsonOf, withAttribute } from "../page";
import { onThemeChange } from "../theme";
import { barLink, bars } from "./bars";
import type { HistoryData, RankingData, SeriesData, SizesData } from "./data";
import { doughnut } from "./doughnut";
import { init } from "./echarts";
import type { ECharts, Option } from "./echarts";
import { history } from "./history";
import { savePng } from "./png";
import { series } from "./series";
import { sizes } from "./sizes";

interface Drawing {
  option(width: number): Option;
  /** The address that a click at y pixels from the top of the chart leads to. */
  link?(y: number, height: number): string | undefined;
  /** The address that a click at the i-th slice leads to. */
  sliceLink?(i: number): string | undefined;
}

/** Returns how to draw a kind of chart; the kinds are those of component.ChartKind. */
function drawing(kind: string, data: unknown): Drawing {
  switch (kind) {
    case "bars": {
      const ranking = data as RankingData;
      return { option: (width) => bars(ranking, width), link: (y, height) => barLink(ranking, y, height) };
    }
    case "doughnut": {
      const ranking = data as RankingData;
      return { option: () => doughnut(ranking), sliceLink: (i) => ranking.items[i]?.link };
    }
    case "history":
      return { option: (width) => history(data as HistoryData, width) };
    case "series":
      return { option: (width) => series(data as SeriesData, width) };
    case "sizes":
      return { option: (width) => sizes(data as SizesData, width) };
    default:
      throw new Error(`no chart of the kind ${kind}`);
  }
}

export function drawCharts(): void {
  for (const place of withAttribute("data-chart")) {
    const kind = place.dataset["chart"] ?? "";
    draw(place, kind, drawing(kind, jsonOf(place.dataset["source"] ?? "")));
  }
}

function draw(place: HTMLElement, kind: string, how: Drawing): void {
  const chart = init(place, null, { renderer: "svg" });
  const redraw = (): void => {
    chart.setOption(how.option(place.clientWidth), { notMerge: true });
    if (kind === "history" || kind === "series") {
      dragToZoom(chart);
    }
  };
  redraw();
  onThemeChange(redraw);
  let width = place.clientWidth;
  new ResizeObserver(() => {
    if (place.clientWidth === 0) {
      return; // its table is shown
    }
    chart.resize();
    if (place.clientWidth !== width) {
      width = place.clientWidth;
      redraw();
    }
  }).observe(place);
  if (how.link) {
    const { link } = how;
    const pointed = (event: { offsetY: number }): string | undefined => link(event.offsetY, chart.getHeight());
    chart.getZr().on("mousemove", (event) => {
      chart.getZr().setCursorStyle(pointed(event) ? "pointer" : "default");
    });
    chart.getZr().on("click", (event) => follow(pointed(event)));
  }
  const { sliceLink } = how;
  if (sliceLink) {
    chart.on("click", ({ dataIndex }) => follow(sliceLink(dataIndex)));
  }
  pngButton(place, chart);
}

function follow(address: string | undefined): void {
  if (address) {
    location.assign(address);
  }
}

/** Lets a mouse mark a range to look at; a double click shows everything again. */
function dragToZoom(chart: ECharts): void {
  if (matchMedia("(pointer: coarse)").matches) {
    return; // fingers scroll the page
  }
  chart.dispatchAction({ type: "takeGlobalCursor", key: "dataZoomSelect", dataZoomSelectActive: true });
  chart.getZr().off("dblclick");
  chart.getZr().on("dblclick", () => chart.dispatchAction({ type: "dataZoom", start: 0, end: 100 }));
}

function pngButton(place: HTMLElement, chart: ECharts): void {
  const card = place.closest(".card");
  const button = card?.querySelector<HTMLElement>("[data-png]");
  if (!card || !button) {
    return;
  }
  const words = (selector: string): string => card.querySelector(selector)?.textContent?.trim() ?? "";
  button.hidden = false;
  button.addEventListener("click", () => {
    void savePng(chart, words("h2"), words(".titles p"));
  });
}
