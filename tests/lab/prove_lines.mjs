// Proves scenes with the page's own prover: {X, y} a line in, the certificate out.
import { createInterface } from "node:readline";
import { certifyPage } from "../../src/rosenblatt/lab/static/prove.js";

for await (const line of createInterface({ input: process.stdin })) {
  const { X, y } = JSON.parse(line);
  process.stdout.write(`${JSON.stringify(certifyPage(X, y))}\n`);
}
