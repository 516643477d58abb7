/** Where a command writes. `out` and `note` print text for people; `bytes` prints bytes of a step. */
export interface Terminal {
  /** One line on standard output. */
  out(line: string): void;
  /** One line on standard error: progress, hints, headings. */
  note(line: string): void;
  /** Bytes as they are, on standard output or standard error; resolves when more may be written. */
  bytes(chunk: Uint8Array, stream: 'stdout' | 'stderr'): Promise<void>;
  /** Text with control sequences, on standard output. */
  raw(text: string): void;
  /** Whether standard output is a terminal that understands cursor movement. */
  readonly live: boolean;
  /** Whether colours may be used on standard output. */
  readonly colour: boolean;
  readonly columns: () => number;
  readonly rows: () => number;
}

/** How a piece of text is meant; the terminal decides what that looks like. */
export type Tone = 'plain' | 'bold' | 'dim' | 'good' | 'bad' | 'busy' | 'wait';

export interface Span {
  readonly text: string;
  readonly tone: Tone;
}
export type Line = readonly Span[];

const sgr: Readonly<Record<Tone, string>> = {
  plain: '',
  bold: '1',
  dim: '2',
  good: '32',
  bad: '31',
  busy: '36',
  wait: '33',
};

/** The line as text, coloured where `colour` allows it. */
export function paint(line: Line, colour: boolean): string {
  return line.map(({ text, tone }) => (colour && sgr[tone] ? `\u001b[${sgr[tone]}m${text}\u001b[0m` : text)).join('');
}

/** A span; without a tone it is plain text. */
export function span(text: string, tone: Tone = 'plain'): Span {
  return { text, tone };
}
