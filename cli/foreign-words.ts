/** Commands of other tools, and the one of windlass that does the same. */
const commands: ReadonlyMap<string, string> = new Map([
  ['abort', 'cancel'],
  ['apply', 'workflow register'],
  ['create', 'workflow register'],
  ['describe', 'get'],
  ['kill', 'cancel'],
  ['lint', 'validate'],
  ['ps', 'list'],
  ['register', 'workflow register'],
  ['resubmit', 'rerun'],
  ['resume', 'signal'],
  ['start', 'run'],
  ['status', 'get'],
  ['stop', 'cancel'],
  ['submit', 'run'],
  ['terminate', 'cancel'],
]);

/** Options of other tools, with those of windlass. */
const options: ReadonlyMap<string, string> = new Map([
  ['-p', '--input'],
  ['--param', '--input'],
  ['--parameter', '--input'],
  ['--parameter-file', '--input-file'],
  ['--params', '--input'],
  ['--status', '--phase'],
  ['--state', '--phase'],
  ['--label', '--selector'],
  ['--labels', '--selector'],
]);

const files = new Set(['-f', '--file', '--filename']);

/** The command at which a word was not known. */
interface Place {
  readonly program: string;
  /** Its long options. */
  readonly options: readonly string[];
  readonly takesFiles: boolean;
}

/**
 * The message of an unknown command or option, with the word of windlass where another tool's was written: that of Argo,
 * Tekton or kubectl. Any other message stays as it is.
 */
export function withOwnWord(message: string, place: Place): string {
  const [, kind, word = ''] = /^error: unknown (command|option) '([^'=]+)/.exec(message) ?? [];
  const own = kind === 'command' ? commandFor(word, place) : optionFor(word, place);
  if (kind === undefined || own === undefined) return message;
  // The guess by spelling is wrong where the word is known.
  return message.replace(/\n\(Did you mean [^\n]*\)/, '').trimEnd() + `\n(${own})\n`;
}

function commandFor(word: string, { program }: Place): string | undefined {
  const own = commands.get(word);
  return own && `windlass has ${program} ${own}`;
}

function optionFor(word: string, place: Place): string | undefined {
  if (files.has(word) && place.takesFiles) return 'name the files without an option';
  const own = options.get(word);
  return own !== undefined && place.options.includes(own) ? `windlass has ${own}` : undefined;
}
