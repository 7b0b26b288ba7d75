// A chart as a PNG file, with its heading, for reports and tickets.
import type { ECharts } from "./echarts";
import { colour, text } from "./look";

const SCALE = 2; // pixels per CSS pixel
const HEAD = 44; // CSS pixels above the chart

/** Offers the chart as a download that is called by its heading. */
export async function savePng(chart: ECharts, title: string, sub: string): Promise<void> {
  const image = new Image();
  image.src = chart.getDataURL({ type: "svg" });
  await image.decode();
  const canvas = document.createElement("canvas");
  canvas.width = chart.getWidth() * SCALE;
  canvas.height = (chart.getHeight() + HEAD) * SCALE;
  const paper = canvas.getContext("2d");
  if (!paper) {
    return;
  }
  paper.scale(SCALE, SCALE);
  paper.fillStyle = colour("surface");
  paper.fillRect(0, 0, chart.getWidth(), chart.getHeight() + HEAD);
  const { fontFamily } = text();
  paper.fillStyle = colour("text");
  paper.font = `600 14px ${fontFamily}`;
  paper.fillText(title, 8, 18);
  paper.fillStyle = colour("muted");
  paper.font = `12px ${fontFamily}`;
  paper.fillText(sub, 8, 35);
  paper.drawImage(image, 0, HEAD, chart.getWidth(), chart.getHeight());
  const blob = await new Promise<Blob | null>((resolve) => canvas.toBlob(resolve, "image/png"));
  if (!blob) {
    return;
  }
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = `${document.title} ${title}.png`.replace(/[^\p{L}\p{N}._ -]+/gu, "").replace(/ /g, "-");
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}
