// Bundles web/src/main.ts into web/static/dist/, which is committed and which
// the binary embeds: `go build` alone then needs no Node, and a site without
// internet access loads nothing from elsewhere.
//
// Writes:
//   app.js        minified, with only those parts of ECharts that src imports
//   LICENSES.txt  the licences of what app.js contains
//
// The output depends on src and package-lock.json alone, so that CI can compare
// the committed files with a fresh build, byte by byte.
import { mkdir, readFile, readdir, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const root = path.dirname(fileURLToPath(import.meta.url));
const dist = path.join(root, "static", "dist");

const result = await build({
  absWorkingDir: root,
  entryPoints: { app: "src/main.ts" },
  outdir: dist,
  bundle: true,
  minify: true,
  treeShaking: true,
  format: "esm",
  target: "es2020",
  charset: "utf8",
  define: { "process.env.NODE_ENV": '"production"' },
  // Comments that carry a licence go into LICENSES.txt with the full texts.
  legalComments: "external",
  metafile: true,
  write: false,
  logLevel: "warning",
});

const outputs = new Map(result.outputFiles.map((file) => [path.basename(file.path), file]));
const app = outputs.get("app.js");
if (!app) {
  throw new Error(`esbuild wrote no app.js, only: ${[...outputs.keys()].join(", ")}`);
}

const comments = outputs.get("app.js.LEGAL.txt")?.text ?? "";
const texts = await licences(Object.keys(result.metafile.inputs), comments);

await rm(dist, { recursive: true, force: true });
await mkdir(dist, { recursive: true });
await writeFile(path.join(dist, "app.js"), app.contents);
await writeFile(path.join(dist, "LICENSES.txt"), texts);
console.log(`web/static/dist/app.js  ${Math.round(app.contents.length / 1024)} KiB`);

/**
 * Joins the licence and notice files of every npm package that has code in the
 * bundle, with those that it keeps in licenses/ for code that it took in. A package without a licence file stops the build: what it asks of us
 * has to be looked up before it is shipped.
 *
 * @param {string[]} inputs files in the bundle, relative to web/
 * @param {string} comments the licence comments that esbuild collected
 * @returns {Promise<string>}
 */
async function licences(inputs, comments) {
  const names = inputs
    .map((input) => /^node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(input)?.[1])
    .filter((name) => name !== undefined);
  const parts = ["app.js contains code of the packages below, under their licences.\n"];
  for (const name of [...new Set(names)].sort()) {
    const folder = path.join(root, "node_modules", name);
    const { version, license } = JSON.parse(await readFile(path.join(folder, "package.json"), "utf8"));
    const texts = (await readdir(folder, { recursive: true, withFileTypes: true }))
      .filter((entry) => entry.isFile())
      .map((entry) => path.relative(folder, path.join(entry.parentPath, entry.name)))
      .filter((file) => /^((licenses\/)?licen[cs]e|notice|copyright)[^/]*$/i.test(file))
      .sort();
    if (texts.length === 0) {
      throw new Error(`npm package ${name} ${version} (${license}) has no licence file to ship with the bundle`);
    }
    parts.push(`${"=".repeat(78)}\n${name} ${version} (${license})\n${"=".repeat(78)}\n`);
    for (const file of texts) {
      parts.push((await readFile(path.join(folder, file), "utf8")).replaceAll("\r\n", "\n").trim() + "\n");
    }
  }
  if (comments.trim() !== "") {
    parts.push(`${"=".repeat(78)}\nLicence comments\n${"=".repeat(78)}\n`, comments.replaceAll("\r\n", "\n").trim() + "\n");
  }
  return parts.join("\n");
}
