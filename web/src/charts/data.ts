// The data of charts, as package component and package page of Go write them.

/** A number: its exact digits, how it reads, and every digit with its unit. */
export interface Value {
  v: string;
  text: string;
  exact: string;
}

export interface RankingData {
  bytes: boolean;
  total: Value;
  items: RankingItem[];
}

export interface RankingItem {
  name: string;
  value: Value;
  share: string;
  changes?: { label: string; text: string }[];
  link?: string;
  others?: boolean;
}

/** Lists of one value per scan; times are ms of the site's wall clock as UTC. */
export interface HistoryData {
  bytes: boolean;
  what: string;
  times: number[];
  found: string[];
  used: (string | null)[];
  size: (string | null)[];
  gaps: number[];
  forecast?: ForecastData;
}

export interface ForecastData {
  line: Point[];
  band: Point[];
  text: string;
}

export interface Point {
  t: number;
  v: string;
}

export interface SizesData {
  fine: boolean;
  bars: SizesItem[];
}

export interface SizesItem {
  label: string;
  words?: string;
  files: Value;
  allocated: Value;
  files_share: string;
  allocated_share: string;
}

/** Lists of one value per scan; times are those of HistoryData. */
export interface SeriesData {
  bytes: boolean;
  stacked: boolean;
  times: number[];
  gaps: number[];
  totals: string[];
  series: SeriesLine[];
}

export interface SeriesLine {
  name: string;
  values: (string | null)[];
  others?: boolean;
}
