// Asks the page's own engine: one JSON value a line in, one out. The first line is the catalogue, each other one a kind
// of question and its body, or "read" and a proof of Python's. Proofs are answered as the page shows them.
import { createInterface } from "node:readline";
import { readCertificate } from "../src/rosenblatt/lab/static/certificate.js";
import { createAsk } from "../src/rosenblatt/lab/static/questions.js";

const plain = (array) => ({
  shape: array.shape,
  values: Array.from(array, (one) => (Number.isNaN(one) ? null : one)),
});

let ask = null;
for await (const line of createInterface({ input: process.stdin })) {
  const value = JSON.parse(line);
  if (!ask) {
    ask = createAsk(value, null);
    continue;
  }
  let answer;
  try {
    answer = value[0] === "read" ? value[1] : await ask(...value);
    if (answer.file) answer = readCertificate(answer);
    if (answer.arrays) {
      const arrays = Object.entries(answer.arrays).map(([name, array]) => [name, plain(array)]);
      answer = { about: answer.about, arrays: Object.fromEntries(arrays) };
    }
  } catch (error) {
    answer = { error: error.message };
  }
  process.stdout.write(`${JSON.stringify(answer)}\n`);
}
