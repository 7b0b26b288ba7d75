// One measure over time by the values of a dimension: areas that are stacked to
// the whole, or lines. Where nothing was measured nothing is drawn.
import { formatBytes, formatCount, groupDigits, scaleFor } from "../format";
import type { SeriesData, SeriesLine } from "./data";
import type { Option } from "./echarts";
import { nearest, wallTime } from "./history";
import { SERIES, axis, base, colour, plain, shorten, text } from "./look";

const NAME = 20; // characters of a name in the legend
const CHARACTER = 7; // px, about
const LEGEND_ROW = 22; // px

type Pair = [number, number | null];

export function series(data: SeriesData, width: number): Option {
  const format = data.bytes ? formatBytes : formatCount;
  const all = data.series.flatMap((line) => line.values).filter((v) => v !== null);
  const scale = scaleFor(data.bytes, data.stacked ? data.totals : all);
  const points = (values: (string | null)[]): Pair[] => {
    const pairs: Pair[] = [];
    data.times.forEach((t, i) => {
      if (data.gaps.includes(i)) {
        pairs.push([t - 1, null]);
      }
      const value = values[i] ?? null;
      pairs.push([t, value === null ? null : scale.of(value)]);
    });
    return pairs;
  };
  const single = data.series.length === 1;
  const few = data.times.length <= 40;
  const token = (line: SeriesLine, i: number): string => (line.others ? "others" : (SERIES[i % SERIES.length] ?? "c1"));
  const wide = data.series.reduce((sum, line) => sum + Math.min(line.name.length, NAME) * CHARACTER + 40, 0);
  const rows = single ? 0 : Math.ceil(wide / Math.max(1, width - 20));
  return {
    ...base(),
    grid: { left: 8, right: 14, top: 12 + rows * LEGEND_ROW, bottom: 8, containLabel: true },
    legend: {
      show: !single,
      top: 0,
      left: 0,
      itemWidth: 12,
      itemHeight: 10,
      icon: "roundRect",
      textStyle: text(),
      inactiveColor: colour("faint"),
      // Series are called by their place, because two names can be the same.
      formatter: (place) => shorten(data.series[Number(place)]?.name ?? "", NAME),
    },
    tooltip: {
      ...base().tooltip,
      trigger: "axis",
      formatter: (p) => {
        const at = Array.isArray(p) ? p[0] : p;
        const t = Array.isArray(at?.value) ? Number(at.value[0]) : Number.NaN;
        const i = nearest(data.times, t);
        if (i < 0) {
          return "";
        }
        const total = data.totals[i];
        const lines = [wallTime(data.times[i] ?? 0)];
        if (total !== undefined) {
          lines.push(`total ${format(total)} (${groupDigits(total)}${data.bytes ? " bytes" : ""})`);
        }
        for (const line of data.series) {
          const value = line.values[i] ?? null;
          const exact = single && value !== null ? ` (${groupDigits(value)}${data.bytes ? " bytes" : ""})` : "";
          lines.push(`${plain(shorten(line.name, 2 * NAME))}  ${value === null ? "not known" : format(value)}${exact}`);
        }
        return lines.join("\n");
      },
    },
    toolbox: {
      // There for dragging alone: its icons are not shown.
      itemSize: 0,
      showTitle: false,
      right: -100,
      feature: {
        dataZoom: {
          yAxisIndex: "none",
          filterMode: "none",
          brushStyle: { color: colour("accent"), opacity: 0.15 },
        },
      },
    },
    xAxis: {
      ...axis(),
      type: "time",
      min: data.times[0] ?? 0,
      max: data.times[data.times.length - 1] ?? 0,
      splitNumber: Math.max(2, Math.floor(width / 90)),
      splitLine: { show: false },
      axisLabel: { ...text(), hideOverlap: true },
    },
    yAxis: {
      ...axis(),
      type: "value",
      axisLine: { show: false },
      axisLabel: { ...text(), formatter: (v: number) => scale.label(v) },
    },
    series: data.series.map((line, i) => ({
      name: String(i),
      type: "line" as const,
      ...(data.stacked ? { stack: "all" } : {}),
      data: points(line.values),
      showSymbol: few && !data.stacked,
      symbolSize: 4,
      connectNulls: false,
      lineStyle: { width: data.stacked ? 0.75 : 1.75, color: colour(token(line, i)) },
      itemStyle: { color: colour(token(line, i)) },
      ...(data.stacked || single ? { areaStyle: { color: colour(token(line, i)), opacity: data.stacked ? 0.82 : 0.22 } } : {}),
      emphasis: { disabled: true },
    })),
  } as Option;
}
