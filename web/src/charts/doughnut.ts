// The top of a list as parts of the whole; the table below is its key.
import type { RankingData } from "./data";
import type { Option } from "./echarts";
import { about } from "./bars";
import { SERIES, base, colour, text } from "./look";

export function doughnut(data: RankingData): Option {
  // Shares, because counts can be more than a number holds exactly.
  const total = Number(data.total.v) || 1;
  return {
    ...base(),
    tooltip: {
      ...base().tooltip,
      trigger: "item",
      formatter: (p) => {
        const item = data.items[Array.isArray(p) ? 0 : p.dataIndex];
        return item ? about(item) : "";
      },
    },
    series: [
      {
        type: "pie",
        radius: ["58%", "94%"],
        startAngle: 90,
        cursor: data.items.some((item) => item.link) ? "pointer" : "default",
        label: { show: false, position: "center" },
        itemStyle: { borderColor: colour("surface"), borderWidth: 1.5 },
        emphasis: { scaleSize: 4 },
        data: data.items.map((item, i) => ({
          // One slice carries the total, or it would be drawn once for each.
          label: { show: i === 0, formatter: data.total.text, ...text("text"), fontSize: 20, fontWeight: 600 },
          value: Number(item.value.v) / total,
          name: item.name,
          itemStyle: { color: colour(item.others ? "others" : (SERIES[i % SERIES.length] ?? "c1")) },
        })),
      },
    ],
  };
}
