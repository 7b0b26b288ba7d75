// What scripts add to pages that are complete without them: charts beside their
// tables, a chosen theme, menus that close, and numbers that stay up to date.
import { awaitReadiness } from "./away";
import { drawCharts } from "./charts/draw";
import { copyButtons } from "./copy";
import { submitOnChange } from "./forms";
import { followScans } from "./live";
import { closeMenus } from "./menus";
import { livePreviews } from "./preview";
import { reachScrollers } from "./scrollers";
import { sortableTables } from "./sort";
import { themeButton } from "./theme";
import { tableButtons } from "./tables";

themeButton();
closeMenus();
submitOnChange();
copyButtons();
drawCharts();
tableButtons();
sortableTables();
reachScrollers();
followScans();
livePreviews();
awaitReadiness();
