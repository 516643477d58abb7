import { type Line, paint, type Terminal } from './terminal.ts';
import { textWidth } from './text-width.ts';

/** A part of the terminal that is drawn again and again in place. */
interface Screen {
  draw(lines: readonly Line[]): void;
  /** Leaves the last drawing where it is, the cursor below it and visible. Safe to call twice. */
  close(): void;
}

const hideCursor = '\u001b[?25l';
const showCursor = '\u001b[?25h';
const clearLineEnd = '\u001b[K';
const clearBelow = '\u001b[J';

/** Draws below what the terminal shows now. A drawing that has not changed is not sent again. */
export function createScreen(terminal: Pick<Terminal, 'raw' | 'colour' | 'columns'>): Screen {
  let shown: readonly Line[] = [];
  let sent = '';
  let open = false;
  return {
    draw(lines) {
      const text = lines.map((line) => paint(line, terminal.colour) + clearLineEnd).join('\n');
      if (open && text === sent) return;
      terminal.raw(`${open ? '' : hideCursor}${moveUp(shown, terminal.columns())}\r${text}\n${clearBelow}`);
      [shown, sent, open] = [lines, text, true];
    },
    close() {
      if (!open) return;
      open = false;
      terminal.raw(showCursor);
    },
  };
}

/** To the first line of the drawing. A window made narrower since then has wrapped its lines. */
function moveUp(lines: readonly Line[], columns: number): string {
  const rows = lines.map((line) => Math.ceil(textWidth(line.map(({ text }) => text).join('')) / Math.max(1, columns)));
  const count = rows.reduce((sum, row) => sum + Math.max(1, row), 0);
  return count === 0 ? '' : `\u001b[${count}A`;
}
