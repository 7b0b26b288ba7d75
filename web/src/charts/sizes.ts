// How many files there are of each size, and what they take up: paired bars, each
// kind on an axis of its own.
import { scaleFor } from "../format";
import type { SizesData, Value } from "./data";
import type { Option } from "./echarts";
import { axis, base, colour, text } from "./look";

export function sizes(data: SizesData, width: number): Option {
  const files = scaleFor(false, data.bars.map((bar) => bar.files.v));
  const allocated = scaleFor(true, data.bars.map((bar) => bar.allocated.v));
  const worded = !data.fine && width > 480;
  const roomy = !data.fine && width > 760;
  const series = (name: string, token: string, index: number, values: Value[], scale: typeof files): object => ({
    name,
    type: "bar",
    yAxisIndex: index,
    barWidth: data.fine ? undefined : "24%",
    barGap: data.fine ? "0%" : "12%",
    barCategoryGap: data.fine ? "18%" : undefined,
    cursor: "default",
    itemStyle: { color: colour(token), borderRadius: data.fine ? [1, 1, 0, 0] : [3, 3, 0, 0] },
    label: {
      show: roomy,
      position: "top",
      ...text(),
      formatter: (p: { dataIndex: number }) => values[p.dataIndex]?.text ?? "",
    },
    data: values.map((value) => scale.of(value.v)),
  });
  return {
    ...base(),
    grid: { left: 8, right: 8, top: 44, bottom: 6, containLabel: true },
    legend: { top: 0, left: "center", itemWidth: 12, itemHeight: 10, itemGap: 20, textStyle: text() },
    tooltip: {
      ...base().tooltip,
      trigger: "axis",
      axisPointer: { type: "shadow", shadowStyle: { color: colour("text"), opacity: 0.05 } },
      formatter: (p) => {
        const bar = data.bars[(Array.isArray(p) ? p[0] : p)?.dataIndex ?? -1];
        if (!bar) {
          return "";
        }
        return [
          bar.words ? `${bar.label}: ${bar.words}` : bar.label,
          `files: ${bar.files.text}, ${bar.files_share} (${bar.files.exact})`,
          `allocated: ${bar.allocated.text}, ${bar.allocated_share} (${bar.allocated.exact})`,
        ].join("\n");
      },
    },
    xAxis: {
      ...axis(),
      type: "category",
      data: data.bars.map((bar) => bar.label),
      axisLabel: {
        ...text("text"),
        interval: data.fine ? "auto" : 0,
        hideOverlap: data.fine,
        lineHeight: 17,
        width: data.fine ? undefined : (width - 140) / data.bars.length,
        overflow: data.fine ? undefined : "break",
        formatter: (label: string, i: number) => {
          const words = data.bars[i]?.words;
          return words && worded ? `${label}\n${words}` : label;
        },
      },
    },
    yAxis: [
      {
        ...axis(),
        type: "value",
        name: "files",
        nameTextStyle: { ...text(), align: "left" },
        nameGap: 14,
        minInterval: files.whole ? 1 : 0,
        axisLabel: { ...text(), formatter: (v: number) => files.label(v) },
      },
      {
        ...axis(),
        type: "value",
        name: "allocated",
        nameTextStyle: { ...text(), align: "right" },
        nameGap: 14,
        alignTicks: true,
        minInterval: allocated.whole ? 1 : 0,
        splitLine: { show: false },
        axisLabel: { ...text(), formatter: (v: number) => allocated.label(v) },
      },
    ],
    series: [
      series("files", "c1", 0, data.bars.map((bar) => bar.files), files),
      series("allocated", "c3", 1, data.bars.map((bar) => bar.allocated), allocated),
    ],
  } as Option;
}
