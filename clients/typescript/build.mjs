/** `npm run build`: the package as it is published, made anew: `dist/` from the sources, `schemas/` from schema/v1, the licence. */

import { execFileSync } from "node:child_process";
import { copyFileSync, mkdirSync, readdirSync, rmSync } from "node:fs";
import { fileURLToPath } from "node:url";

const here = new URL(".", import.meta.url);
for (const folder of ["dist", "schemas"]) rmSync(new URL(folder, here), { recursive: true, force: true });
const compiler = fileURLToPath(new URL("node_modules/typescript/bin/tsc", here));
execFileSync(process.execPath, [compiler, "--project", fileURLToPath(here)], { stdio: "inherit" });
mkdirSync(new URL("schemas", here));
const schemas = new URL("../../schema/v1/", here);
for (const name of readdirSync(schemas).filter((each) => each.endsWith(".json"))) {
  copyFileSync(new URL(name, schemas), new URL(`schemas/${name}`, here));
}
copyFileSync(new URL("../../LICENSE", here), new URL("LICENSE", here));
