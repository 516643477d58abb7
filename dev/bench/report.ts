import type { Bar, Program, Row } from './program.ts';
import { median, rounded, spread } from './statistics.ts';

/** One row of docs/benchmarks.json. */
export interface BenchEntry {
  readonly name: string;
  readonly ours: number;
  readonly baseline: number | null;
  readonly ratio: number | null;
  readonly bar: string;
  readonly met: boolean;
  readonly unit: string;
  readonly measured_at: string;
  readonly runs: readonly Run[];
}

interface Run {
  readonly ours: number;
  readonly baseline?: number;
  readonly ratio?: number;
  readonly extra?: Readonly<Record<string, number>>;
}

function barText({ of, atMost, atLeast }: Bar): string {
  const what = of === 'ratio' ? 'ratio ' : '';
  return atMost === undefined ? `${what}≥ ${atLeast}` : `${what}≤ ${atMost}`;
}

function meets({ atMost = Infinity, atLeast = -Infinity }: Bar, value: number | null): boolean {
  return value !== null && value <= atMost && value >= atLeast;
}

/** Medians of all runs; the ratio is the median of the runs' ratios, each against the baseline of its own run. */
export function entryOf({ program, samples }: Row, measuredAt: string): BenchEntry {
  const ours = rounded(median(samples.map((sample) => sample.ours)));
  const pairs = samples.flatMap(({ ours: a, baseline: b }) => (b === undefined ? [] : [{ a, b }]));
  const ratio = pairs.length === 0 ? null : rounded(median(pairs.map(({ a, b }) => a / b)));
  return {
    name: program.name,
    ours,
    baseline: pairs.length === 0 ? null : rounded(median(pairs.map(({ b }) => b))),
    ratio,
    bar: barText(program.bar),
    met: meets(program.bar, program.bar.of === 'ratio' ? ratio : ours),
    unit: program.unit,
    measured_at: measuredAt,
    runs: samples.map((sample) => ({
      ours: rounded(sample.ours),
      ...(sample.baseline === undefined
        ? {}
        : { baseline: rounded(sample.baseline), ratio: rounded(sample.ours / sample.baseline) }),
      ...(sample.extra === undefined ? {} : { extra: sample.extra }),
    })),
  };
}

/** The line of one program in the table. */
export function tableLine(program: Pick<Program, 'title' | 'unit'>, entry: BenchEntry): string {
  const ratios = entry.runs.flatMap(({ ratio }) => (ratio === undefined ? [] : [ratio]));
  const values = entry.ratio === null ? entry.runs.map(({ ours }) => ours) : ratios;
  const { least, most } = spread(values);
  const cells = [
    program.title,
    `${entry.ours} ${program.unit}`,
    entry.baseline === null ? '' : `${entry.baseline} ${program.unit}`,
    entry.ratio === null ? '' : String(entry.ratio),
    values.length < 2 ? 'one run' : `${least} to ${most}`,
    entry.bar,
    entry.met ? 'yes' : 'no',
  ];
  return `| ${cells.join(' | ')} |`;
}

/** A line for each program: a row without a stored run says so. */
export const tableLines = (programs: readonly Program[], entries: readonly BenchEntry[]): string[] =>
  programs.map((program) => {
    const entry = entries.find(({ name }) => name === program.name);
    return entry === undefined
      ? `| ${program.title} | no stored run |  |  |  | ${barText(program.bar)} |  |`
      : tableLine(program, entry);
  });

const tableHead = ['| Work | Windlass | baseline | ratio | spread | bar | met |', '|---|---|---|---|---|---|---|'];

const marks = { begin: '<!-- table: written by make bench -->', end: '<!-- end of table -->' };

/** Puts the table between its marks; the prose around it is written by people and stays. */
export function withTable(page: string, lines: readonly string[]): string {
  const table = [marks.begin, '', ...tableHead, ...lines, '', marks.end].join('\n');
  const [begin, end] = [page.indexOf(marks.begin), page.indexOf(marks.end)];
  if (begin < 0 || end < begin) return `${page.trimEnd()}\n\n${table}\n`;
  return page.slice(0, begin) + table + page.slice(end + marks.end.length);
}
