import type { BadManifest } from './row.ts';
import { header } from './rows/header.ts';
import { kinds } from './rows/kinds.ts';
import { meaning } from './rows/meaning.ts';
import { panel } from './rows/panel.ts';
import { states } from './rows/states.ts';
import { storage } from './rows/storage.ts';
import { transitions } from './rows/transitions.ts';

/** Every bad manifest: the admission tests and the unit tests run all of them. */
export const badManifests: readonly BadManifest[] = [
  ...header,
  ...storage,
  ...states,
  ...kinds,
  ...panel,
  ...transitions,
  ...meaning,
];
