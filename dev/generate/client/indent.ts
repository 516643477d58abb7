/** Generated lines with two blanks for each brace that is open; lines of comments hold braces that do not count. */
export function indented(text: string): string {
  let depth = 0;
  const lines = text.split('\n').map((line) => {
    const content = line.trim();
    if (content.startsWith('*')) return `${'  '.repeat(depth)} ${line.trimStart()}`.trimEnd();
    if (content.startsWith('/**')) return '  '.repeat(depth) + content;
    if (/^[}\])]/.test(content)) depth--;
    const shown = content === '' ? '' : '  '.repeat(depth) + content;
    if (/[{[(]$/.test(content)) depth++;
    return shown;
  });
  return lines.join('\n');
}
