// A measure over years: what the file system used as a line, what scans found as
// an area, its size as a line. Where nothing was measured nothing is drawn.
import { formatBytes, formatCount, groupDigits, scaleFor } from "../format";
import type { HistoryData } from "./data";
import type { Option } from "./echarts";
import { axis, base, colour, text } from "./look";

const DAY = 86_400_000; // ms
/** What was found is hidden by what is used when it is under this share of it. */
const DWARFED = 0.04;

// Icons of the legend that look like the lines.
const LINE = "path://M0,3h16v2h-16z";
const DASHES = "path://M0,3h6v2h-6zM10,3h6v2h-6z";

type Pair = [number, number | null];

export function history(data: HistoryData, width: number): Option {
  const format = data.bytes ? formatBytes : formatCount;
  const known = (list: (string | null)[]): string[] => list.filter((v) => v !== null);
  const dwarfed = isDwarfed(data);
  const shown = dwarfed ? data.found : [...data.found, ...known(data.used), ...known(data.size)];
  const scale = scaleFor(data.bytes, shown);
  const line = (list: (string | null)[]): Pair[] => {
    const pairs: Pair[] = [];
    data.times.forEach((t, i) => {
      if (data.gaps.includes(i)) {
        pairs.push([t - 1, null]);
      }
      const value = list[i] ?? null;
      pairs.push([t, value === null ? null : scale.of(value)]);
    });
    return pairs;
  };
  const few = data.times.length <= 40;
  const found = "found by scans";
  // What would flatten the rest is hidden until its name is clicked.
  const used = dwarfed ? "show used (file system)" : "used (file system)";
  const size = dwarfed ? "show size" : "size";
  const ahead = "forecast";
  const forecast = dwarfed ? undefined : data.forecast;
  const hasUsed = known(data.used).length > 0;
  const first = data.times[0] ?? 0;
  const last = data.times[data.times.length - 1] ?? 0;
  const bandPoints = forecast?.band.map((p): [number, number] => [p.t, scale.of(p.v)]) ?? [];
  return {
    ...base(),
    grid: { left: 8, right: 14, top: width < 480 ? 56 : 34, bottom: 8, containLabel: true },
    legend: {
      top: 0,
      right: 0,
      itemWidth: 16,
      itemHeight: 8,
      itemGap: 16,
      textStyle: text(),
      inactiveColor: colour("faint"),
      data: [
        { name: found, icon: "roundRect" },
        ...(hasUsed ? [{ name: used, icon: LINE }, { name: size, icon: DASHES }] : []),
        ...(forecast ? [{ name: ahead, icon: DASHES }] : []),
      ],
      selected: { [used]: !dwarfed, [size]: !dwarfed },
    },
    tooltip: {
      ...base().tooltip,
      trigger: "axis",
      formatter: (p) => {
        const at = Array.isArray(p) ? p[0] : p;
        const t = Array.isArray(at?.value) ? Number(at.value[0]) : Number.NaN;
        const i = nearest(data.times, t);
        if (t > last + DAY || i < 0) {
          return forecast?.text ?? "";
        }
        const lines = [wallTime(data.times[i] ?? 0)];
        const value = data.found[i] ?? "0";
        lines.push(`found ${format(value)} (${groupDigits(value)}${data.bytes ? " bytes" : ""})`);
        const u = data.used[i];
        const s = data.size[i];
        if (u && s) {
          lines.push(`used ${format(u)} of ${format(s)}`);
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
      min: first,
      max: Math.max(last, ...bandPoints.map((p) => p[0])),
      splitNumber: Math.max(2, Math.floor(width / 70)),
      splitLine: { show: false },
      axisLabel: { ...text(), hideOverlap: true },
    },
    yAxis: {
      ...axis(),
      type: "value",
      axisLine: { show: false },
      minInterval: scale.whole ? 1 : 0,
      axisLabel: { ...text(), formatter: (v: number) => scale.label(v) },
    },
    series: [
      {
        name: found,
        type: "line",
        data: line(data.found),
        showSymbol: few,
        symbolSize: 4,
        connectNulls: false,
        lineStyle: { width: 1.25, color: colour("c1") },
        itemStyle: { color: colour("c1") },
        areaStyle: { color: colour("c1"), opacity: 0.22 },
        emphasis: { disabled: true },
      },
      ...(hasUsed
        ? [
            {
              name: used,
              type: "line" as const,
              data: line(data.used),
              showSymbol: false,
              lineStyle: { width: 1.75, color: colour("text") },
              itemStyle: { color: colour("text") },
              emphasis: { disabled: true },
            },
            {
              name: size,
              type: "line" as const,
              step: "end" as const,
              data: line(data.size),
              showSymbol: false,
              lineStyle: { width: 1.25, color: colour("faint"), type: [2, 3] },
              itemStyle: { color: colour("faint") },
              emphasis: { disabled: true },
            },
          ]
        : []),
      ...(forecast
        ? [
            {
              name: ahead,
              type: "line" as const,
              data: forecast.line.map((p): Pair => [p.t, scale.of(p.v)]),
              showSymbol: false,
              lineStyle: { width: 1.75, type: "dashed" as const, color: colour("grew") },
              itemStyle: { color: colour("grew") },
              emphasis: { disabled: true },
            },
            {
              name: ahead,
              type: "custom" as const,
              silent: true,
              clip: true,
              z: 1,
              tooltip: { show: false },
              data: bandPoints.slice(0, 1),
              renderItem: (_: unknown, api: { coord(p: number[]): number[] }) => ({
                type: "polygon" as const,
                shape: { points: bandPoints.map((p) => api.coord(p)) },
                style: { fill: colour("c2"), opacity: 0.2 },
              }),
            },
          ]
        : []),
    ],
  } as Option;
}

/** Whether what was found would be a flat line at the bottom of what is used. */
function isDwarfed(data: HistoryData): boolean {
  const last = data.times.length - 1;
  const found = data.found[last];
  const used = data.used[last];
  return found !== undefined && !!used && Number(found) < DWARFED * Number(used);
}

/** The index of the time that is closest to t; -1 where there is none. */
export function nearest(times: number[], t: number): number {
  if (times.length === 0 || Number.isNaN(t)) {
    return -1;
  }
  let low = 0;
  let high = times.length - 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((times[middle] ?? 0) < t) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  const before = times[low - 1];
  return before !== undefined && t - before < (times[low] ?? 0) - t ? low - 1 : low;
}

const WALL = new Intl.DateTimeFormat("en-GB", {
  timeZone: "UTC", // the times are wall-clock times already
  weekday: "short",
  day: "numeric",
  month: "short",
  year: "numeric",
  hour: "2-digit",
  minute: "2-digit",
});

export function wallTime(t: number): string {
  return WALL.format(t).replace(",", ""); // "Mon 30 Nov 2026, 01:30", as on the page
}
