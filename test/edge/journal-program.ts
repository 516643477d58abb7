/**
 * Takes two commands as the daemon does, and kills itself at a change of the disk.
 * usage: journal-program.ts FOLDER CHANGE before|within (CHANGE 0: never). Prints `ran` for each command, then the number of
 * changes, and the numbers of those that write bytes: they alone have a within.
 */
import fs from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { constants } from 'node:fs';

const [folder = '', killAt = '0', moment = 'before'] = process.argv.slice(2);
let changes = 0;
const writes: number[] = [];

function changing(): 'kill within' | 'go on' {
  changes += 1;
  if (changes !== Number(killAt)) return 'go on';
  if (moment === 'within') return 'kill within';
  process.kill(process.pid, 'SIGKILL');
  return 'go on';
}

const { open, rename, rm } = fs;
Object.assign(fs, {
  rename(...args: Parameters<typeof rename>) {
    changing();
    return rename(...args);
  },
  rm(...args: Parameters<typeof rm>) {
    changing();
    return rm(...args);
  },
  async open(...args: Parameters<typeof open>) {
    if ((Number(args[1]) & constants.O_CREAT) === 0) return open(...args);
    changing();
    const file = await open(...args);
    const write = file.writeFile.bind(file);
    file.writeFile = async (data) => {
      const next = changing();
      writes.push(changes);
      if (next === 'go on') return write(data);
      await write(typeof data === 'string' ? data.slice(0, 1) : Buffer.of(0));
      process.kill(process.pid, 'SIGKILL');
    };
    return file;
  },
});
syncBuiltinESMExports();

const { openJournal } = await import('../../edge/journal/journal.ts');
const { systemClock } = await import('../../lib/clock.ts');
const journal = await openJournal(folder, { clock: systemClock, owner: { uid: process.geteuid?.() ?? 0 } });
for (const number of [1, 2]) {
  const id = `00000000-0000-4000-8000-00000000000${number}`;
  await journal.begin(id, { ends: Date.now() + 60_000, lifeMs: 60_000 });
  process.stdout.write('ran\n');
  await journal.end(id, Buffer.from('Ok'));
  if (number === 1) await journal.stored([id]);
}
process.stdout.write(`changes ${changes}\nwrites ${writes.join(' ')}\n`);
