import { cell } from './field-table.ts';
import type { LimitGroup, LimitRow } from './limits/row.ts';
import { limitGroups } from './limits-table.ts';

/** The page of `docs/reference` that names every ceiling of ours (requirements AMB-192). */
export function limitsPage(): string {
  const parts = [
    '<!-- Generated from crds/limits.ts and its like by "npm run generate". Change the sources there, not this file. -->',
    '# Limits',
    'The ceilings that Windlass itself sets, and the messages of refusals at them. `…` marks the variable part. ' +
      "Other limits of a field are in the page of its kind; quotas of a tenant are its administrator's.",
    ...limitGroups.flatMap(({ title, rows }) => [`## ${title}`, table(rows)]),
  ];
  return `${parts.join('\n\n')}\n`;
}

const table = (rows: LimitGroup['rows']): string =>
  [
    '| Value | At most | A refusal says |',
    '|---|---|---|',
    ...rows.map((row) => `| ${cell(row.what)} | ${amount(row)} | ${answer(row)} |`),
  ].join('\n');

const answer = ({ says, otherwise }: LimitRow): string =>
  otherwise === undefined ? `\`${cell(says)}\`` : cell(otherwise);

const binaryUnits = ['bytes', 'KiB', 'MiB', 'GiB'] as const;

/** Bytes in the largest unit that leaves no fraction. */
function amount({ most, unit }: LimitRow): string {
  if (unit !== 'bytes') return [most.toLocaleString('en'), unit].filter(Boolean).join(' ');
  let [value, power] = [most, 0];
  while (value % 1024 === 0 && power < binaryUnits.length - 1) [value, power] = [value / 1024, power + 1];
  return `${value.toLocaleString('en')} ${binaryUnits[power]}`;
}
