// The contract between the engine and the page, for the type checker only. It is not served.

declare global {
  interface Window {
    rosenblatt: { source: string; data: ArrayBuffer }; // of a saved page: its text, and what it was saved with
  }
}

export type Point = [number, number];
export type Vector = ArrayLike<number>;
export type Box = [Point, Point]; // [[x low, x high], [y low, y high]]

/** Rows and their class numbers. */
export interface Rows {
  X: Vector;
  y: Vector;
}

/** Asks a question: of the page's own engine, or of Python by fetch or by a message of a notebook. */
export type Ask = (kind: string, body?: object) => Promise<any>;

export interface Racer {
  learner: string;
  params: Record<string, any>;
  order: string;
}

/** The data, the learner and its settings: all that the engine needs for a run. */
export interface Scene {
  data: string;
  n?: number;
  margin?: number;
  noise?: number;
  data_seed?: number;
  points?: number[][];
  names?: string[]; // of the columns of these points, for the page alone
  labels?: string[]; // of their classes, for the page alone
  learner: string;
  params: Record<string, any>;
  features: string;
  order: string;
  seed: number;
  epochs: number;
  start: number[] | null;
  race: Racer[];
  [key: string]: any;
}

/** The state of the page alone, which is never sent to the engine. */
export interface Look {
  t: number;
  view: string;
  chapter: number;
  exercise: string; // its name; empty without one
  hide: string[];
  theme: string;
  speed: number;
  projector: boolean;
}

export interface Control {
  name: string;
  kind: "float" | "int" | "bool" | "choice";
  min?: number;
  max?: number;
  step?: number;
  log?: boolean;
  choices?: string[];
  default: any;
  sentence: string;
}

export interface Named {
  name: string;
  title: string;
  sentence?: string;
}

export interface Learner extends Named {
  lecture?: string;
  kernel: boolean;
  multiclass: boolean;
  trials: boolean;
  start?: boolean;
  defaults: Record<string, any>; // of parameters that the lab sets itself
  params: Control[];
}

export interface ChapterStep {
  sentences: string[];
  t: number;
  predict?: boolean;
}

export interface Chapter {
  number: number;
  title: string;
  lecture: string;
  sentences: string[];
  question: string;
  answer: string;
  scene: Partial<Scene>;
  hide: string[];
  view: string;
  steps: ChapterStep[];
}

export interface Catalogue {
  data: (Named & { classes: number; controls: Control[]; columns?: string[]; rows?: number[][] })[];
  learners: Learner[];
  orders: Named[];
  features: (Named & { controls?: Control[] })[];
  run?: Control[];
  chapters: Chapter[];
  exercises?: Exercise[];
  limits: { points: number; trials: number; largest: number };
  endings: Record<string, any>; // why a run ended, with placeholders
  remedies: Record<string, string>; // against weights that grow without end, by rule
  version: string;
}

export interface About {
  scene: Partial<Scene>;
  classes: string[];
  names: string[];
  labels?: string[]; // names of the classes that can be drawn, from a table
  numbers?: number[]; // of the classes, among those that can be drawn
  columns?: string[]; // of the weights
  plain?: boolean; // whether the theorem on the perceptron holds
  signs: number[][];
  rule: string;
  eta: number | null;
  epochs_end: number[];
  average_begins?: number[]; // trials at which an average restarts
  reason: string;
  stop: string;
  cycle: number | null;
  trials_left_out: number;
  box: [number, number, number, number] | null;
  grid: number;
  R: number | null;
  gamma: number | null;
  bound: number | null;
  w_star: number[] | null;
  accuracy: number | null;
  linear: boolean;
  version: string;
}

/** A run as the engine recorded it. */
export interface Run {
  about: About;
  recorded: { about: About; arrays: Record<string, any> }; // by the engine
  trials: number; // with those of further rounds of a cycle
  ended: number; // trials of the engine
  n: number;
  d: number; // of the points
  k: number; // problems
  width: number; // numbers in the weights of one problem, the bias last
  states: number;
  mistakes: Int32Array; // before and up to each trial
  X: Float64Array;
  y: Int32Array;
  row: Int32Array;
  at: Int32Array;
  score: Float64Array;
  loss: Float64Array;
  total: Float64Array; // loss up to each trial
  mistake: Uint8Array;
  W: Float64Array;
  mean?: Float64Array; // after the trial that led to a state
  reached: Int32Array; // that trial, of each state
  E?: Float64Array;
  norm2?: Float64Array;
  dot?: Float64Array;
  slot?: Int32Array;
  step?: Float64Array;
  when?: Int32Array;
  slot_row?: Int32Array;
  problem?: Int32Array;
  phi?: Float32Array;
  surface: ((t: number) => Surface) | null;
}

export interface Surface {
  fs: Float64Array[]; // f on the grid, for each problem
  alpha: Float64Array | null;
}

/** One trial, with all its numbers. */
export interface Frame {
  t: number;
  epoch: number;
  row: number; // -1 for a batch or no row
  x: Vector | null;
  label: number; // number of the class
  sign: number; // of the first problem
  scores: Vector; // f(x) before the update, for each problem
  score: number;
  loss: number;
  mistake: boolean;
  update: boolean;
  ends: boolean; // an epoch
  dropped: boolean;
  changed: boolean;
  state: number;
  before: number;
  w: Float64Array; // of the first problem
  old: Float64Array;
  mean: Float64Array | null;
  each: Float64Array[] | null; // effective vectors of the classes
  mistakes: number;
  fs: Float64Array[] | null;
  alpha: Float64Array | null;
}

/** A certificate, and the rows that it is about. */
export interface Proof {
  file: Record<string, any>; // its fields
  rows: number[][];
  labels: number[]; // class numbers
  plane: boolean; // whether the rows are points of the plane
}

export interface Certificate {
  verdict: string;
  sentence: string;
  lines: string[];
  hyperplane: number[] | null;
  band: number | null;
  supports: number[];
  margins?: number[]; // distance of each row from the hyperplane
  common_point: number[] | null;
  common_exact: string[] | null;
  weights: [number, string, number][];
  hulls: Point[][];
  json: any;
}

/** A linear scale with its inverse. */
export interface Scale {
  (value: number): number;
  invert(pixel: number): number;
  domain: Point;
}

export interface Curve {
  name: string;
  kind: string;
  points: Point[];
}

/** A part of the screen: `load` builds what does not depend on the trial, `show` sets what does. */
export interface View {
  load(run: Run, refit?: boolean): void;
  show(frame: Frame, ease?: boolean): void;
  hover?(row: number): void;
  text?(frame: Frame): string;
  svg?: SVGSVGElement;
}

export interface Editor {
  add(point: Point): number;
  move(row: number, point: Point): void;
  remove(row: number): void;
  flip(row: number): void;
  start(w: number[]): void;
  weights(): number[];
  done(): void;
  hover(row: number): void;
}

/** Options of `mount`. */
export interface Options {
  catalogue?: Catalogue;
  scene?: Partial<Scene> & Partial<Look>;
  bytes?: ArrayBuffer; // a run that is already recorded
  certificate?: Proof | null;
  editable?: boolean; // whether an engine can be asked for other runs
  address?: boolean; // whether the state is kept in the address
  page?: (scene: object) => Promise<string> | string; // returns the lab as one HTML file, with a scene
  t?: number; // the first trial to show
}

// ------------------------------------------------------------------------------------------ the engine of the page

/** A row: the columns and the values of its entries that are not zero. */
export interface Row {
  number: number;
  at: Int32Array;
  x: Float64Array;
}

/** What is learned from which rows, in which order. */
export interface Task {
  rows: Row[];
  features: number;
  label: Int32Array; // number of the class of each row
  sign: number[][]; // [class][problem]: positive (1), negative (-1) or no example (0)
  multiclass: string;
  joint: boolean; // whether all classes are learned at once
  names: number[]; // of the classes
  order: string;
  seed: number;
  epochs: number; // at most
  endings: Record<string, any>; // sentences of the catalogue
  remedies: Record<string, string>;
}

export interface Plane {
  w: Float64Array;
  b: number;
}

/** What a trial counts. */
export interface Outcome {
  update: boolean;
  mistake: boolean;
  loss: number;
}

/** A learner as the engine sees it: `FirstOrder`, or `KernelPerceptron`. Its vectors are its own affair. */
export interface PageLearner {
  vectors: any[]; // one for each problem
  finite: boolean; // whether separable rows cause finitely many updates
  restsWhenClean: boolean; // whether an epoch without an update changes nothing
  linear: boolean;
  penalised: boolean;
  voted: boolean;
  derived: boolean; // whether the weights that predict are not those that learn
  late: boolean; // whether an average restarts in epochs 2, 4, 8, ...
  predictor: string; // what predicts, if not the last weights
  unit: number; // of the weights
  zeroLoss: number;
  score(vector: any, row: Row): number;
  trial(vector: any, row: Row, sign: number, score: number, rate: number): Outcome;
  jointTrial(vectors: any[], row: Row, c: number, scores: ArrayLike<number>, rate: number): Outcome;
  weights(): Float64Array;
  beginEpoch(epoch: number, vectors: any[]): void;
  endEpoch(epoch: number, active: number[], updates: number[]): void;
  penalties(): number[];
  fits(part: number): boolean;
  // Of linear learners alone:
  rule: { name: string };
  bias: number;
  averaged: boolean;
  sums(): any[];
  addSums(sums: any[]): void;
  startFrom(start: number[]): void;
  planes(): Plane[];
  // Of the kernel perceptron alone:
  slots: Map<number, number>; // of the rows that were ever mistaken
  log: { slot: number; problem: number; step: number; state: number }[];
  kernel(x: ArrayLike<number>, z: ArrayLike<number>): number;
}

/** A scene with its points and a value for each setting. */
export interface CheckedScene {
  data: string;
  values: Record<string, any>; // of the controls of the data
  learner: Learner & { rule: string; modes: string[] };
  params: Record<string, any>;
  features: string;
  units: number;
  seed: number;
  epochs: number;
  order: string;
  start: number[] | null;
  X: number[][];
  labels: number[];
  classes: number[];
  multiclass: string;
}

/** An exercise that checks itself. */
export interface Exercise {
  id: string; // in addresses
  lecture: number;
  title: string;
  task: string;
  scene: string; // the address that it starts from
  check: [string, string, number | boolean][]; // a quantity, a relation and its goal
  result: string; // the quantity to hand in
}
