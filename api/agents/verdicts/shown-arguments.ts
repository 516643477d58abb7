import { limits } from '../../../crds/limits.ts';
import type { ToolArguments } from '../../../lib/tools/tool.ts';

/** Signs that show as nothing, or turn what follows around: a person must see what runs. */
const unseen = /[\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]|\p{Co}|\p{Cn}/gu;

/**
 * The arguments as JSON, with such signs escaped; undefined where that is longer than what a person is shown. Escapes only
 * make a text longer, and those of a megabyte hold the event loop: the length is judged before as well.
 */
export function shownArguments(args: ToolArguments): string | undefined {
  const most = limits.askArgumentsLength;
  const text = JSON.stringify(args);
  if (text.length > most) return undefined;
  const shown = text.replaceAll(unseen, (sign) =>
    Array.from({ length: sign.length }, (_, index) => escapeOf(sign.charCodeAt(index))).join(''),
  );
  return shown.length > most ? undefined : shown;
}

const escapeOf = (unit: number): string => `\\u${unit.toString(16).padStart(4, '0')}`;
