import { expect, it } from 'vitest';
import { isSimilar } from './similar-name.ts';

it.each([
  ['initial_state', 'initialState'],
  ['transitions', 'transition'],
  ['prompt', 'promtp'],
  ['command', 'comand'],
  ['timeout', 'timeoute'],
  ['target', 'tarket'],
])('AMB-060 %s is meant by %s', (known, written) => expect(isSimilar(known, written)).toBe(true));

it.each([
  ['env', 'enc'],
  ['target', 'tartan'],
  ['min', 'max'],
  ['transitions', 'states'],
  ['target', ''],
])('%s is not meant by %s', (known, written) => expect(isSimilar(known, written)).toBe(false));
