// The top of a list as horizontal bars, the others in grey on the same scale.
import { scaleFor } from "../format";
import type { RankingData, RankingItem } from "./data";
import type { Option } from "./echarts";
import { axis, base, colour, plain, shorten, text } from "./look";

const CHARACTER = 7; // px that a character of the labels takes, about
const ROOM_FOR_CHANGES = 340; // px
const NAMES = 0.36; // of the width at most

export function bars(data: RankingData, width: number): Option {
  const items = [...data.items].reverse(); // a category axis counts from below
  const scale = scaleFor(data.bytes, items.map((item) => item.value.v));
  const longest = (texts: string[]): number => Math.max(...texts.map((t) => t.length)) * CHARACTER;
  const names = Math.min(longest(items.map((item) => item.name)), NAMES * width);
  const changes = width < ROOM_FOR_CHANGES ? [] : items.map((item) => item.changes?.[0]?.text ?? "");
  const values = longest(items.map((item, i) => `${item.value.text}${changes[i] ?? ""}`)) + (changes.length ? 12 : 0);
  return {
    ...base(),
    grid: { left: names + 10, right: values + 10, top: 0, bottom: 0 },
    tooltip: {
      ...base().tooltip,
      // The whole row tells its value: a bar can be too short to point at.
      trigger: "axis",
      axisPointer: { type: "shadow", shadowStyle: { color: colour("text"), opacity: 0.05 } },
      formatter: (p) => {
        const item = items[(Array.isArray(p) ? p[0] : p)?.dataIndex ?? -1];
        return item ? about(item) : "";
      },
    },
    // Every bar tells its value, so the axis needs no labels, and the longest
    // bar has the whole width.
    xAxis: { type: "value", show: false, max: "dataMax" },
    yAxis: {
      ...axis(),
      type: "category",
      data: items.map((item) => item.name),
      axisLabel: {
        ...text("text"),
        interval: 0,
        formatter: (name: string) => shorten(name, Math.floor(names / CHARACTER)),
      },
    },
    series: [
      {
        type: "bar",
        barCategoryGap: "30%",
        barMaxWidth: 20,
        barMinHeight: 1,
        cursor: "default",
        label: {
          show: true,
          position: "right",
          ...text(),
          rich: { change: { ...text("faint"), padding: [0, 0, 0, 8] } },
          formatter: (p) => {
            const change = changes[p.dataIndex];
            return `${items[p.dataIndex]?.value.text ?? ""}${change ? `{change|${change}}` : ""}`;
          },
        },
        emphasis: { itemStyle: { opacity: 0.85 } },
        data: items.map((item) => ({
          value: scale.of(item.value.v),
          itemStyle: { color: colour(item.others ? "others" : "c1"), borderRadius: [0, 3, 3, 0] },
        })),
      },
    ],
  };
}

/** What a pointer at an item is told. */
export function about(item: RankingItem): string {
  const changes = (item.changes ?? []).map(({ label, text }) => `\n${text} in ${label}`);
  return `${plain(item.name)}\n${item.value.text}, ${item.share}\n${item.value.exact}${changes.join("")}`;
}

/** The address behind the row at y pixels from the top of a chart so high. */
export function barLink(data: RankingData, y: number, height: number): string | undefined {
  return data.items[Math.floor((y / height) * data.items.length)]?.link;
}
