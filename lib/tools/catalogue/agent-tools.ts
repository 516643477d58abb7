import { flag, pathText, row, text, type ToolRow, whole } from './row.ts';

const file = pathText('Path of the file, absolute or from /workspace.');
const folder = pathText('Path of the folder, absolute or from /workspace.');
const target = text('Text to replace; it must occur exactly once.');
const replacement = text('Text that takes its place.');
const edit = {
  type: 'object',
  properties: { target_content: target, replacement_content: replacement },
  required: ['target_content', 'replacement_content'],
};

/** Tools that agents work with (spec 3 §10.3 to §10.5). */
export const agentTools: readonly ToolRow[] = [
  row({
    name: 'cmd.run',
    description: 'Runs one permitted command in the workspace of the agent; answers stdout, stderr and exit_code.',
    required: { command: { ...text('Base command.'), minLength: 1 } },
    optional: { args: { type: 'array', items: { type: 'string' }, maxItems: 1_000, description: 'Its arguments.' } },
    marks: ['judged', 'fleet'],
  }),
  row({
    name: 'fs.write',
    description: 'Creates or overwrites a file.',
    required: { path: file, content: text('The whole content; at most 1 MiB, and 256 KiB of arguments from a model.') },
    marks: ['judged', 'repeatable', 'fleet'],
  }),
  row({
    name: 'fs.edit',
    description: 'Replaces one place of a file.',
    required: { path: file, target_content: target, replacement_content: replacement },
    marks: ['judged', 'fleet'],
  }),
  row({
    name: 'fs.multi_edit',
    description: 'Makes several replacements in a file: all of them, or none.',
    required: {
      path: file,
      edits: { type: 'array', items: edit, minItems: 1, maxItems: 1_000, description: 'Replacements, in order.' },
    },
    marks: ['judged', 'fleet'],
  }),
  row({
    name: 'fs.create_dir',
    description: 'Makes a folder and those above it; one that exists is fine.',
    required: { path: folder },
    marks: ['judged', 'repeatable', 'fleet'],
  }),
  row({
    name: 'fs.delete',
    description: 'Deletes a file or a folder.',
    required: { path: pathText('Path of the file or folder.') },
    optional: { recursive: flag('Whether a folder is deleted with all that is in it.', false) },
    marks: ['judged', 'fleet'],
  }),
  row({
    name: 'fs.read',
    description: 'Reads a file of at most 1 MiB of text; a model is given its first 256 Ki characters.',
    required: { path: file },
    marks: ['repeatable', 'fleet'],
  }),
  row({
    name: 'fs.list',
    description: 'Lists the names in a folder, one on each line; folders end in /.',
    required: { path: folder },
    marks: ['repeatable', 'fleet'],
  }),
  row({
    name: 'fs.grep',
    description: 'Searches the files of a folder; answers file, line number and line.',
    required: { pattern: text('Regular expression (RE2).'), path: folder },
    marks: ['repeatable', 'fleet'],
  }),
  row({
    name: 'fs.glob',
    description: 'Lists the files of a folder that match a glob, relative to the folder.',
    required: { pattern: text('Glob: * and ? within a name, ** across folders.'), path: folder },
    marks: ['repeatable', 'fleet'],
  }),
  row({
    name: 'web.search',
    description: 'Searches the web; answers title, URL and snippet of each result.',
    required: { query: text('Words to search for.') },
    optional: {
      // Brave and Tavily give so many at most.
      max_results: whole('Results at most.', { minimum: 1, maximum: 20, default: 10 }),
    },
    marks: ['repeatable'],
  }),
  row({
    name: 'web.fetch',
    description: 'Fetches a page or document of at most 10 MiB; HTML is turned into Markdown.',
    required: { url: { ...text('URL with http or https.'), maxLength: 8_192 } },
    optional: {
      to_markdown: flag('Whether HTML becomes Markdown.', true),
      follow_redirects: flag('Whether redirects are followed, five at most.', true),
      timeout_secs: whole('Seconds until it gives up.', { minimum: 1, maximum: 300, default: 30 }),
    },
    marks: ['repeatable', 'fleet'],
  }),
];
