// @ts-check
/** Tables as text: points from one, and points and trials to one. */
import { weightsOf } from "./frames.js";
import { countOf } from "./reasons.js";

/** @typedef {import("./types").Run} Run */
/** @typedef {import("./types").Catalogue} Catalogue */

const LABEL_NAMES = ["label", "y", "class", "target"];
const MISSING = ["", "na", "nan", "null", "none", "n/a", "?"];

/** @param {string} text */
const isNumeral = (text) => text !== "" && Number.isFinite(Number(text));

/**
 * Return the cells of each line.
 * @param {string} text
 */
function csvCells(text) {
  const lines = text.split(/\r?\n/).filter((line) => line.trim());
  const separator = ["\t", ";", ","].find((one) => lines[0]?.includes(one)) ?? /\s+/;
  return lines.map((line) =>
    line
      .trim()
      .split(separator)
      .map((cell) => cell.trim().replace(/^(["'])(.*)\1$/, "$2")),
  );
}

/**
 * Return the number of the column with the labels: by its name, or the last. Beside an x, y is a coordinate.
 * @param {string[] | null} names
 * @param {number} width
 */
function labelColumn(names, width) {
  const lower = (names ?? []).map((name) => name.toLowerCase());
  if (["x", "y"].every((name) => lower.slice(0, -1).includes(name))) return width - 1;
  const found = LABEL_NAMES.map((name) => lower.indexOf(name)).find((at) => at >= 0);
  return found ?? width - 1;
}

/**
 * Return the points of a table, with the names of its columns and classes.
 * @param {string} text
 * @param {Catalogue} catalogue
 */
export function pointsOfText(text, catalogue) {
  const cells = csvCells(text);
  if (cells.length < 2) throw new Error("The table has no text. Paste lines of numbers with a label at the end.");
  const width = cells[0].length;
  const titled = cells[0].some((cell, j) => !isNumeral(cell) && cells.slice(1).every((row) => isNumeral(row[j] ?? "")));
  const names = titled || cells[0].slice(0, -1).every((cell) => !isNumeral(cell)) ? cells[0] : null;
  const rows = names ? cells.slice(1) : cells;
  const label = labelColumn(names, width);
  const columns = Array.from({ length: width }, (_, j) => names?.[j] ?? `x${j + 1}`).filter((_, j) => j !== label);
  rows.forEach((row, i) => {
    if (row.length !== width)
      throw new Error(`The table has ${row.length} cells in row ${i + 1}, and ${width} before.`);
    row.forEach((cell, j) => {
      if (j === label || isNumeral(cell)) return;
      const where = `in row ${i + 1} of column '${names?.[j] ?? `x${j + 1}`}'`;
      if (MISSING.includes(cell.toLowerCase())) {
        throw new Error(`The table has no number ${where}. Fill it in, or leave the row out.`);
      }
      throw new Error(`The table has '${cell.slice(0, 40)}' ${where}, which is not a number. Leave the column out.`);
    });
  });
  const labels = rows.map((row) => row[label]);
  const numeric = labels.every(isNumeral);
  const classes = [...new Set(labels.map((one) => (numeric ? String(Number(one)) : one)))];
  classes.sort((a, b) => (numeric ? Number(a) - Number(b) : a < b ? -1 : 1));
  checkSize(rows.length, columns.length, classes.length, catalogue);
  const points = rows.map((row, i) => [
    ...row.filter((_, j) => j !== label).map(Number),
    classes.indexOf(numeric ? String(Number(labels[i])) : labels[i]),
  ]);
  const sizes = [
    countOf(points.length, "point"),
    countOf(columns.length, "feature"),
    countOf(classes.length, "class", "classes"),
  ];
  const more = " Only points with two features can be drawn in the plane; here, weights and trials are shown.";
  const sentence = `The table: ${sizes.join(", ")}.${columns.length === 2 ? "" : more}`;
  return { points, names: columns, classes, sentence };
}

/**
 * @param {number} rows
 * @param {number} columns
 * @param {number} classes
 * @param {Catalogue} catalogue
 */
function checkSize(rows, columns, classes, { limits }) {
  if (rows > limits.points) {
    throw new Error(`The table has ${rows} rows, but the lab shows at most ${limits.points}. Use some of them.`);
  }
  if (columns < 1 || columns > 50) {
    throw new Error(`The table has ${columns} features; the lab takes 1 to 50. Choose two columns.`);
  }
  if (classes < 2 || classes > 4) {
    const number = countOf(classes, "class", "classes");
    throw new Error(`The table has ${number}; the lab takes 2 to 4. Is the label in the last column?`);
  }
}

// -------------------------------------------------------------------------------------------------------------- tables

/** @param {any} cell */
const cellText = (cell) => {
  const text = typeof cell === "number" && Number.isNaN(cell) ? "" : String(cell);
  return /[",\n;]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
};

/** @param {any[][]} lines */
const asTable = (lines) => `${lines.map((line) => line.map(cellText).join(",")).join("\n")}\n`;

/** @param {Run} run @param {number} row */
const coordinates = (run, row) => Array.from(run.X.subarray(row * run.d, (row + 1) * run.d));

/**
 * Return the points as CSV: their coordinates, and their class.
 * @param {Run} run
 */
export function pointsTable(run) {
  const lines = Array.from({ length: run.n }, (_, i) => [...coordinates(run, i), run.about.classes[run.y[i]]]);
  return asTable([[...run.about.names, "class"], ...lines]);
}

/**
 * Return the trials as CSV: trial, epoch, row from 1, its coordinates, class, scores, loss, mistake, update, and the
 * weights after it; with a kernel, the coefficient of each row that was ever mistaken.
 * @param {Run} run
 */
export function trialsTable(run) {
  const problems = run.about.signs[0].length;
  const ends = problems === 1 ? [""] : Array.from({ length: problems }, (_, p) => ` ${p + 1}`);
  const rows = run.slot_row;
  const names = rows
    ? Array.from(rows, (row) => `a${row + 1}`)
    : [...(run.about.columns ?? run.about.names).map((name) => `w ${name}`), "b"];
  const head = ["trial", "epoch", "row", ...run.about.names, "class", ...ends.map((end) => `score${end}`)];
  const lines = [[...head, "loss", "mistake", "update", ...ends.flatMap((end) => names.map((name) => name + end))]];
  const coefficients = new Float64Array(problems * names.length);
  let [epoch, known] = [1, 0];
  for (let t = 0; t < run.trials; t++) {
    const row = run.row[t];
    const { slot, when, step, problem } = run;
    for (; slot && when && step && known < slot.length && when[known] <= t + 1; known++) {
      coefficients[(problem?.[known] ?? 0) * names.length + slot[known]] += step[known];
    }
    const weights = slot ? coefficients : ends.flatMap((_, p) => [...weightsOf(run, run.at[t], p)]);
    const seen =
      row < 0
        ? ["all", ...run.about.names.map(() => "all"), "all"]
        : [row + 1, ...coordinates(run, row), run.about.classes[run.y[row]]];
    const scores = run.score.subarray(t * problems, (t + 1) * problems);
    const flags = [run.mistake[t] & 1, (run.mistake[t] & 2) / 2];
    lines.push([t + 1, epoch, ...seen, ...scores, run.loss[t], ...flags, ...weights].map(cellText));
    if (run.mistake[t] & 4) epoch++;
  }
  return asTable(lines);
}
