// @ts-check
/** Exports: pictures, tables, the run, its Python code, and the lab itself. */
import { pointsTable, trialsTable } from "./csv.js";
import { button, make } from "./elements.js";
import { packArrays } from "./frames.js";

const STYLES = [
  "fill",
  "fill-opacity",
  "stroke",
  "stroke-width",
  "stroke-dasharray",
  "stroke-opacity",
  "stroke-linejoin",
  "paint-order",
  "opacity",
  "font-size",
  "font-family",
  "font-weight",
  "text-anchor",
  "display",
  "stop-color",
  "vector-effect",
];
const PICTURE_SIDE = 460;
const PIXELS = 2; // per unit, of a PNG

/**
 * Return several pictures as one, side by side, that needs no style sheet.
 * @param {SVGSVGElement[]} pictures
 * @param {string} ground  colour behind them
 */
export function standalone(pictures, ground) {
  const sheet = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  const width = pictures.length * (PICTURE_SIDE + 20) + 20;
  const height = PICTURE_SIDE + 40;
  sheet.setAttribute("viewBox", `0 0 ${width} ${height}`);
  sheet.setAttribute("width", String(width));
  sheet.setAttribute("height", String(height));
  const paper = document.createElementNS(sheet.namespaceURI, "rect");
  paper.setAttribute("width", "100%");
  paper.setAttribute("height", "100%");
  paper.setAttribute("fill", ground);
  sheet.append(paper);
  pictures.forEach((picture, i) => {
    const copy = inlined(picture);
    copy.setAttribute("x", String(20 + i * (PICTURE_SIDE + 20)));
    copy.setAttribute("y", "20");
    copy.setAttribute("width", String(PICTURE_SIDE));
    copy.setAttribute("height", String(PICTURE_SIDE));
    sheet.append(copy);
  });
  return { text: new XMLSerializer().serializeToString(sheet), width, height };
}

/** @param {SVGSVGElement} picture */
function inlined(picture) {
  const copy = /** @type {SVGSVGElement} */ (picture.cloneNode(true));
  const from = [picture, ...picture.querySelectorAll("*")];
  const to = [copy, ...copy.querySelectorAll("*")];
  from.forEach((node, i) => {
    const style = getComputedStyle(node);
    for (const key of STYLES) {
      const value = style.getPropertyValue(key);
      if (value && !(key === "fill" && value.startsWith("url"))) to[i].setAttribute(key, value);
    }
    for (const name of ["class", "tabindex", "role"]) to[i].removeAttribute(name);
  });
  const canvases = [...picture.querySelectorAll("canvas")];
  copy.querySelectorAll("foreignObject").forEach((room, i) => {
    const image = document.createElementNS("http://www.w3.org/2000/svg", "image");
    for (const name of ["x", "y", "width", "height"]) image.setAttribute(name, room.getAttribute(name) ?? "0");
    image.setAttribute("preserveAspectRatio", "none");
    if (canvases[i]?.width) image.setAttribute("href", canvases[i].toDataURL());
    room.replaceWith(image);
  });
  return copy;
}

/**
 * Return a picture as PNG.
 * @param {{text: string, width: number, height: number}} picture
 * @returns {Promise<Blob>}
 */
export async function asPng(picture) {
  const image = new Image();
  const address = URL.createObjectURL(new Blob([picture.text], { type: "image/svg+xml" }));
  try {
    image.src = address;
    await image.decode();
    const canvas = make("canvas", { width: picture.width * PIXELS, height: picture.height * PIXELS });
    canvas.getContext("2d")?.drawImage(image, 0, 0, canvas.width, canvas.height);
    return await new Promise((done, failed) =>
      canvas.toBlob((blob) => (blob ? done(blob) : failed(new Error("no picture")))),
    );
  } finally {
    URL.revokeObjectURL(address);
  }
}

/**
 * Download a file.
 * @param {string} name
 * @param {Blob} content
 */
export function save(name, content) {
  const link = make("a", { href: URL.createObjectURL(content), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

/**
 * Return the entries of the export menu.
 * @param {{pictures: () => SVGSVGElement[], ground: () => string, run: () => import("./types").Run,
 *   state: () => object, page: (() => Promise<string>) | null, code: () => Promise<string>,
 *   failed: (error: unknown) => void}} from
 */
export function exportEntries(from) {
  const text = (/** @type {string} */ content, /** @type {string} */ type) => new Blob([content], { type });
  const picture = () => standalone(from.pictures(), from.ground());
  /** @type {[string, string, () => Promise<Blob> | Blob][]} */
  const kinds = [
    ["Picture, PNG", "lab.png", () => asPng(picture())],
    ["Picture, SVG", "lab.svg", () => text(picture().text, "image/svg+xml")],
    ["Points, CSV", "points.csv", () => text(pointsTable(from.run()), "text/csv")],
    ["Trials, CSV", "trials.csv", () => text(trialsTable(from.run()), "text/csv")],
    ["Scene, JSON", "scene.json", () => text(JSON.stringify(from.state(), null, 1), "application/json")],
    [
      "Run, safetensors",
      "run.safetensors",
      () => new Blob([packArrays(from.run().recorded)], { type: "application/octet-stream" }),
    ],
    ["Python", "lab.py", async () => text(await from.code(), "text/x-python")],
  ];
  const { page } = from;
  if (page) kinds.push(["Lab, one HTML file", "lab.html", async () => text(await page(), "text/html")]);
  return kinds.map(([title, name, content]) =>
    button(title, `Save ${name}`, async () => {
      try {
        save(name, await content());
      } catch (error) {
        from.failed(error);
      }
    }),
  );
}
