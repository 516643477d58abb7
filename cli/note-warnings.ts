import type { RegistrationWarning } from './backends/backend.ts';
import type { Terminal } from './terminal.ts';

/** The API names the place in its copy of the file for what the file alone shows; `validate` names it in the file. */
const ofFile = / \(line \d+, column \d+\)$/;

/** Prints what the API warns of and no look at the file can find, such as an agent that is not there. */
export function noteWarnings(
  terminal: Pick<Terminal, 'note'>,
  name: string,
  warnings: readonly RegistrationWarning[] = [],
): void {
  for (const { path, message } of warnings)
    if (!ofFile.test(message)) terminal.note(`${name}: warning: ${path}: ${message}`);
}
