import { type Line, type Span } from './terminal.ts';
import { fitText, textWidth } from './text-width.ts';

/** Cut to the width of the terminal: a line that wraps would break redrawing. */
export function fitLine(line: Line, columns: number): Line {
  if (columns === Number.POSITIVE_INFINITY) return line;
  const fitted: Span[] = [];
  let left = columns;
  for (const { text, tone } of line) {
    if (left <= 0) break;
    const cut = fitText(text, left);
    fitted.push({ text: cut, tone });
    left -= textWidth(cut);
    if (cut !== text) break;
  }
  return fitted;
}
