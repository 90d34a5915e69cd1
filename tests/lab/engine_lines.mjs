// Runs the page's own engine on scenes: one JSON value a line in, one out. The first line is the catalogue.
import { createInterface } from "node:readline";
import { localRun } from "../../src/rosenblatt/lab/static/local.js";

let catalogue = null;
for await (const line of createInterface({ input: process.stdin })) {
  const value = JSON.parse(line);
  if (!catalogue) {
    catalogue = value;
    continue;
  }
  let answer;
  try {
    const { about, arrays } = localRun(value, catalogue);
    const lists = Object.entries(arrays).map(([name, array]) => [
      name,
      { shape: array.shape, values: Array.from(array, (one) => (Number.isNaN(one) ? null : one)) },
    ]);
    answer = { about, arrays: Object.fromEntries(lists) };
  } catch (error) {
    answer = { error: error.message, stack: error.stack };
  }
  process.stdout.write(`${JSON.stringify(answer)}\n`);
}
